"""Sources of kernels: what C and NumPy think of the structure that they share, and the draws."""

import numpy as np
import pytest
from kernels.cuda.emulated import COMPILER, Emulated
from kernels.cuda.twin import permutation, philox, poisson

from giro.kernels.cuda.source import RECORD, padded, record_of, source_of
from giro.simulation.engines._cuda_plans import Step

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no g++ to emulate with")

_PROBE = r"""
extern "C" __global__ void probe(const Game *__restrict__ game, int t)
{
    const Game &g = *game;
    const uint4 w = words(g, 0, t, NORMAL, 3, 7);
    g.values[0] = g.penalty;
    g.values[1] = (double)g.seed_high;
    g.values[2] = (double)w.x;
    g.values[3] = (double)w.w;
    g.values[4] = uniform(w.x, w.y);
}
"""


_SUM = r"""
extern "C" __global__ void sum_up(const Game *__restrict__ game, int n)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const Game &g = *game;
    Scaled *scaled = (Scaled *)memory;
    double *gram = (double *)(scaled + 3 * CHUNK);
    const auto scale = [&](int i) { return Scaled{i, (double)sqrtf(g.spread[i]), 0.0}; };
    add_up(g, n, scale, (float *)gram, scaled, gram);
    for (int i = threadIdx.x; i < D * GRAM; i += THREADS) g.hessian[i] = gram[i];
}
"""


def test_a_row_is_kept_with_room_for_one_more_column_in_sixteens() -> None:
    assert [padded(d) for d in (1, 15, 16, 55, 95, 96)] == [16, 16, 32, 64, 96, 112]


@needs_compiler
def test_a_kernel_reads_what_numpy_wrote_and_draws_what_the_twin_draws() -> None:
    source = source_of(("game.cuh",), {"D": 5, "DP": 16, "ARMS": 3}) + _PROBE
    device, values, numbers = Emulated(), np.zeros(5), np.array([11], np.int32)
    addresses = {"values": values.ctypes.data, "numbers": numbers.ctypes.data}
    seeds = {"seed_low": 5, "seed_high": 9, "penalty": 0.25}
    game = record_of(addresses | seeds)
    step = Step((), "probe", 1, 1, False)
    device.launch(device.compile(source), step, 1, 0, game, 4)
    w = philox((7, 4, 7 << 16 | 3, 11), (5, 9))  # NORMAL is purpose 7
    uniform = ((int(w[0]) >> 5) * 2**26 + (int(w[1]) >> 6)) / 2**53
    assert values.tolist() == [0.25, 9.0, float(w[0]), float(w[3]), uniform]


@needs_compiler
def test_sums_of_many_rows_on_tensor_cores_are_as_exact_as_those_of_few() -> None:
    n, columns, padding = 20_000, 5, 16
    source = source_of(
        ("game.cuh", "columns.cuh", "tensor.cuh", "gram.cuh"),
        {"D": columns, "DP": padding, "ARMS": 3},
    )
    rng = np.random.Generator(np.random.PCG64(3))
    contexts = np.zeros((n, padding), np.float32)
    contexts[:, :columns] = rng.random((n, columns)) + 0.5
    spread = rng.random(n).astype(np.float32)
    hessian, device = np.zeros((columns, padding + 1)), Emulated()
    arrays = {"contexts": contexts, "spread": spread, "hessian": hessian}
    game = record_of({name: array.ctypes.data for name, array in arrays.items()})
    kernels = device.compile(source + _SUM)
    device.launch(kernels, Step((), "sum_up", 256, 1, False), 1, 227 * 1024, game, n)
    rows = contexts[:, :columns].astype(np.float64)
    exact = (rows * spread[:, None]).T @ rows
    upper = np.triu_indices(columns)
    assert np.abs(hessian[:, :columns] / exact - 1.0)[upper].max() < 2e-6  # in one chain: 7e-6


def test_what_is_not_given_is_zero() -> None:
    record = np.frombuffer(record_of({"runs": 3}).tobytes(), RECORD)[0]
    assert record["runs"] == 3 and record["contexts"] == 0 and record["scale"] == 0.0


def test_philox_gives_the_words_of_random123() -> None:
    """Known answers that come with Salmon et al. (2011)."""
    assert [int(w) for w in philox((0, 0, 0, 0), (0, 0))] == [
        0x6627E8D5,
        0xE169C58D,
        0xBC57AC4C,
        0x9B00DBD8,
    ]
    ones = (0xFFFFFFFF,) * 4
    assert [int(w) for w in philox(ones, ones[:2])] == [
        0x408F276D,
        0x41C83B0E,
        0xA20BC7C6,
        0x6D5451FD,
    ]


def test_orders_of_the_kernel_are_bijections_in_which_any_row_is_anywhere_as_often() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    s, n = 37, 4000
    where = np.zeros((s, s))
    for _ in range(n):
        order = permutation(s, *rng.integers(0, 2**32, (2, 4)).tolist())
        assert sorted(order) == list(range(s))
        where[np.arange(s), order] += 1
    chi_square = ((where - n / s) ** 2 / (n / s)).sum()
    cells = (s - 1) ** 2
    assert abs(chi_square - cells) < 5 * np.sqrt(2 * cells)


def test_an_order_that_is_only_turned_is_caught() -> None:
    """What the test above would say of rotations, which are bijections, too."""
    s, n = 37, 4000
    rng = np.random.Generator(np.random.PCG64(1))
    neighbours = np.mean(
        [
            permutation(s, *rng.integers(0, 2**32, (2, 4)).tolist())[:2] @ [-1, 1] == 1
            for _ in range(n)
        ]
    )
    assert abs(neighbours - 1 / s) < 5 * np.sqrt(1 / s / n)  # of a turned order: nearly always


def test_poisson_counts_have_their_mean_and_variance() -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    for mean in (0.3, 1.0):
        counts = np.array([poisson(mean, u) for u in rng.random(20_000)])
        assert abs(counts.mean() - mean) < 5 * np.sqrt(mean / counts.size)
        assert abs(counts.var() - mean) < 10 * mean / np.sqrt(counts.size)
