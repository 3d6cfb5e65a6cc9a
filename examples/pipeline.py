"""A scikit-learn pipeline that explores, in five lines.

    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression())
    policy = GiroEnsemble(a=0.1, model=model, replicas=10, growth=1.5)
    bandit = giro.Bandit(["cocoa", "tea", "lemonade"], policy)
    decision = bandit.decide([temperature, hour])
    bandit.reward(decision.id, 1.0)

A model that only exploits recommends what it liked first, and never learns about what it did not
show. `python examples/pipeline.py` lets the same pipeline sell drinks with and without exploration.
"""

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import giro
from giro.policies import EpsilonGreedy, GiroEnsemble
from giro.seeds import stream

DRINKS = ["cocoa", "tea", "lemonade"]


def pipeline() -> Pipeline:
    """Return the model, as it would be without giro."""
    return make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression())


def with_exploration(seed: int) -> giro.Bandit:
    """Return a bandit that chooses by the pipeline fitted to resampled histories."""
    policy = GiroEnsemble(a=0.1, model=pipeline(), replicas=10, growth=1.5)
    return giro.Bandit(DRINKS, policy, seed=seed, ids="numbered")


def without_exploration(seed: int) -> giro.Bandit:
    """Return a bandit that always takes what the pipeline thinks best."""
    policy = EpsilonGreedy(epsilon=0.0, model=pipeline())
    return giro.Bandit(DRINKS, policy, seed=seed, propensities=False, ids="numbered")


def chance_of_sale(drink: str, temperature: float) -> float:
    """Return how likely a guest buys: cocoa when it is cold, lemonade when it is hot."""
    best_at = {"cocoa": 0.0, "tea": 12.0, "lemonade": 28.0}[drink]
    return float(0.1 + 0.7 * np.exp(-(((temperature - best_at) / 10.0) ** 2)))


def sales(bandit: giro.Bandit, guests: int, seed: int) -> float:
    """Return the share of guests who bought what was recommended to them."""
    rng, sold = stream(seed), 0.0
    for _ in range(guests):
        temperature, hour = rng.uniform(-5.0, 35.0), rng.uniform(8.0, 20.0)
        decision = bandit.decide([temperature, hour])
        bought = float(rng.random() < chance_of_sale(decision.arm, temperature))
        bandit.reward(decision.id, bought)
        sold += bought
    return sold / guests


def main() -> None:
    """Print what both sell."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--guests", type=int, default=200)
    arguments.add_argument("--days", type=int, default=4)
    given = arguments.parse_args()
    for name, made in (("greedy", without_exploration), ("giro", with_exploration)):
        shares = [sales(made(seed), given.guests, seed) for seed in range(given.days)]
        days = "  ".join(f"{share:.2f}" for share in shares)
        print(f"{name:8} sold to {np.mean(shares):.2f} of the guests   (by day: {days})")


if __name__ == "__main__":
    main()
