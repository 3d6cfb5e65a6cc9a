"""Every policy, one file for each. A file in this folder registers itself.

>>> from giro.policies import GiroEnsemble
"""

import importlib
import pkgutil

from giro.policies.besa import Besa as Besa
from giro.policies.bootstrap import Bootstrap as Bootstrap
from giro.policies.bootstrap_thompson import BootstrapThompson as BootstrapThompson
from giro.policies.contextual_giro import ContextualGiro as ContextualGiro
from giro.policies.cover import Cover as Cover
from giro.policies.default import Default as Default
from giro.policies.ensemble import Ensemble as Ensemble
from giro.policies.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
from giro.policies.fastcb import FastCb as FastCb
from giro.policies.giro import Giro as Giro
from giro.policies.giro_ensemble import GiroEnsemble as GiroEnsemble
from giro.policies.glm_ucb import GlmUcb as GlmUcb
from giro.policies.gloc import Gloc as Gloc
from giro.policies.greedy import Greedy as Greedy
from giro.policies.imed import Imed as Imed
from giro.policies.kl_ucb import KlUcb as KlUcb
from giro.policies.lin_phe import LinPhe as LinPhe
from giro.policies.lin_post import LinPost as LinPost
from giro.policies.lin_reboot import LinReboot as LinReboot
from giro.policies.lin_ts import LinTs as LinTs
from giro.policies.lin_ucb import LinUcb as LinUcb
from giro.policies.log_phe import LogPhe as LogPhe
from giro.policies.maillard import Maillard as Maillard
from giro.policies.neural_linear import NeuralLinear as NeuralLinear
from giro.policies.neural_ts import NeuralTs as NeuralTs
from giro.policies.neural_ucb import NeuralUcb as NeuralUcb
from giro.policies.npts import Npts as Npts
from giro.policies.ol2m import Ol2m as Ol2m
from giro.policies.online_bootstrap import OnlineBootstrap as OnlineBootstrap
from giro.policies.phe import Phe as Phe
from giro.policies.poisson_bootstrap import PoissonBootstrap as PoissonBootstrap
from giro.policies.pts import Pts as Pts
from giro.policies.rand_ucb import RandUcb as RandUcb
from giro.policies.randomized import Randomized as Randomized
from giro.policies.reboot import Reboot as Reboot
from giro.policies.sda import Sda as Sda
from giro.policies.squarecb import SquareCb as SquareCb
from giro.policies.thompson import Thompson as Thompson
from giro.policies.tree_bootstrap import TreeBootstrap as TreeBootstrap
from giro.policies.ucb1 import Ucb1 as Ucb1
from giro.policies.ucb_glm import UcbGlm as UcbGlm
from giro.policies.uniform import Uniform as Uniform
from giro.policies.weighted_bootstrap import WeightedBootstrap as WeightedBootstrap

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
