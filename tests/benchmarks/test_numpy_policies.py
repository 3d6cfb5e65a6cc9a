import numpy as np
from numpy_policies import N_ARMS, TWINS, KlUcb, bracket, duels_by_level
from numpy_vectorised import instances, regrets_of

from giro import Policy, simulate
from giro.policies.kl_ucb import kl_upper
from giro.seeds import stream


def test_kl_ucb_finds_the_same_indices_as_the_kernel(seed: int) -> None:
    rng = stream(seed)
    twin, t = KlUcb(50, 1000, rng), 1000
    twin.pulls[:] = rng.integers(1, 300, twin.pulls.shape)
    twin.ones[:] = rng.integers(0, twin.pulls + 1)
    budget = np.log(t) + 3 * np.log(np.log(t))
    means, level = twin.ones / twin.pulls, budget / twin.pulls
    exact = np.vectorize(kl_upper)(means, level)
    np.testing.assert_allclose(twin.values(t, rng), exact, atol=1e-5)


def test_duels_wait_for_those_that_decide_who_takes_part() -> None:
    settled: set[int] = set()
    for first, second in duels_by_level(bracket(N_ARMS)):
        assert len({*first, *second}) == 2 * len(first)
        assert not settled & {*first, *second}
        settled |= set(second)
    assert settled == set(range(1, N_ARMS))


def test_both_sides_meet_the_same_instances() -> None:
    trace = simulate("uniform", "bernoulli", rounds=4000, runs=5, seed=3)
    means = instances(runs=5, seed=3)
    expected = 4000 * (means.max(axis=1) - means.mean(axis=1))
    np.testing.assert_allclose(trace.regret[:, -1], expected, rtol=0.1)


def test_every_twin_of_a_policy_plays(seed: int) -> None:
    for text, twin in TWINS.items():
        assert Policy.parse(text)
        regrets = regrets_of(twin, rounds=30, runs=4, seed=seed)
        assert regrets.shape == (4,)
        assert np.all(regrets > 0.0)
