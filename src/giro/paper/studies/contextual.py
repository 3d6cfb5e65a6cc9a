"""Contextual Giro against LinUCB, LinTS and ε-greedy (Kveton et al., 2019, Section 6.2)."""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from giro.cli.output import print_line
from giro.errors import UnknownName
from giro.paper.claims import Claim, Comparison, Played, earns_more, earns_the_same, judge
from giro.paper.study import Outcome, Study, show_results, show_test, tables_of
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.metrics import pairable
from giro.simulation.simulate import Experiment
from giro.simulation.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Fit: TypeAlias = Literal["exact", "sgd"]

PAPER, QUICK = (50_000, 5), (5_000, 2)  # rounds and runs
DATA = ("statlog", "covertype", "adult")
MODELS = ("linear", "logistic", "network")
SGD = {"linear": "linear-sgd", "logistic": "logistic-sgd", "network": "network"}
COMPARABLE = 0.02  # largest difference in reward per round of comparable policies
LIN_UCB, LIN_TS, UCB_GLM = (Policy.parse(name).text for name in ("lin-ucb", "lin-ts", "ucb-glm"))
WIDTH_ONE = tuple(Policy.parse(f"{name}:scale=1").text for name in ("lin-ucb", "lin-ts"))
POISSON = Policy.parse("poisson-bootstrap").text
BEYOND = {  # policies that the paper does not show, and their names in figures
    Policy.parse(text).text: name
    for text, name in (
        (WIDTH_ONE[0], "LinUCB, width 1"),
        (WIDTH_ONE[1], "LinTS, width 1"),
        ("giro-ensemble:a=0.3", "Giro ensemble"),
        ("lin-phe", "LinPHE"),
        (POISSON, "Poisson bootstrap"),
        ("tree-bootstrap", "Tree bootstrap"),
        ("giro-ensemble:a=0.3,model=boosting,replicas=5", "Giro ensemble, boosting"),
    )
}


class Setup(NamedTuple):
    """The scaling of contexts, and the fitting of linear and logistic models.

    The paper does not say how contexts were scaled. Its models were fitted by scikit-learn's
    stochastic gradient "until the error drops below 1e-3", whatever that error is (`fit=sgd`).
    Models fitted exactly (`exact`) differ from the paper.
    """

    scale: str = "column"
    fit: Fit = "exact"

    def problem(self, data: str) -> str:
        """Return the text of the problem."""
        if data not in DATA:
            raise UnknownName("data set of the paper", data, known=DATA)
        return Problem.parse(f"classification:data={data},scale={self.scale}").text

    def giro(self, model: str) -> str:
        """Return the text of contextual Giro with this model."""
        return Policy.parse(f"contextual-giro:a=1,model={self._fitted(model)}").text

    def greedy(self, model: str) -> str:
        """Return the text of ε-greedy that explores in 1 % of all rounds, with this model."""
        return Policy.parse(f"epsilon-greedy:share=0.01,model={self._fitted(model)}").text

    def _fitted(self, model: str) -> str:
        return SGD[model] if self.fit == "sgd" else model

    def policies(self) -> list[str]:
        """Return the policies of the paper's figure, and UCB-GLM, which the figure omits."""
        learned = [make(model) for make in (self.giro, self.greedy) for model in MODELS]
        return [*learned, LIN_UCB, LIN_TS, UCB_GLM]


def experiment(
    setup: Setup,
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    data: Sequence[str] = DATA,
    policies: Sequence[str] = (),
    also: Sequence[str] = (),
) -> Experiment:
    """Return the paper's experiment with further policies, or with these policies only."""
    problems = [setup.problem(name) for name in data]
    chosen = [*(policies or [*setup.policies(), *BEYOND]), *also]
    texts = [Policy.parse(text).text for text in chosen]
    return Experiment(problems, list(dict.fromkeys(texts)), rounds, runs, seed)


