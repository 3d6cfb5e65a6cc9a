"""Off-policy evaluation: how good a policy would have been, from a log of another one's decisions.

`giro.evaluate(events, policy)` is the way in; `read_log` reads logs from elsewhere.
"""

from giro.evaluation import replay as _replay  # noqa: F401  # registers its estimators
from giro.evaluation.evaluate import evaluate
from giro.evaluation.log import Log
from giro.evaluation.readers import read_log
from giro.evaluation.result import Evaluation, Row
from giro.evaluation.reward_model import fitted_rewards

__all__ = ["Evaluation", "Log", "Row", "evaluate", "fitted_rewards", "read_log"]
