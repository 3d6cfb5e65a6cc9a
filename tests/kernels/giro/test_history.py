"""What a resampling policy remembers."""

from giro.kernels.giro.history import no_rewards, remember


def test_an_arm_is_binary_until_it_has_a_reward_inside_zero_and_one() -> None:
    rewards = no_rewards(2, 20)
    for reward in (0.0, 1.0, 1.0):
        remember(rewards, 0, reward)
        remember(rewards, 1, reward)
    assert rewards.binary.tolist() == [True, True]
    remember(rewards, 1, 0.5)
    remember(rewards, 1, 1.0)
    assert rewards.binary.tolist() == [True, False]
