"""Linear-sgd: least squares by stochastic gradient, as the paper fits it (Section 6.2)."""

from dataclasses import dataclass

from giro.models._sgd import SgdModel


@dataclass(frozen=True)
class LinearSgd(SgdModel, name="linear-sgd"):
    """Least squares by stochastic gradient descent with scikit-learn's default settings.

    As `SGDRegressor()`: the rate 0.01 t^(-1/4), at most 1000 passes over the sample, until half the
    squared error plus `penalty` times half the squared length of θ falls by less than `tolerance`.
    Begins at the slot's last fit. Differs from the paper: contexts so large that it diverges, where
    scikit-learn ends with an error, leave θ at 0.
    """

    source = "Kveton et al. 2019, Section 6.2"
