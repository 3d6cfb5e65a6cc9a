"""As much computing as the paper's comparison: three problems, six policies, 100 runs each."""

from collections.abc import Iterator

from ratio import Play, Ratio, in_turn

PROBLEMS = ("bernoulli", "beta:v=4", "beta:v=16")
POLICIES = ("giro:a=1", "giro:a=1/3", "giro:a=1/10", "ucb1", "kl-ucb", "thompson")
SECONDS = 30.0


def everything(*, quick: bool) -> Iterator[Ratio]:
    """Seconds on two cores against the 30 allowed, compiling not counted."""
    rounds = 1_000 if quick else 10_000
    plays = [Play(policy, problem, rounds, 100, 2) for problem in PROBLEMS for policy in POLICIES]
    works = {f"{play.policy} on {play.problem}": play.compiled() for play in plays}
    costs = in_turn(works, repeats=1 if quick else 2)
    slowest = max(costs, key=lambda name: costs[name].cpu)
    yield Ratio.at_most(
        f"3 problems x 6 policies x 100 runs x {rounds:,} rounds on two cores",
        ours=sum(cost.wall for cost in costs.values()),
        theirs=SECONDS,
        bar=1.0,
        unit="s",
        note=f"{sum(cost.cpu for cost in costs.values()):.1f} s of processor time, "
        f"{costs[slowest].cpu:.1f} of them {slowest}",
    )