def study(
    setup: Setup,
    *,
    scale: str,
    rounds: int | None,
    runs: int | None,
    seed: int,
    data: Sequence[str],
    policies: Sequence[str],
    also: Sequence[str],
) -> Study:
    """Return the study of the paper's second figure.

    This call plays the given data sets and policies. It judges all kept runs of the paper's
    policies, of the further ones and of those named.
    """
    usual = PAPER if scale == "paper" else QUICK
    rounds = usual[0] if rounds is None else rounds
    runs = usual[1] if runs is None else runs
    part = experiment(
        setup, rounds=rounds, runs=runs, seed=seed, data=data, policies=policies, also=also
    )
    named = dict.fromkeys(Policy.parse(text).text for text in [*policies, *also])
    further = [text for text in named if text not in (*setup.policies(), *BEYOND)]
    most = max(runs, usual[1])  # others may have been played before
    judged = experiment(setup, rounds=rounds, runs=most, seed=seed, also=further)
    return Study(
        f"giro reproduce contextual --scale {scale} --rounds {rounds} --runs {most} --seed {seed} "
        f"--contexts {setup.scale} --fit {setup.fit}"
        + (f" --with {','.join(further)}" if further else ""),
        partial(_outcome, setup, most),
        [part],
        judged=judged.work,
        runs=most,
        by_comparison=True,
    )


def _outcome(setup: Setup, runs: int, all_traces: list[Trace], _: bool) -> Outcome:
    """Judge by all versions' traces, and show the first of each policy on each problem."""
    newest = {(t.setting.policy, t.setting.problem): t for t in reversed(all_traces)}
    traces = list(reversed(newest.values()))
    family = judge(claims(setup, all_traces), family=n_comparisons())
    apart = [*judge(width_claims(setup, all_traces)), *judge(poisson_claims(setup, all_traces))]
    verdicts = [*family, *apart]

    def show() -> None:
        show_results(traces, verdicts, runs=runs)
        if verdicts:
            show_test(n_comparisons())
        if apart:
            print_line(
                "Not among the trends that the paper lists, and each a family with its own level: "
                + "; ".join(verdict.number for verdict in apart)
                + "."
            )

    tables = tables_of(traces, verdicts, curves=False)
    document = {"finals": tables["finals"], "claims": tables["claims"]}
    return Outcome(tables, document, show, partial(figures, setup, traces))


def figures(setup: Setup, traces: Sequence[Trace]) -> "dict[str, Figure]":
    """Return the paper's figure, its upper part, and all other policies beside linear Giro."""
    from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

    inside = [trace for trace in traces if trace.setting.policy in setup.policies()]
    beyond = [trace for trace in traces if trace.setting.policy not in setup.policies()]
    linear = [trace for trace in inside if trace.setting.policy == setup.giro("linear")]
    drawn = {"reward": inside, "reward-closer": inside, "beyond": linear + beyond if beyond else []}
    return {
        name: regret_figure(
            several, metric="reward", names=figure_names(setup), closer=name == "reward-closer"
        )
        for name, several in drawn.items()
        if several
    }


def figure_names(setup: Setup) -> dict[str, str]:
    """Return the names of problems and policies in the figure."""
    short = {"linear": "lin", "logistic": "log", "network": "nn"}
    titles = dict(zip(DATA, ("Statlog", "CovType", "Adult"), strict=True))
    return (
        {setup.problem(name): title for name, title in titles.items()}
        | {setup.giro(model): f"Giro-{suffix}" for model, suffix in short.items()}
        | {setup.greedy(model): f"EG-{suffix}" for model, suffix in short.items()}
        | {LIN_UCB: "LinUCB", LIN_TS: "LinTS", UCB_GLM: "UCB-GLM"}
        | BEYOND
    )


class _Pair(NamedTuple):
    """Two policies, the first of which should earn more, or as much up to a margin."""

    first: str
    second: str
    data: str
    margin: float | None = None


_Asked: TypeAlias = tuple[str, str, list[_Pair]]  # number, text, comparisons


