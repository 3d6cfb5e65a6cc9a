"""The parameters of policies for worlds that change: `window` and `half_life`."""

from giro.checks import POSITIVE, check, optional, whole
from giro.errors import BadParameter
from giro.kernels.memory import Everything, HalfLife, Window, empty_window, half_life_memory
from giro.kernels.regression.forgetting import ForgettingRidge, empty_forgetting_ridge
from giro.kernels.regression.ridge import Ridge, empty_ridge
from giro.policy import Shape


def check_memory(policy: str, *, window: int | None, half_life: float | None = None) -> None:
    """Check that at most one of them is given, window >= 1 and half_life > 0."""
    check(policy, optional(whole(1)), window=window)
    check(policy, optional(POSITIVE), half_life=half_life)
    if window is not None and half_life is not None:
        raise BadParameter(f"{policy} takes one of window and half_life, not both")


def memory_of(
    shape: Shape, *, window: int | None, half_life: float | None = None
) -> Everything | HalfLife | Window:
    """Return a memory without rewards."""
    if window is not None:
        return empty_window(int(window), shape.capacity)
    return Everything() if half_life is None else half_life_memory(half_life)


def ridge_of(
    shape: Shape, penalty: float, *, window: int | None, half_life: float | None
) -> Ridge | ForgettingRidge:
    """Return ridge regressions on no rewards that forget as these parameters say."""
    size = shape.n_models, shape.width
    if window is not None:
        kept = empty_window(int(window), shape.capacity, shape.width)
        return empty_forgetting_ridge(*size, penalty, kept)
    if half_life is not None:
        return empty_forgetting_ridge(*size, penalty, half_life_memory(half_life))
    return empty_ridge(*size, penalty)
