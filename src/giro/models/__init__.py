"""Every reward model, one idea in each file. A file in this folder registers itself.

>>> from giro.models import Linear
"""

import importlib
import pkgutil

from giro.models.auto import Auto
from giro.models.boosting import Boosting
from giro.models.estimator import Estimator
from giro.models.extra_trees import ExtraTrees
from giro.models.hashed import Hashed
from giro.models.linear import Linear
from giro.models.logistic import Logistic
from giro.models.network import Network
from giro.models.online_logistic import OnlineLogistic
from giro.models.online_network import OnlineNetwork
from giro.models.sgd import LinearSgd, LogisticSgd
from giro.models.tree import Tree

__all__ = [
    "Auto",
    "Boosting",
    "Estimator",
    "ExtraTrees",
    "Hashed",
    "Linear",
    "LinearSgd",
    "Logistic",
    "LogisticSgd",
    "Network",
    "OnlineLogistic",
    "OnlineNetwork",
    "Tree",
]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
