"""Every family of problems, one file for each. A file in this folder registers itself.

>>> from giro.problems import Bernoulli
"""

import importlib
import pkgutil

from giro.problems.bernoulli import Bernoulli as Bernoulli
from giro.problems.beta import Beta as Beta
from giro.problems.classification import Classification as Classification
from giro.problems.delayed import Delayed as Delayed
from giro.problems.discrete import Discrete as Discrete
from giro.problems.gaussian import Gaussian as Gaussian
from giro.problems.linear import Linear as Linear
from giro.problems.logistic import Logistic as Logistic
from giro.problems.low_rank import LowRank as LowRank
from giro.problems.movielens import Movielens as Movielens
from giro.problems.news import News as News
from giro.problems.outlier import Outlier as Outlier
from giro.problems.sleeping import Sleeping as Sleeping
from giro.problems.switching import Switching as Switching
from giro.problems.wheel import Wheel as Wheel

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
