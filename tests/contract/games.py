"""Short games in which arms come on offer, go, and have contexts, features and rewards."""

import io
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from live_kernels import as_it_is, law, learn_one, moments_for, position_chosen

from giro.compiling import plain
from giro.compiling.held import HeldInPython, hold
from giro.offer import NO_FEATURES, Case, Offer, Shape, case_of, position_of
from giro.policy import Policy, functions_for, start
from giro.seeds import stream

ROUNDS = 50
N_ARMS = 6  # in the end


class Game(NamedTuple):
    """What is offered in each round, and what each arm would pay."""

    offers: list[Offer]
    rewards: np.ndarray  # [round, arm]
    known: np.ndarray  # [round] how many arms there are
    shape: Shape  # of a state that has room for all of it from the start

    def case(self, t: int, arm: int) -> Case:
        """Return what was known of the arm in round t."""
        return case_of(self.offers[t], position_of(self.offers[t], arm))


class Played(NamedTuple):
    """What a policy did in a game."""

    arms: list[int]
    laws: list[list[float]]  # exact propensities of some rounds, empty where not known

    @classmethod
    def nothing(cls) -> "Played":
        """Return a game before its first round."""
        return cls([], [])


def game(
    n_features: int, n_arm_features: int, *, fractional: bool, seed: int, rounds: int = ROUNDS
) -> Game:
    """Return a game in which new arms come at random moments, and any of them are on offer.

    Rewards are 0 and 1, after a third of the rounds also fractions if these are asked for. Contexts
    are numbers, zeros and ones.
    """
    rng = stream(seed, 71, n_features, n_arm_features, fractional)
    come = np.sort(rng.integers(1, rounds, N_ARMS - 2))
    known = 2 + np.searchsorted(come, np.arange(rounds), side="right")
    features = rng.normal(size=(rounds, N_ARMS, n_arm_features))
    contexts = rng.normal(size=(rounds, n_features)).round(1)
    contexts[:, :1] = rng.random((rounds, min(n_features, 1))) < 0.2
    offers = []
    for t in range(rounds):
        arms = np.flatnonzero(rng.random(known[t]) < 0.6)
        if arms.size == 0 or rng.random() < 0.4:
            arms = np.arange(known[t])
        offers.append(
            Offer(arms, contexts[t], features[t, arms] if n_arm_features else NO_FEATURES)
        )
    rewards = (rng.random((rounds, N_ARMS)) < np.linspace(0.3, 0.7, N_ARMS)).astype(float)
    if fractional:
        odd = rng.random((rounds, N_ARMS)) < 0.5
        odd[: rounds // 3] = False
        rewards[odd] = rng.random(odd.sum()).round(2)
    shape = Shape(N_ARMS, n_features, n_arm_features, 2 * rounds, rounds)
    return Game(offers, rewards, known, shape)


def shapes_for(policy: Policy) -> list[tuple[int, int]]:
    """Return numbers of features, of contexts and of arms, that the policy can use."""
    plain = [(0, 0), (3, 0)]
    return [*plain, (0, 2), (2, 2)] if policy.uses_arm_features else plain


Change = Callable[[Any, Shape, int], tuple[Any, Shape]]


def unchanged(state: Any, shape: Shape, t: int) -> tuple[Any, Shape]:
    """Leave a state as it is."""
    return state, shape


def played(
    policy: Policy, played_game: Game, shape: Shape, change: Change = unchanged, *, seed: int
) -> Played:
    """Return what the policy does from this shape; `change` changes its state in each round."""
    functions, result = functions_for(policy, shape), Played.nothing()
    form, handed_over = (as_it_is, hold) if functions.compiled else (plain, HeldInPython)
    choosing, learning = stream(seed, 1), stream(seed, 2)
    state, moments = start(policy, shape, stream(seed, 0)), moments_for(policy, shape)
    held = handed_over(state, moments, choosing, learning)
    for t, offer in enumerate(played_game.offers):
        before, (state, shape) = state, change(state, shape, t)
        held = held if state is before else handed_over(state, moments, choosing, learning)
        if functions.propensities is not None and t % 4 == 0:
            result.laws.append(law(held, offer, form).tolist())
        position = position_chosen(held, offer, form)
        assert position >= 0, "an arm that is not on offer was chosen"
        arm = int(offer.arms[position])
        reward = float(played_game.rewards[t, arm])
        case, whole = played_game.case(t, arm), policy.learns_from_offers
        learn_one(held, case, arm, reward, form, whole=whole)
        result.arms.append(arm)
    return result


def written_and_read(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what comes back from a file of these arrays that holds no Python objects."""
    found = {}
    for path, array in arrays.items():
        file = io.BytesIO()
        np.lib.format.write_array(file, array, allow_pickle=False)
        file.seek(0)
        found[path] = np.lib.format.read_array(file, allow_pickle=False)
    return found