def _asked(setup: Setup) -> list[_Asked]:
    """Return the trends that the paper lists."""
    giro, greedy, both = setup.giro, setup.greedy, (setup.giro, setup.greedy)
    linear = (giro("linear"), greedy("linear"))
    alike = [_Pair(*linear, data, COMPARABLE) for data in DATA[:2]]
    logistic = [_Pair(make("logistic"), make("linear"), data) for data in DATA for make in both]
    network = [_Pair(make("network"), make("logistic"), data) for data in DATA[:2] for make in both]
    worst = [_Pair(make(model), make("network"), "adult") for make in both for model in MODELS[:2]]
    glm = [
        _Pair(policy, UCB_GLM, data)
        for data in DATA
        for policy in (LIN_UCB, LIN_TS, *map(greedy, _not_said_to_be_worst(data)))
    ]
    return [
        ("1", "LinUCB and LinTS perform worst", _worst(setup, (LIN_UCB, LIN_TS))),
        ("2", f"Linear Giro and ε-greedy are within {COMPARABLE}", alike),
        ("3", "On Adult, linear Giro beats linear ε-greedy", [_Pair(*linear, "adult")]),
        ("4", "Logistic models beat linear ones", logistic),
        ("5", "Networks beat logistic models", network),
        ("6", "On Adult the network is the worst model", worst),
        ("7", "UCB-GLM is worse than the other baselines", glm),
    ]


def _worst(setup: Setup, rivals: Sequence[str]) -> list[_Pair]:
    """Compare all models with each of the rivals."""
    return [
        _Pair(make(model), rival, data)
        for data, rival in itertools.product(DATA, rivals)
        for model in _not_said_to_be_worst(data)
        for make in (setup.giro, setup.greedy)
    ]


def _not_said_to_be_worst(data: str) -> Sequence[str]:
    """Return the models, without the network on Adult, which claim 6 says is worst."""
    return MODELS[:2] if data == "adult" else MODELS


def claims(setup: Setup, traces: Sequence[Trace]) -> list[Claim]:
    """Return the paper's claims, as far as these traces can decide them."""
    return _as_far_as_played(_asked(setup), setup, traces)


def n_comparisons() -> int:
    """Return the number of comparisons in the paper's claims, played or not."""
    return sum(len(pairs) for *_, pairs in _asked(Setup()))


def width_claims(setup: Setup, traces: Sequence[Trace]) -> list[Claim]:
    """Return the claim that depends on widths, with the widths used in practice."""
    text = "LinUCB and LinTS with width 1 perform worst"
    return _as_far_as_played([("1, width 1", text, _worst(setup, WIDTH_ONE))], setup, traces)


def poisson_claims(setup: Setup, traces: Sequence[Trace]) -> list[Claim]:
    """Return the paper's claim without a figure, that Giro earns more than Tang et al. (2015).

    The paper does not say with which models. We compare linear ones. That Giro earns as much as the
    trees of Elmachtoub et al. (2017) in less time is not judged, for lack of a similar model.
    """
    pairs = [_Pair(setup.giro("linear"), POISSON, data) for data in DATA]
    asked = [("8", "Linear Giro beats the Poisson bootstrap", pairs)]
    return _as_far_as_played(asked, setup, traces)


def _as_far_as_played(
    asked: Sequence[_Asked], setup: Setup, traces: Sequence[Trace]
) -> list[Claim]:
    """Return the claims with any runs, and their numbers of missing comparisons."""
    claims, played = [], Played(traces)
    for number, text, pairs in asked:
        comparisons = [c for pair in pairs if (c := _comparison(pair, setup, played))]
        if comparisons:
            missing = len(pairs) - len(comparisons)
            claims.append(Claim(number, text, comparisons, missing=missing))
    return claims


def _comparison(pair: _Pair, setup: Setup, played: Played) -> Comparison | None:
    """Compare two policies by the version with most runs of both, or return None without one."""
    problem = setup.problem(pair.data)
    pairs = [
        (first, second)
        for first in played.find_all(pair.first, problem)
        for second in played.find_all(pair.second, problem)
        if pairable(first, second) and np.intersect1d(first.runs, second.runs).size
    ]
    if not pairs:
        return None
    first, second = max(pairs, key=lambda two: np.intersect1d(two[0].runs, two[1].runs).size)
    if pair.margin is None:
        return earns_more(first, second)
    return earns_the_same(first, second, margin=pair.margin)
