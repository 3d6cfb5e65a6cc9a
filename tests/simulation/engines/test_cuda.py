"""The engine cuda, by its kernels emulated on the processor, and on a GPU where there is one."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from kernels.cuda.emulated import COMPILER, Emulated
from kernels.cuda.twin import agreement

from giro import BadParameter, GiroError, Policy, Problem, simulate
from giro.problems.classification import Classification
from giro.seeds import stream
from giro.simulation.engines import open_engine
from giro.simulation.engines._cuda_plans import plan_for
from giro.simulation.engines._cuda_play import lay, play_rounds, play_runs, put_rows
from giro.simulation.play import Work, play_run
from giro.simulation.simulate import make_setting
from giro.simulation.trace import Trace

try:
    import cupy

    GPUS = cupy.cuda.runtime.getDeviceCount()
except Exception:  # no CuPy, no driver or no GPU
    GPUS = 0

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no g++ to emulate with")
needs_gpu = pytest.mark.skipif(GPUS == 0, reason="there is no GPU that CuPy can use")
POLICIES = (
    "contextual-giro:a=1,model=linear",
    "contextual-giro:a=0.3,model=linear",
    "contextual-giro:a=1,model=logistic",
    "contextual-giro:a=1,model=linear-sgd",
    "contextual-giro:a=1,model=network",
    "epsilon-greedy:share=0.1,model=linear",
    "epsilon-greedy:share=0.1,model=logistic",
    "epsilon-greedy:share=0.1,model=linear-sgd",
    "epsilon-greedy:share=0.1,model=network",
    "giro-ensemble:a=0.3,replicas=3",
    "giro-ensemble:replicas=3",
    "giro-ensemble:replicas=3,weights=double",
    "poisson-bootstrap:replicas=3",
    "lin-ucb",
    "lin-ucb:scale=1",
    "lin-ts",
    "ucb-glm:tau=10",
)


def some_rows(n_features: int, n_arms: int = 3, graded: bool = False) -> Classification:
    """Return a problem that a linear model nearly solves."""
    rng = stream(5)
    x, w = rng.normal(size=(300, n_features)), rng.normal(size=(n_features, n_arms))
    y = np.argmax(x @ w + 0.3 * rng.normal(size=(300, n_arms)), axis=1)
    return Classification.from_arrays(x, y, graded=graded)


def work_of(text: str, problem: Classification, rounds: int, seed: int = 1) -> Work:
    policy = Policy.parse(text)
    return Work(policy, problem, make_setting(policy, problem, rounds=rounds, seed=seed, points=4))


def pulled(device, work: Work, runs, rounds: int):
    """Return the arms [run, round] that kernels pull, and the rows that they met."""
    table = lay(device, work, runs, put_rows(device, work.problem))
    play_rounds(device, table, 0, rounds)
    return device.get(table.arrays["arms"]), table.order


@needs_compiler
@pytest.mark.parametrize("text", POLICIES)
def test_kernels_pull_the_arms_of_their_twins(text: str) -> None:
    work = work_of(text, some_rows(4), rounds := 30)
    arms, order = pulled(Emulated(), work, [3], rounds)
    same, counted = agreement(work, 3, arms[0], order[0])
    assert same == counted >= 22


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("n_features", [16, 37, 60])
@pytest.mark.parametrize("text", POLICIES)
def test_kernels_pull_the_arms_of_their_twins_whatever_the_width(
    text: str, n_features: int
) -> None:
    work = work_of(text, some_rows(n_features), rounds := 24)
    arms, order = pulled(Emulated(), work, [3], rounds)
    same, counted = agreement(work, 3, arms[0], order[0])
    assert same == counted >= 12


@needs_compiler
def test_a_wrong_kernel_is_caught_by_its_twin() -> None:
    """A penalty that the kernel is told wrongly."""
    work = work_of("lin-ucb:scale=0.5", some_rows(4), rounds := 30)
    other = work_of("lin-ucb:scale=0.5,penalty=3", some_rows(4), rounds)
    arms, order = pulled(Emulated(), other, [3], rounds)
    same, counted = agreement(work, 3, arms[0], order[0])
    assert same < counted


@needs_compiler
def test_a_logistic_fit_is_the_same_however_many_rows_are_added_again() -> None:
    """Its Hessian is added up again if more than so many weights changed."""

    class Fewer(Emulated):
        def compile(self, source: str):
            assert source.count("FEW_ROWS 64") == ("sum_up(" in source)
            return super().compile(source.replace("FEW_ROWS 64", "FEW_ROWS 1"))

    work = work_of("contextual-giro:a=1,model=logistic", some_rows(4), rounds := 25)
    some, _ = pulled(Emulated(), work, [3], rounds)
    all_of_them, _ = pulled(Fewer(), work, [3], rounds)
    assert (some == all_of_them).all()


@needs_compiler
def test_a_run_is_the_same_whatever_is_played_beside_it() -> None:
    work = work_of("contextual-giro:a=1,model=network", some_rows(4), rounds := 25)
    together, _ = pulled(Emulated(), work, [0, 2, 5], rounds)
    alone, _ = pulled(Emulated(), work, [2], rounds)
    assert (together[1] == alone[0]).all()
    assert (together[0] != together[1]).any()


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("text", POLICIES)
def test_a_run_is_the_same_whichever_warps_are_ahead(text: str) -> None:
    work = work_of(text, some_rows(20), rounds := 12)
    first, _ = pulled(Emulated(), work, [4], rounds)
    last, _ = pulled(Emulated(last_first=True), work, [4], rounds)
    assert (first == last).all()


@needs_compiler
@pytest.mark.parametrize("graded", [False, True])
def test_instances_and_curves_are_those_of_the_other_engines(graded: bool) -> None:
    """A policy of which nothing is drawn but ties: after those, all is the same."""
    problem = some_rows(4, graded=graded)
    work = work_of("lin-ucb", problem, rounds := 40)
    device = Emulated()
    trace = play_runs(device, work, [1], put_rows(device, problem))
    arms, order = pulled(device, work, [1], rounds)
    reach = 2 if graded else 1
    means = np.maximum(0, 1 - np.abs(arms[0].astype(int) - problem.rows.labels[order[0]]) / reach)
    points = work.setting.checkpoints - 1
    assert np.allclose(trace.reward[0], means.cumsum()[points])
    assert np.allclose(trace.regret[0], (1 - means).cumsum()[points])
    assert trace.best[0].tolist() == (means == 1).cumsum()[points].tolist()
    assert trace.pulls[0].tolist() == np.bincount(arms[0], minlength=3).tolist()
    record = play_run(work.policy, problem, work.setting.checkpoints, seed=1, run=1, keep_arms=True)
    assert record.regret.shape == trace.regret[0].shape


@needs_compiler
def test_rows_come_in_the_order_of_the_problem_pass_after_pass() -> None:
    x = np.arange(10.0)[:, None]
    problem = Classification.from_arrays(x, np.arange(10) % 2)
    work = work_of("lin-ucb", problem, 25)
    table = lay(Emulated(), work, [7], put_rows(Emulated(), problem))
    instance, rng = problem.start(stream(1, 7, 0)), stream(1, 7, 0)
    for t in range(25):
        offer, *_ = problem.reveal(instance, t, rng)
        assert (offer.context == problem.rows.contexts[table.order[0, t]]).all()


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["contextual-giro:a=1,model=network", "giro-ensemble:a=1,replicas=3"]
)
def test_rewards_have_the_distribution_of_the_other_engines(text: str) -> None:
    problem, device, runs = some_rows(4), Emulated(), 40
    work = work_of(text, problem, 60)
    ours = play_runs(device, work, range(runs), put_rows(device, problem)).reward[:, -1]
    theirs = simulate(text, problem, rounds=60, runs=200, seed=1).reward[:, -1]
    error = np.sqrt(ours.var() / ours.size + theirs.var() / theirs.size)
    assert abs(ours.mean() - theirs.mean()) < 4 * error


@pytest.mark.parametrize(
    ("text", "problem", "words"),
    [
        ("thompson", "classification", "cannot play thompson"),
        ("lin-ucb:window=10", "classification", "cannot play lin-ucb"),
        ("lin-ucb:ties=fixed", "classification", "cannot play lin-ucb"),
        ("contextual-giro:model=tree", "classification", "cannot play contextual-giro"),
        ("giro-ensemble:weights=gaussian", "classification", "cannot play giro-ensemble"),
        ("lin-ucb", "linear", "plays classification problems"),
    ],
)
def test_what_cannot_be_played_is_said(text: str, problem: str, words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        plan_for(Policy.parse(text), Problem.parse(problem), 10)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch):
    """What the engine asks of CuPy before it begins."""

    class Trouble(Exception):
        pass

    found = SimpleNamespace(devices=1, capability="90", trouble=None)

    def count() -> int:
        if found.trouble:
            raise Trouble(found.trouble)
        return found.devices

    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=Trouble)
    device = lambda: SimpleNamespace(compute_capability=found.capability)  # noqa: E731
    cuda = SimpleNamespace(runtime=runtime, Device=device)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.delitem(sys.modules, "giro.simulation.engines.cuda", raising=False)
    yield found
    sys.modules.pop("giro.simulation.engines.cuda", None)


def test_a_driver_that_does_not_answer_an_old_gpu_and_jobs_are_refused(stand_in) -> None:
    stand_in.trouble = "CUDA driver version is insufficient"
    with pytest.raises(GiroError, match="no GPU that works: CUDA driver version"):
        open_engine("cuda").__enter__()
    stand_in.trouble, stand_in.capability = None, "75"
    with pytest.raises(
        GiroError, match=r"needs a GPU of compute capability 8\.0 or more, got 7\.5"
    ):
        open_engine("cuda").__enter__()
    with pytest.raises(BadParameter, match="leave out jobs"):
        open_engine("cuda", jobs=2)
    with pytest.raises(BadParameter, match="take an address"):
        open_engine("cuda", address="tcp://head:1")


@needs_compiler
def test_too_little_memory_is_said_and_runs_are_played_in_chunks(stand_in, capsys) -> None:
    from giro.simulation.engines.cuda import Cuda  # noqa: PLC0415  # it needs CuPy, or what stands in

    device, problem = Emulated(), some_rows(4)
    work = work_of("lin-ucb", problem, 20)
    device.free = lambda: 25_000
    chunks = list(Cuda(device).finished(work, range(9)))
    assert len(chunks) > 1 and sorted(r for c in chunks for r in c.runs) == list(range(9))
    assert f"9 runs, {chunks[0].runs.size} at once in 0.0 of the GPU's" in capsys.readouterr().err
    device.free = lambda: 3_000
    with pytest.raises(GiroError, match="GB of the GPU's memory"):
        next(Cuda(device).finished(work, range(9)))


def test_a_limit_of_memory_that_is_no_number_is_said(stand_in) -> None:
    from giro.simulation.engines.cuda import Gpu  # noqa: PLC0415  # it needs CuPy, or what stands in

    def free_all_blocks() -> None:
        raise ValueError("invalid literal for int() with base 10: '8GB'")

    pool = SimpleNamespace(free_all_blocks=free_all_blocks)
    sys.modules["cupy"].get_default_memory_pool = lambda: pool  # type: ignore[attr-defined]
    with pytest.raises(GiroError, match=r"number of bytes, as 8000000000, or a share.*'8GB'"):
        Gpu().free()


@needs_compiler
def test_the_beginning_of_a_run_is_that_of_the_run(stand_in) -> None:
    from giro.simulation.engines.cuda import Cuda  # noqa: PLC0415  # it needs CuPy, or what stands in

    problem = some_rows(4)
    work = work_of("epsilon-greedy:share=0.1,model=linear", problem, 40)
    engine = Cuda(Emulated())
    (trace,) = engine.finished(work, [6])
    stops = work.setting.checkpoints[:2]
    record = engine.begin(work.policy, problem, stops, seed=1, run=6, rounds=40)
    assert record.reward.tolist() == trace.reward[0, :2].tolist()


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize("text", POLICIES)
def test_a_gpu_pulls_the_arms_of_the_twins(text: str) -> None:
    from giro.simulation.engines.cuda import Gpu  # noqa: PLC0415  # it needs CuPy, or what stands in

    work = work_of(text, some_rows(20), rounds := 60)
    arms, order = pulled(Gpu(), work, [0, 3], rounds)
    same, counted = agreement(work, 3, arms[1], order[1])
    assert same == counted


def furthest(ours: Trace, theirs: Trace) -> float:
    """Return by how many standard errors means of curves and pulls differ at most."""
    points = [*range(0, ours.reward.shape[1], 20), -1]
    pairs = [(ours.reward[:, p], theirs.reward[:, p]) for p in points]
    pairs += zip(ours.pulls.T, theirs.pulls.T, strict=True)
    errors = [np.sqrt(a.var() / (a.size - 1) + b.var() / (b.size - 1)) for a, b in pairs]
    gaps = [abs(a.mean() - b.mean()) for a, b in pairs]
    return float(np.max(gaps / (np.array(errors) + 1e-9)))


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize("text", POLICIES)
def test_rewards_on_a_gpu_have_the_distribution_of_the_other_engines(text: str) -> None:
    problem = some_rows(20)
    ours = simulate(text, problem, rounds=500, runs=200, seed=2, engine="cuda")
    theirs = simulate(text, problem, rounds=500, runs=200, seed=3)
    assert furthest(ours, theirs) <= 4.5


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize(
    "text",
    [
        "contextual-giro:a=1,model=linear",
        "contextual-giro:a=1,model=logistic",
        "contextual-giro:a=1,model=network",
        "epsilon-greedy:share=0.01,model=logistic",
        "epsilon-greedy:share=0.01,model=network",
        "ucb-glm",
    ],
)
def test_long_runs_on_a_gpu_have_the_distribution_of_the_other_engines(text: str) -> None:
    problem = some_rows(20)
    ours = simulate(text, problem, rounds=10_000, runs=200, seed=2, engine="cuda")
    theirs = simulate(text, problem, rounds=10_000, runs=24, seed=3)
    assert furthest(ours, theirs) <= 4.5


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("contextual-giro:a=1,model=linear", "__umulhi(row_word, s)", "__umulhi(row_word, s) / 2"),
        ("contextual-giro:a=1,model=network", "__umulhi(row_word, s)", "__umulhi(row_word, s) / 2"),
        ("epsilon-greedy:share=0.1,model=logistic", "total = reward;", "total = 0.5 + reward / 4;"),
        ("giro-ensemble:a=0.3,replicas=3", "drawn_weight(1.0,", "drawn_weight(0.5,"),
        ("giro-ensemble:a=0.3,replicas=3,weights=exponential", "-mean * log(1.0 - u)", "1.0"),
        ("lin-ts:scale=1", "sqrt(-2.0 * log(1.0", "sqrt(-1.0 * log(1.0"),
    ],
)
def test_a_wrong_kernel_on_a_gpu_is_caught(text: str, right: str, wrong: str) -> None:
    from giro.simulation.engines.cuda import Gpu  # noqa: PLC0415  # it needs CuPy, or what stands in

    class Spoiled(Gpu):
        def compile(self, source: str):
            assert source.count(right) == 1 or "choose(const" in source
            return super().compile(source.replace(right, wrong))

    problem, device = some_rows(20), Spoiled()
    ours = play_runs(device, work_of(text, problem, 500), range(200), put_rows(device, problem))
    theirs = simulate(text, problem, rounds=500, runs=200, seed=3, points=4)
    assert furthest(ours, theirs) > 4.5


@needs_gpu
@pytest.mark.gpu
def test_runs_on_a_gpu_are_the_same_in_less_memory() -> None:
    pool = cupy.get_default_memory_pool()
    text, problem = "contextual-giro:a=1,model=network", some_rows(20)
    whole = simulate(text, problem, rounds=200, runs=40, seed=1, engine="cuda")
    try:
        pool.set_limit(size=pool.used_bytes() + 500_000)
        chunks = simulate(text, problem, rounds=200, runs=40, seed=1, engine="cuda")
        pool.set_limit(size=pool.used_bytes() + 10_000)
        with pytest.raises(GiroError, match="GB of the GPU's memory"):
            simulate(text, problem, rounds=200, runs=40, seed=1, engine="cuda")
    finally:
        pool.set_limit(size=0)
    assert (whole.reward == chunks.reward).all()
