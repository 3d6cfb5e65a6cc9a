"""Contextual Giro against LinUCB, LinTS and ε-greedy (Kveton et al., 2019, Section 6.2)."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from giro.cli.output import print_line
from giro.errors import UnknownName
from giro.paper.claims import Claim, Comparison, Played, earns_more, earns_the_same, judge
from giro.paper.study import Outcome, Study, show_results, show_test, tables_of
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.experiment import Experiment
from giro.simulation.metrics import pairable
from giro.simulation.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Fit: TypeAlias = Literal["exact", "sgd"]

PAPER, QUICK = (50_000, 5), (5_000, 2)  # rounds and runs
DATA = ("statlog", "covertype", "adult")
MODELS = ("linear", "logistic", "network")
SGD = {"linear": "linear-sgd", "logistic": "logistic-sgd", "network": "network"}
COMPARABLE = 0.02  # difference in reward per round up to which two policies are called comparable
LIN_UCB, LIN_TS, UCB_GLM = (Policy.parse(name).text for name in ("lin-ucb", "lin-ts", "ucb-glm"))
WIDTH_ONE = tuple(Policy.parse(f"{name}:scale=1").text for name in ("lin-ucb", "lin-ts"))
POISSON = Policy.parse("poisson-bootstrap").text
BEYOND = {  # what the paper does not show, and what it is called in figures
    Policy.parse(text).text: name
    for text, name in (
        (WIDTH_ONE[0], "LinUCB, width 1"),
        (WIDTH_ONE[1], "LinTS, width 1"),
        ("giro-ensemble", "Giro ensemble"),
        ("lin-phe", "LinPHE"),
        (POISSON, "Poisson bootstrap"),
        ("tree-bootstrap", "Tree bootstrap"),
        ("giro-ensemble:model=boosting,replicas=5", "Giro ensemble, boosting"),
    )
}


class Setup(NamedTuple):
    """How contexts are scaled and linear and logistic models are fitted.

    The paper does not say how contexts were scaled. Its models were fitted by scikit-learn's
    stochastic gradient "until the error drops below 1e-3", whatever that error is (`fit=sgd`);
    exactly fitted ones (`exact`) differ from the paper.
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
        """Return the policies of the paper's figure, and UCB-GLM, which it left out."""
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
    """Return the paper's experiment with policies beyond it, or with these policies only."""
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

    Data sets and policies are those that this call plays. Judged are all kept runs of the paper's
    policies, of those beyond it and of those named.
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
    whole = experiment(setup, rounds=rounds, runs=most, seed=seed, also=further)
    return Study(
        f"giro reproduce contextual --scale {scale} --rounds {rounds} --runs {most} --seed {seed} "
        f"--contexts {setup.scale} --fit {setup.fit}"
        + (f" --with {','.join(further)}" if further else ""),
        partial(_outcome, setup, most),
        [part],
        judged=whole.work,
        runs=most,
    )


def _outcome(setup: Setup, runs: int, traces: list[Trace], _: bool) -> Outcome:
    family = judge(claims(setup, traces), family=n_comparisons())
    apart = [*judge(width_claims(setup, traces)), *judge(poisson_claims(setup, traces))]
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

    tables = tables_of(traces, verdicts)
    document = {"finals": tables["finals"], "claims": tables["claims"]}
    return Outcome(tables, document, show, partial(figures, setup, traces))


def figures(setup: Setup, traces: Sequence[Trace]) -> "dict[str, Figure]":
    """Return the paper's figure, its upper part, and all else beside linear Giro."""
    from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

    inside = [trace for trace in traces if trace.setting.policy in setup.policies()]
    beyond = [trace for trace in traces if trace.setting.policy not in setup.policies()]
    same = [trace for trace in inside if trace.setting.policy == setup.giro("linear")]
    drawn = {"reward": inside, "reward-closer": inside, "beyond": same + beyond if beyond else []}
    return {
        name: regret_figure(
            several, metric="reward", names=names(setup), closer=name == "reward-closer"
        )
        for name, several in drawn.items()
        if several
    }


def names(setup: Setup) -> dict[str, str]:
    """Return what problems and policies are called in the figure."""
    short = {"linear": "lin", "logistic": "log", "network": "nn"}
    titles = dict(zip(DATA, ("Statlog", "CovType", "Adult"), strict=True))
    return (
        {setup.problem(name): title for name, title in titles.items()}
        | {setup.giro(model): f"Giro-{suffix}" for model, suffix in short.items()}
        | {setup.greedy(model): f"EG-{suffix}" for model, suffix in short.items()}
        | {LIN_UCB: "LinUCB", LIN_TS: "LinTS", UCB_GLM: "UCB-GLM"}
        | BEYOND
    )


def claims(setup: Setup, traces: Sequence[Trace]) -> list[Claim]:
    """Return what the paper claims, as far as these traces can tell."""
    return _as_far_as_played(_claims(_Judge(setup, Played(traces))))


