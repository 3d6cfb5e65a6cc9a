"""The law of the best arm if each arm's value is one of its replicas' values, drawn uniformly."""

import numpy as np

from giro.kernel import kernel


@kernel
def law_of_best(values: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return how likely each arm has the highest of values[arm, replica], ties as in `argmax`.

    The arms draw their replicas independently, so the chance that an arm wins with the value v is
    the product of the other arms' shares of values below v, with a part of those equal to v.
    """
    n_arms, replicas = values.shape
    law = np.zeros(n_arms)
    for arm in range(n_arms):
        for replica in range(replicas):
            law[arm] += _chance_to_win(values, arm, values[arm, replica], ranking) / replicas
    return law


@kernel
def _chance_to_win(values: np.ndarray, arm: int, value: float, ranking: np.ndarray) -> float:
    """Return the chance that no other arm beats this value, nor is preferred in a tie with it.

    Among t + 1 tied arms each is as likely. `ways[t]` is the chance of t ties and no better arm.
    """
    n_arms, replicas = values.shape
    ways = np.zeros(n_arms)
    ways[0] = 1.0
    for other in range(n_arms):
        if other == arm:
            continue
        below, equal = 0.0, 0.0
        for replica in range(replicas):
            below += values[other, replica] < value
            equal += values[other, replica] == value
        if ranking.size > 0:
            below += equal if ranking[arm] > ranking[other] else 0.0
            equal = 0.0
        for t in range(n_arms - 1, -1, -1):
            gained = ways[t - 1] * equal if t > 0 else 0.0
            ways[t] = (ways[t] * below + gained) / replicas
    chance = 0.0
    for t in range(n_arms):
        chance += ways[t] / (t + 1)
    return chance
