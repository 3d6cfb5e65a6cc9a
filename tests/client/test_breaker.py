"""The breaker lets a call through, and how often while it is open."""

from giro.client.breaker import Breaker, jitter


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_while_it_is_open_one_call_in_each_pause_is_let_through() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    assert breaker.lets_through()
    assert breaker.wait == 0.0
    breaker.failed()
    assert breaker.is_open
    assert not breaker.lets_through()
    assert 0.25 <= breaker.wait <= 0.5
    clock.now = 0.5
    assert [breaker.lets_through() for _ in range(3)] == [True, False, False]
    breaker.succeeded()
    assert breaker.lets_through()
    assert breaker.wait == 0.0


def test_pauses_double_up_to_five_seconds() -> None:
    breaker, pauses = Breaker(Clock()), []
    for _ in range(10):
        breaker.failed()
        pauses.append(breaker.wait)
    assert all(0.5 * 2**i * 0.5 <= pause <= 0.5 * 2**i for i, pause in enumerate(pauses[:4]))
    assert 2.5 <= pauses[-1] <= 5.0


def test_no_call_is_let_through_where_somebody_else_tries() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.is_tended = True
    breaker.failed()
    clock.now = 100.0
    assert not breaker.lets_through()


def test_the_jitter_is_between_a_half_and_one() -> None:
    numbers = [jitter() for _ in range(200)]
    assert 0.5 <= min(numbers) < 0.6
    assert 0.9 < max(numbers) < 1.0
