"""Logistic-sgd: logistic regression by stochastic gradient, as the paper fits it (Section 6.2)."""

from dataclasses import dataclass

from giro.models._sgd import SgdModel


@dataclass(frozen=True)
class LogisticSgd(SgdModel, name="logistic-sgd"):
    """Logistic regression by stochastic gradient descent with scikit-learn's default settings.

    As `SGDClassifier(loss="log_loss")`: the rate called `optimal`, at most 1000 passes over the
    sample, until its cross-entropy plus `penalty` times half the squared length of θ falls by less
    than `tolerance`. Begins at the slot's last fit. Rewards may be anything in [0, 1].
    """

    source = "Kveton et al. 2019, Section 6.2"
    logistic = True
