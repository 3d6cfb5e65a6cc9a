"""The log in memory, in columns."""

from giro.bandit.stores import MemoryStore


def test_a_round_takes_91_bytes_of_numbers_in_the_log() -> None:
    """The page on production says so; ids, contexts and propensities come on top."""
    log = MemoryStore()
    events = (log.kind, log.index)
    decision = (log.decided, log.arm, log.among, log.own, log.seen, log.reward_of, log.known)
    reward = (log.rewarded, log.value, log.came, log.expired)
    assert 2 * sum(column.itemsize for column in events) == 18
    assert sum(column.itemsize for column in decision) == 48
    assert sum(column.itemsize for column in reward) == 25
