"""Boosting: gradient-boosted trees of scikit-learn, under a short name."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from giro.checks import Count, whole
from giro.errors import needs_extra
from giro.model import Model
from giro.models.estimator import Estimator


@dataclass(frozen=True)
class Boosting(Model, name="boosting"):
    """Gradient-boosted trees: scikit-learn's HistGradientBoostingClassifier.

    It has fewer `trees` and `leaves` than scikit-learn's default, because a policy fits it often.
    It works like the estimators of `giro.models.estimator`: runs are played in processes, and
    single predictions take most of the time.
    """

    source = "Ke et al. 2017; Pedregosa et al. 2011"
    compiles = False
    refit = staticmethod(Estimator.refit)
    partial_fit = staticmethod(Estimator.partial_fit)
    value = staticmethod(Estimator.value)

    trees: Count = field(default=30, kw_only=True)
    leaves: Annotated[int, whole(2)] = field(default=15, kw_only=True)

    def start(self, slots: int, n_features: int, capacity: int, rng: np.random.Generator) -> Any:
        """Return slots without a fit."""
        with needs_extra("the model boosting", "scikit-learn", extra="models"):
            from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415

        estimator = HistGradientBoostingClassifier(
            max_iter=self.trees, max_leaf_nodes=self.leaves, early_stopping=False
        )
        return Estimator(estimator).start(slots, n_features, capacity, rng)
