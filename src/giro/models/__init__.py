"""Every reward model, one a file; being here is registration.

>>> from giro.models import Linear
"""

import importlib
import pkgutil

from giro.models.boosting import Boosting
from giro.models.estimator import Estimator
from giro.models.linear import Linear
from giro.models.linear_sgd import LinearSgd
from giro.models.logistic import Logistic
from giro.models.logistic_sgd import LogisticSgd
from giro.models.network import Network
from giro.models.tree import Tree

__all__ = [
    "Boosting",
    "Estimator",
    "Linear",
    "LinearSgd",
    "Logistic",
    "LogisticSgd",
    "Network",
    "Tree",
]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
