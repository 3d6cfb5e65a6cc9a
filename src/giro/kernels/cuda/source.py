"""The sources of the kernels in CUDA C, put together for one problem and one policy.

What kernels are given is one structure, `Game`. Its fields are listed here only: the structure in C
and the record that NumPy fills are both made from the list.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

_FOLDER = Path(__file__).parent

_POINTERS = {
    "contexts": "const float *",  # [row, DP] with the constant 1 in column D - 1, then zeros
    "labels": "const int *",  # [row] the arm with reward 1
    "order": "const int *",  # [run, round] the row that is revealed
    "numbers": "const int *",  # [run] its number, which decides its draws
    "arms": "unsigned char *",  # [run, round] the pulled arm
    "history": "int2 *",  # [run, arm, i] row and reward, as the bits of a float
    "length": "int *",  # [run, arm] of the history
    "ranks": "int *",  # [run, i] the arm with the i-th longest history
    "values": "double *",  # [run, arm] what the round's kernel expects of the arm
    "counts": "u32 *",  # [run, arm, i] of a bootstrap sample, zero between rounds
    "spread": "float *",  # [run, arm, 2, i] weights of rows, now and in the Hessian's sum
    "sums": "double *",  # [run, arm, D, DP + 1] the Hessian's sum
    "theta": "double *",  # [run, arm, DP]
    "made": "int *",  # [run, arm] rows of the last centre or Hessian
    "hessian": "double *",  # [run, arm, number] the last one, eliminated
    "factor": "double *",  # [run, arm, replica, D, DP]
    "log_det": "double *",  # [run, arm]
    "radius": "double *",  # [run, arm]
    "weights": "float *",  # [run, arm, DP + 1, unit] of networks
}
_NUMBERS = (
    *("a", "epsilon", "b", "penalty", "tolerance", "rate", "scale", "delta", "bias"),
    *("runs", "rounds", "reach", "replicas", "tau", "seed_low", "seed_high"),
)
_WHOLE = _NUMBERS[9:]  # the rest are real

RECORD = np.dtype(
    [(name, np.uint64) for name in _POINTERS]
    + [(name, np.int64 if name in _WHOLE else np.float64) for name in _NUMBERS]
)


def padded(n_columns: int) -> int:
    """Return how many columns a row of so many is kept in: one more at least, in sixteens."""
    return (n_columns // 16 + 1) * 16


def source_of(files: Sequence[str], constants: Mapping[str, int]) -> str:
    """Return the sources in these files, behind constants and the structure that they need."""
    defines = [f"#define {name} {value}" for name, value in constants.items()]
    texts = [(_FOLDER / name).read_text(encoding="utf-8") for name in files]
    return "\n".join([*defines, _STRUCTURE, *texts])


def record_of(values: Mapping[str, float]) -> np.ndarray:
    """Return the bytes of a `Game`, with 0 for fields that are not given."""
    record = np.zeros((), RECORD)
    for name, value in values.items():
        record[name] = value
    return np.frombuffer(record.tobytes(), np.uint8)


_FIELDS = [f"    {kind}{name};" for name, kind in _POINTERS.items()] + [
    f"    {'long long' if name in _WHOLE else 'double'} {name};" for name in _NUMBERS
]
_STRUCTURE = "\n".join(
    [
        "typedef unsigned int u32;",
        "#ifndef CUDART_INF",
        "#define CUDART_INF __longlong_as_double(0x7ff0000000000000ULL)",
        "#endif",
        "struct Game {",
        *_FIELDS,
        "};",
    ]
)
