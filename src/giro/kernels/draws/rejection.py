"""Points for transformed rejection (Hörmann, 1993, algorithms BTRD and PTRD)."""

import numpy as np

from giro.compiling import borrowed, inline_kernel

KEPT = -1.0  # in place of v


@inline_kernel
def proposed(v_r: float, rng: np.random.Generator) -> tuple[float, float]:
    """Return a uniform point (u, v) of [-1/2, 1/2] x [0, 1].

    Every point of the part |u| <= 0.43, v <= v_r is kept by the rejection that calls this. There, v
    is `KEPT`: one uniform number gives v, and divided by v_r it gives u.
    """
    rng = borrowed(rng)
    v = rng.random()
    if v <= 0.86 * v_r:
        return v / v_r - 0.43, KEPT
    if v >= v_r:
        return rng.random() - 0.5, v
    u = v / v_r - 0.93  # then |u| > 0.43
    return (0.5 if u > 0.0 else -0.5) - u, v_r * rng.random()
