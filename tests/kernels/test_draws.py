"""A seed gives the same numbers with every version of NumPy and on every machine."""

from collections.abc import Callable

import pytest
from kernels.draws.filled import filled

from giro.kernels.draws.continuous import (
    beta,
    standard_exponential,
    standard_gamma,
    standard_normal,
)
from giro.kernels.draws.discrete import binomial, fair_binomial, hypergeometric, poisson
from giro.kernels.draws.uniform import coins, integer_below, shuffled
from giro.seeds import stream

Known = tuple[Callable[..., float], tuple[float, ...], list[float]]
KNOWN: list[Known] = [
    (coins, (), [5630359420943529, 8081383479436493, 6986755571089759, 1825968279640134]),
    (integer_below, (1000,), [625, 897, 775, 202]),
    (integer_below, (1000000000000,), [359420943529, 383479436493, 755571089759, 968279640134]),
    (
        standard_exponential,
        (),
        [0.127304925810564, 0.40212458594118705, 0.26843869976734797, 3.2536226145892297],
    ),
    (
        standard_normal,
        (),
        [-1.0645200480767112, 0.3811703144051916, -0.4156728954995369, 0.36685358479167773],
    ),
    (
        standard_gamma,
        (2.5,),
        [0.9471168870867501, 1.6106002288175314, 1.514728160328271, 2.487090394827452],
    ),
    (
        standard_gamma,
        (0.3,),
        [0.2617369501929734, 0.049290506374778865, 0.09179061558657936, 0.4080130371469034],
    ),
    (
        beta,
        (2.0, 3.0),
        [0.23718622353575863, 0.4103414093751967, 0.3806203963747937, 0.23415263256748278],
    ),
    (
        beta,
        (0.3, 0.4),
        [0.9691716696625738, 0.0981642701074741, 0.0003443895518663697, 0.009162386104031825],
    ),
    (binomial, (20, 0.3), [7, 9, 8, 4]),
    (binomial, (1000, 0.3), [317, 294, 298, 301]),
    (fair_binomial, (100,), [52, 55, 54, 46]),
    (poisson, (1.0,), [1, 2, 2, 0]),
    (poisson, (50.0,), [35, 44, 50, 57]),
    (hypergeometric, (40, 30, 35), [18, 23, 17, 19]),
    (hypergeometric, (400, 300, 350), [215, 193, 202, 198]),
]


@pytest.mark.parametrize(("draw", "parameters", "known"), KNOWN)
def test_the_draws_of_a_seed_are_known(
    draw: Callable[..., float], parameters: tuple[float, ...], known: list[float]
) -> None:
    """The last of a thousand is told, too: on the way to it every branch was taken."""
    draws = filled(draw, *parameters, seed=7, size=1_000)
    assert [*draws[:3], draws[-1]] == pytest.approx(known, rel=1e-13, abs=0)


def test_the_order_of_a_seed_is_known() -> None:
    assert shuffled(10, stream(7)).tolist() == [3, 5, 2, 0, 4, 7, 1, 9, 8, 6]
