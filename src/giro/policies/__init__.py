"""Every policy, one file for each. A file in this folder registers itself.

>>> from giro.policies import GiroEnsemble
"""

import importlib
import pkgutil

from giro.policies.besa import Besa
from giro.policies.bootstrap import Bootstrap
from giro.policies.bootstrap_thompson import BootstrapThompson
from giro.policies.contextual_giro import ContextualGiro
from giro.policies.cover import Cover
from giro.policies.default import Default
from giro.policies.ensemble import Ensemble
from giro.policies.epsilon_greedy import EpsilonGreedy
from giro.policies.fastcb import FastCb
from giro.policies.giro import Giro
from giro.policies.giro_ensemble import GiroEnsemble
from giro.policies.glm_ucb import GlmUcb
from giro.policies.gloc import Gloc
from giro.policies.greedy import Greedy
from giro.policies.imed import Imed
from giro.policies.kl_ucb import KlUcb
from giro.policies.lin_phe import LinPhe
from giro.policies.lin_post import LinPost
from giro.policies.lin_reboot import LinReboot
from giro.policies.lin_ts import LinTs
from giro.policies.lin_ucb import LinUcb
from giro.policies.log_phe import LogPhe
from giro.policies.maillard import Maillard
from giro.policies.neural_linear import NeuralLinear
from giro.policies.neural_ts import NeuralTs
from giro.policies.neural_ucb import NeuralUcb
from giro.policies.npts import Npts
from giro.policies.ol2m import Ol2m
from giro.policies.online_bootstrap import OnlineBootstrap
from giro.policies.phe import Phe
from giro.policies.poisson_bootstrap import PoissonBootstrap
from giro.policies.pts import Pts
from giro.policies.rand_ucb import RandUcb
from giro.policies.randomized import Randomized
from giro.policies.reboot import Reboot
from giro.policies.sda import Sda
from giro.policies.squarecb import SquareCb
from giro.policies.thompson import Thompson
from giro.policies.tree_bootstrap import TreeBootstrap
from giro.policies.ucb1 import Ucb1
from giro.policies.ucb_glm import UcbGlm
from giro.policies.uniform import Uniform
from giro.policies.weighted_bootstrap import WeightedBootstrap

__all__ = [
    "Besa",
    "Bootstrap",
    "BootstrapThompson",
    "ContextualGiro",
    "Cover",
    "Default",
    "Ensemble",
    "EpsilonGreedy",
    "FastCb",
    "Giro",
    "GiroEnsemble",
    "GlmUcb",
    "Gloc",
    "Greedy",
    "Imed",
    "KlUcb",
    "LinPhe",
    "LinPost",
    "LinReboot",
    "LinTs",
    "LinUcb",
    "LogPhe",
    "Maillard",
    "NeuralLinear",
    "NeuralTs",
    "NeuralUcb",
    "Npts",
    "Ol2m",
    "OnlineBootstrap",
    "Phe",
    "PoissonBootstrap",
    "Pts",
    "RandUcb",
    "Randomized",
    "Reboot",
    "Sda",
    "SquareCb",
    "Thompson",
    "TreeBootstrap",
    "Ucb1",
    "UcbGlm",
    "Uniform",
    "WeightedBootstrap",
]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
