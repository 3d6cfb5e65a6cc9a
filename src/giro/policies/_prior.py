"""Prior rewards: a few artificial zeros and ones that an arm starts with."""

from giro.errors import BadParameter


def check_prior(policy: str, *, zeros: int, ones: int) -> None:
    """Refuse numbers of prior rewards that are not whole or negative.

    None at all are allowed: an arm never pulled then goes first, and the policy may fail forever
    after a first reward of 0, as Kveton et al. (2019), Lemma 1, show for the plain bootstrap.
    """
    for name, value in (("zeros", zeros), ("ones", ones)):
        if not isinstance(value, int) or value < 0:
            raise BadParameter(f"{policy} needs a whole number {name} >= 0, got {name}={value}")