def width_claims(setup: Setup, traces: Sequence[Trace]) -> list[Claim]:
    """Return the claim that depends on widths, with those that practice prefers to theory's."""
    judge = _Judge(setup, Played(traces))
    text = "LinUCB and LinTS with width 1 perform worst"
    return _as_far_as_played([("1, width 1", text, judge.are_worst(WIDTH_ONE))])


def poisson_claims(setup: Setup, traces: Sequence[Trace]) -> list[Claim]:
    """Return what the paper says without a figure: Giro earns more than Tang et al. (2015).

    It does not say with which models; linear ones are compared. That it earns as much as the trees
    of Elmachtoub et al. (2017) in less time is not judged, for want of a like model.
    """
    judge = _Judge(setup, Played(traces))
    text = "Linear Giro beats the Poisson bootstrap"
    return _as_far_as_played([("8", text, judge.giro_beats(POISSON))])


_Asked: TypeAlias = tuple[str, str, Iterator[Comparison | None]]


def n_comparisons() -> int:
    """Return how many comparisons the paper's claims make, played or not."""
    return sum(len(list(comparisons)) for *_, comparisons in _claims(_Judge(Setup(), Played([]))))


def _as_far_as_played(asked: Iterable[_Asked]) -> list[Claim]:
    found = []
    for number, text, comparisons in asked:
        all_of_it = list(comparisons)
        there = [comparison for comparison in all_of_it if comparison]
        found.append(Claim(number, text, there, missing=len(all_of_it) - len(there)))
    return [claim for claim in found if claim.comparisons]


def _claims(judge: "_Judge") -> Iterator[_Asked]:
    yield "1", "LinUCB and LinTS perform worst", judge.are_worst((LIN_UCB, LIN_TS))
    yield "2", f"Linear Giro and ε-greedy are within {COMPARABLE}", judge.linear_ones_are_alike()
    yield "3", "On Adult, linear Giro beats linear ε-greedy", judge.giro_explores_adult()
    yield "4", "Logistic models beat linear ones", judge.better("logistic", "linear", DATA)
    yield "5", "Networks beat logistic models", judge.better("network", "logistic", DATA[:2])
    yield "6", "On Adult the network is the worst model", judge.network_is_worst()
    yield "7", "UCB-GLM is worse than the other baselines", judge.glm_explores_too_much()


class _Judge(NamedTuple):
    """The comparisons behind each claim, None where something was not played."""

    setup: Setup
    played: Played

    def are_worst(self, rivals: Sequence[str]) -> Iterator[Comparison | None]:
        """Compare all others with both."""
        for data, rival in itertools.product(DATA, rivals):
            for model in _not_said_to_be_worst(data):
                for policy in (self.setup.giro(model), self.setup.greedy(model)):
                    yield self._more(policy, rival, data)

    def linear_ones_are_alike(self) -> Iterator[Comparison | None]:
        for data in DATA[:2]:
            both = self._both(self.setup.giro("linear"), self.setup.greedy("linear"), data)
            yield earns_the_same(*both, margin=COMPARABLE) if both else None

    def giro_explores_adult(self) -> Iterator[Comparison | None]:
        yield self._more(self.setup.giro("linear"), self.setup.greedy("linear"), "adult")

    def giro_beats(self, rival: str) -> Iterator[Comparison | None]:
        for data in DATA:
            yield self._more(self.setup.giro("linear"), rival, data)

    def better(self, model: str, other: str, data: Sequence[str]) -> Iterator[Comparison | None]:
        for name, make in itertools.product(data, (self.setup.giro, self.setup.greedy)):
            yield self._more(make(model), make(other), name)

    def network_is_worst(self) -> Iterator[Comparison | None]:
        for make, model in itertools.product((self.setup.giro, self.setup.greedy), MODELS[:2]):
            yield self._more(make(model), make("network"), "adult")

    def glm_explores_too_much(self) -> Iterator[Comparison | None]:
        for data in DATA:
            for policy in (LIN_UCB, LIN_TS, *map(self.setup.greedy, _not_said_to_be_worst(data))):
                yield self._more(policy, UCB_GLM, data)

    def _more(self, winner: str, loser: str, data: str) -> Comparison | None:
        both = self._both(winner, loser, data)
        return earns_more(*both) if both else None

    def _both(self, first: str, second: str, data: str) -> tuple[Trace, Trace] | None:
        """Return the traces of both, None if no instance was met by one and the other."""
        problem = self.setup.problem(data)
        one, other = self.played.find(first, problem), self.played.find(second, problem)
        if one is None or other is None or not pairable(one, other):
            return None
        return (one, other) if np.intersect1d(one.runs, other.runs).size else None


def _not_said_to_be_worst(data: str) -> Sequence[str]:
    """Return the models, on Adult without the network, which claim 6 says is worst."""
    return MODELS[:2] if data == "adult" else MODELS
