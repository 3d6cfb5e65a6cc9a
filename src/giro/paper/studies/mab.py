"""Giro against UCB1, KL-UCB and Thompson sampling (Kveton et al., 2019, Section 6.1)."""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from giro.paper.claims import (
    Claim,
    Comparison,
    Played,
    beats,
    grows_logarithmically,
    judge,
    verdict_record,
)
from giro.paper.study import Outcome, Study, show_results, show_test, tables_of
from giro.policy import Policy
from giro.problem import Problem
from giro.simulation.metrics import final_record
from giro.simulation.simulate import Experiment
from giro.simulation.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDS, RUNS = 10_000, 100

BERNOULLI, *BETA = PROBLEMS = tuple(
    Problem.parse(text).text for text in ("bernoulli", "beta:v=4", "beta:v=16")
)
UCB1, KL_UCB, THOMPSON = "ucb1", "kl-ucb:c=3", "thompson"
GIRO = tuple(Policy.parse(f"giro:a={a}").text for a in ("1", "1/3", "1/10"))  # in decreasing order
POLICIES = (*GIRO, UCB1, KL_UCB, THOMPSON)
KL_UCB_GREEDIER = "kl-ucb:c=0"  # the paper does not say which c it uses

TITLES = dict(zip(PROBLEMS, ("Bernoulli", "beta, v = 4", "beta, v = 16"), strict=True))
LABELS = {
    GIRO[0]: "Giro, a = 1",
    GIRO[1]: "Giro, a = 1/3",
    GIRO[2]: "Giro, a = 1/10",
    UCB1: "UCB1",
    KL_UCB: "KL-UCB",
    THOMPSON: "TS",
}


def experiment(
    *, rounds: int = ROUNDS, runs: int = RUNS, seed: int = 0, also: Sequence[str] = ()
) -> Experiment:
    """Return the paper's experiment, with KL-UCB's other c and any further policies."""
    further = [Policy.parse(text).text for text in also]
    policies = list(dict.fromkeys([*POLICIES, *further, KL_UCB_GREEDIER]))
    return Experiment(PROBLEMS, policies, rounds, runs, seed)


def study(*, rounds: int, runs: int, seed: int, also: Sequence[str]) -> Study:
    """Return the study of the paper's first figure, with further policies."""
    command = f"giro reproduce mab --rounds {rounds} --runs {runs} --seed {seed}"
    return Study(
        command + (f" --with {','.join(also)}" if also else ""),
        partial(_outcome, also, runs),
        [experiment(rounds=rounds, runs=runs, seed=seed, also=also)],
    )


def _outcome(also: Sequence[str], runs: int, traces: list[Trace], complete: bool) -> Outcome:
    """Return final numbers and claims, with those for KL-UCB's c = 0 apart."""
    shown = {*POLICIES, *(Policy.parse(text).text for text in also)}
    drawn = [trace for trace in traces if trace.setting.policy in shown]
    ours = claims(traces) if complete else []
    verdicts = judge(ours + variants(traces)) if complete else []  # one family
    records = [verdict_record(verdict) for verdict in verdicts]
    greedier = [trace for trace in traces if trace.setting.policy == KL_UCB_GREEDIER]

    def show() -> None:
        show_results(traces, verdicts, runs=runs)
        if verdicts:
            show_test(sum(len(verdict.findings) for verdict in verdicts))

    def figures() -> "dict[str, Figure]":
        from giro.plots import regret_figure  # noqa: PLC0415  # quick start without matplotlib

        return {"regret": regret_figure(drawn, names=TITLES | LABELS)}

    document = {
        "finals": [final_record(trace) for trace in drawn],
        "claims": records[: len(ours)],
        "variants": {
            "finals": [final_record(trace) for trace in greedier],
            "claims": records[len(ours) :],
        },
    }
    return Outcome(tables_of(traces, verdicts), document, show, figures)


def claims(traces: Sequence[Trace]) -> list[Claim]:
    """Return the paper's claims about these traces."""
    played = Played(traces)
    smaller_a = [
        beats(played(less, problem), played(more, problem))
        for problem in PROBLEMS
        for more, less in itertools.pairwise(GIRO)
    ]
    thompson = "Giro with a = 1/10 beats Thompson sampling in both beta problems"
    bernoulli = "KL-UCB and Thompson sampling beat Giro in the Bernoulli problem"
    growth = [grows_logarithmically(played(giro, p)) for p in PROBLEMS for giro in GIRO]
    return [
        Claim(
            "1", "Giro beats UCB1 in all problems for all a", _giro_beats(played, UCB1, PROBLEMS)
        ),
        Claim(
            "2",
            "Giro beats KL-UCB in both beta problems for all a",
            _giro_beats(played, KL_UCB, BETA),
        ),
        Claim("3", thompson, [beats(played(GIRO[2], p), played(THOMPSON, p)) for p in BETA]),
        Claim("4", "Giro's regret increases with a", smaller_a),
        Claim("5", bernoulli, _beaten_by(played, KL_UCB, THOMPSON)),
        Claim("6", "Giro's regret grows logarithmically", growth),
    ]


def variants(traces: Sequence[Trace]) -> list[Claim]:
    """Return the claims about KL-UCB, with c = 0 instead of 3."""
    played = Played(traces)
    beta = "Giro beats KL-UCB with c = 0 in both beta problems for all a"
    bernoulli = "KL-UCB with c = 0 beats Giro in the Bernoulli problem"
    return [
        Claim("2, c = 0", beta, _giro_beats(played, KL_UCB_GREEDIER, BETA)),
        Claim("5, c = 0", bernoulli, _beaten_by(played, KL_UCB_GREEDIER)),
    ]


def _giro_beats(played: Played, rival: str, problems: Sequence[str]) -> list[Comparison]:
    pairs = itertools.product(problems, GIRO)
    return [beats(played(giro, problem), played(rival, problem)) for problem, giro in pairs]


def _beaten_by(played: Played, *rivals: str) -> list[Comparison]:
    pairs = itertools.product(rivals, GIRO)
    return [beats(played(rival, BERNOULLI), played(giro, BERNOULLI)) for rival, giro in pairs]
