"""Every reward model, one idea in each file. A file in this folder registers itself.

>>> from giro.models import Linear
"""

import importlib
import pkgutil

from giro.models.auto import Auto as Auto
from giro.models.boosting import Boosting as Boosting
from giro.models.estimator import Estimator as Estimator
from giro.models.extra_trees import ExtraTrees as ExtraTrees
from giro.models.hashed import Hashed as Hashed
from giro.models.linear import Linear as Linear
from giro.models.logistic import Logistic as Logistic
from giro.models.network import Network as Network
from giro.models.online_logistic import OnlineLogistic as OnlineLogistic
from giro.models.online_network import OnlineNetwork as OnlineNetwork
from giro.models.sgd import LinearSgd as LinearSgd
from giro.models.sgd import LogisticSgd as LogisticSgd
from giro.models.tree import Tree as Tree

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
