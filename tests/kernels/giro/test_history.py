"""What a resampling policy remembers."""

from giro.kernels.giro.history import entries_of, no_rewards, remember


def test_an_arm_is_binary_until_it_has_a_reward_inside_zero_and_one() -> None:
    rewards = no_rewards(2, 20)
    for reward in (0.0, 1.0, 1.0):
        remember(rewards, 0, reward)
        remember(rewards, 1, reward)
    assert rewards.binary.tolist() == [True, True]
    remember(rewards, 1, 0.5)
    remember(rewards, 1, 1.0)
    assert rewards.binary.tolist() == [True, False]


def test_entries_hold_the_rewards_and_the_prior() -> None:
    rewards = no_rewards(2, 20)
    for i in range(10):
        remember(rewards, 1, i / 10)
    entries = entries_of(rewards, 1, 2, 3)
    assert entries.rewards.tolist() == [i / 10 for i in range(10)]
    assert entries.total == sum(i / 10 for i in range(10))
    assert (entries.binary, entries.zeros, entries.ones) == (False, 2, 3)
    assert entries_of(rewards, 0, 0, 0).rewards.size == 0
