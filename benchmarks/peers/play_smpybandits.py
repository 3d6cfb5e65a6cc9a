"""SMPyBandits' policies in the loop."""

from loop import Peer, main
from SMPyBandits.Policies import BESA, UCB, Thompson, klUCB


def ucb1(means: list[float], rounds: int) -> Peer:
    """Return UCB1."""
    return _peer(UCB(len(means)))


def thompson(means: list[float], rounds: int) -> Peer:
    """Return Thompson sampling with a Beta(1, 1) prior."""
    return _peer(Thompson(len(means)))


def kl_ucb(means: list[float], rounds: int) -> Peer:
    """Return KL-UCB without log log t, which it does not offer."""
    return _peer(klUCB(len(means)))


def besa(means: list[float], rounds: int) -> Peer:
    """Return BESA; it is faster when it knows the rounds."""
    return _peer(BESA(len(means), horizon=rounds))


def _peer(policy: UCB) -> Peer:
    policy.startGame()
    return Peer(policy.choice, policy.getReward)


if __name__ == "__main__":
    main({"ucb1": ucb1, "thompson": thompson, "kl-ucb:c=0": kl_ucb, "besa": besa})
