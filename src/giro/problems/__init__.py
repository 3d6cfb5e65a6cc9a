"""Every family of problems, one file for each. A file in this folder registers itself.

>>> from giro.problems import Bernoulli
"""

import importlib
import pkgutil

from giro.problems.bernoulli import Bernoulli
from giro.problems.beta import Beta
from giro.problems.classification import Classification
from giro.problems.delayed import Delayed
from giro.problems.discrete import Discrete
from giro.problems.gaussian import Gaussian
from giro.problems.linear import Linear
from giro.problems.logistic import Logistic
from giro.problems.low_rank import LowRank
from giro.problems.movielens import Movielens
from giro.problems.news import News
from giro.problems.outlier import Outlier
from giro.problems.sleeping import Sleeping
from giro.problems.switching import Switching
from giro.problems.wheel import Wheel

__all__ = [
    "Bernoulli",
    "Beta",
    "Classification",
    "Delayed",
    "Discrete",
    "Gaussian",
    "Linear",
    "Logistic",
    "LowRank",
    "Movielens",
    "News",
    "Outlier",
    "Sleeping",
    "Switching",
    "Wheel",
]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
