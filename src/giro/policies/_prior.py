"""Prior rewards: a few artificial zeros and ones that an arm starts with."""

from giro.checks import check, whole


def check_prior(policy: str, *, zeros: int, ones: int) -> None:
    """Check that the numbers of prior rewards are whole and >= 0.

    None at all are allowed: an arm never pulled then goes first, and the policy may fail forever
    after a first reward of 0, as Kveton et al. (2019), Lemma 1, show for the plain bootstrap.
    """
    check(policy, whole(0), zeros=zeros, ones=ones)
