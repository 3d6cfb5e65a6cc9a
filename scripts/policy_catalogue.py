"""Write docs/policies.md: every policy, model and problem, with its source and its cost.

Parameters, descriptions and sources come from the code. Costs of a round, guarantees and advice are
in this file.
"""

import inspect
from pathlib import Path
from typing import Any

from giro import Policy, Problem
from giro.model import Model
from giro.models.hashed import Hashed
from giro.models.linear import Linear
from giro.named import Named, defaults, summary, text_of

PAGE = Path(__file__).parents[1] / "docs" / "policies.md"

# One round with K arms, s rewards of an arm so far, t of all arms, d features, B replicas.
POLICY_COSTS = {
    "besa": "K - 1 duels: O(1) each for rewards 0 and 1, else O(s) of the shorter history",
    "bootstrap": "at most O(K) for rewards 0 and 1, whatever s is; O(t) for others",
    "bootstrap-thompson": "at most O(K) for rewards 0 and 1, whatever s is; for others O(t), or "
    "with `exponential` weights as `npts`",
    "contextual-giro": "K fits to samples of all of the past; with `linear` O(t d² + K d³)",
    "cover": "N K predictions, for N policies, to choose and again to learn, and N updates",
    "default": "as `giro` without contexts, else as `rand-ucb:model=auto`",
    "ensemble": "O(K) to choose, O(B) to learn; with contexts O(K d²) and O(d² + B d)",
    "epsilon-greedy": "O(K); with a model K predictions, and a fit of the pulled arm to learn",
    "fastcb": "as `squarecb`",
    "giro": "at most O(K) for rewards 0 and 1, whatever s is; hardly grows with s for others, "
    "but with a `window` is O(s) to learn",
    "giro-ensemble": "K predictions to choose; with `linear` O(B d²) to learn, whatever s is",
    "glm-ucb": "O(K d²) to choose; a fit to the arm's past, starting from the last, to learn",
    "greedy": "as `epsilon-greedy`",
    "gloc": "O(K d²) to choose; O(d²) to learn, O(d³) where parameters are projected",
    "imed": "O(K), and logarithms for arms that could have the least index",
    "kl-ucb": "O(K), and solving for the bounds that could be the highest",
    "lin-phe": "O(t d + K d²)",
    "lin-post": "O(K d²)",
    "lin-reboot": "O(K d) to choose, O(d²) to learn",
    "lin-ts": "O(K d²); where it forgets O(K d³) to choose",
    "lin-ucb": "O(K d²); where it forgets O(K d³) to choose",
    "log-phe": "K fits to all of the past, a few passes each",
    "maillard": "O(K), and logarithms for the few arms that could be drawn",
    "neural-linear": "O(d h + K h²), for h hidden units; every 50 rewards some steps, and O(t h²)",
    "neural-ts": "O(K d h) for h hidden units, and a few steps to learn, whatever s is",
    "neural-ucb": "as `neural-ts`",
    "npts": "at most O(K) for rewards 0 and 1, whatever s is; for others O(s) up to s = 128, above "
    "that O(√s) on average",
    "ol2m": "as `gloc`",
    "online-bootstrap": "O(K) to choose, O(B) to learn",
    "phe": "at most O(K), whatever s is",
    "poisson-bootstrap": "as `giro-ensemble`",
    "pts": "O(P (s + s_u) k² + P (K + U) k), for P particles, rank k, and s_u rewards of U users",
    "rand-ucb": "O(K d²), where it forgets O(K d³); with a model also K predictions, and its cost "
    "to learn",
    "randomized": "K calls of your function, each with s rewards; not compiled",
    "reboot": "K normal draws, whatever s is",
    "sda": "K - 1 duels: O(1) each with `last`, `random` and, of rewards 0 and 1, `sample`, else "
    "O(s) of the shorter history; with `worst` O(log t) on average",
    "squarecb": "K predictions to choose, and the model's cost to learn",
    "thompson": "at most O(K), whatever s is",
    "tree-bootstrap": "a few passes through all of the past",
    "ucb-glm": "O(K d²) to choose; a fit to the arm's past, starting from the last, to learn",
    "ucb1": "O(K)",
    "uniform": "O(1)",
    "weighted-bootstrap": "O(K), whatever s is; for `exponential` weights of rewards other than 0 "
    "and 1 as `npts`",
}

# What is proven of the regret after n rounds. "limit": that of Lai and Robbins.
LINEAR, LOGISTIC = "√n where means are linear", "√n where log odds are linear"
GUARANTEES = {
    **dict.fromkeys(("lin-phe", "lin-reboot", "lin-ts", "lin-ucb", "rand-ucb"), LINEAR),
    **dict.fromkeys(("glm-ucb", "gloc", "ol2m", "ucb-glm"), LOGISTIC),
    "fastcb": "√n if the model can be right, less where the best arms hardly ever lose",
    "squarecb": "√n if the model can be right",
    "besa": "logarithmic for two arms",
    "bootstrap": "linear: it can fail for ever",
    "epsilon-greedy": "logarithmic with `b`",
    "giro": "logarithmic for 0 and 1, `a` > 1/√2",
    "greedy": "linear: it can fail for ever",
    "imed": "the limit for 0 and 1, else logarithmic",
    "kl-ucb": "the limit for 0 and 1, else logarithmic",
    "maillard": "the limit for 0 and 1, else logarithmic",
    "npts": "the limit for rewards in [0, 1]",
    "phe": "logarithmic, `a` > 1",
    "reboot": "logarithmic for normal rewards",
    "sda": "the limit for 0 and 1, and for many families that need not be known",
    "thompson": "the limit for 0 and 1, else logarithmic",
    "ucb1": "logarithmic",
    "uniform": "linear",
}

# Fitting to n rows of d features, and whether one more row can be learned without the others.
MODEL_COSTS = {
    "auto": "those of its members; ever less for those that lose",
    "boosting": "scikit-learn's; not compiled",
    "estimator": "that of the estimator; not compiled",
    "extra-trees": "O(n d log n) per tree; one more row O(d log n) on average",
    "hashed": "O(n z), for z nonzero features and products; one more row O(z)",
    "linear": "O(n d² + d³); one more row O(d²)",
    "linear-sgd": "O(n d) per pass, up to 1000 passes",
    "logistic": "O(n d²) per step, few steps from the last fit",
    "logistic-sgd": "O(n d) per pass, up to 1000 passes",
    "network": "O(n d h) per pass, for h hidden units",
    "online-logistic": "O(n d²); one more row O(d²)",
    "online-network": "O(n d h) per pass; one more row O(d h), for h hidden units",
    "tree": "O(n d) per level",
}

HEAD = """\
# Policies, models, problems

<!-- Written by scripts/policy_catalogue.py, which `make docs` runs: change that, or the code. -->

`giro simulate`, `giro.simulate` and `giro.Bandit` take these names, with parameters after a colon:
`giro:a=1/3`, `contextual-giro:model=[logistic:penalty=2]`. The page shows the defaults. A parameter
without a default is given from Python.
"""

WHICH = """
## Which one when

| you have | take | because |
| --- | --- | --- |
| no idea | `default` | it is `giro` without contexts, and weighs several models with them |
| clicks or sales, no contexts | `thompson`, `maillard` | near the [limit](family.md), and exact \
propensities at little cost |
| ratings, revenue: rewards inside (0, 1) | `npts`, `giro:a=1/10`, `sda` | they use the whole \
distribution of rewards; `npts` reaches the [limit](family.md) for all |
| rewards that come late or in batches | `giro`, `thompson`, `maillard` | they go on exploring \
[meanwhile](production.md#rewards-that-come-late); `ucb1`, `kl-ucb` and `imed` repeat one arm |
| a choice that anybody can repeat by hand | `imed`, `kl-ucb` | no randomness but in ties |
| a world that changes | `thompson`, `default`, `rand-ucb`, `lin-ucb` with a `half_life` | they \
[forget](howto/drift.md) |
| contexts in columns | `default`, `fastcb:model=auto` | first and second in the \
[bake-off](bakeoff.md) |
| the same, in less time | `rand-ucb`, `lin-ucb:scale=0.3` | the best linear ones there |
| arms with features, words, arms that come and go | `default`, \
`poisson-bootstrap:model=hashed,spread=0.3` | one model of [all arms](howto/arms-with-features.md) |
| your own model | `epsilon-greedy`, `giro-ensemble`, `contextual-giro` | they \
[wrap](howto/own-model.md) any estimator |
| your own way to explore | `randomized` | a function of the rewards of an arm |
"""

POLICIES = """
## Policies

**Features of arms** says whether all arms can share one model, so that [arms may come and
go](howto/arms-with-features.md). Policies with `hashed` also take `model=hashed`, with which
features need no fixed columns.

**Propensities** are the probabilities that `giro.Bandit` logs. *Exact* is the probability with
which the policy chooses the arm. *Exact for 0 and 1* is exact until the first reward in between,
then estimated. *Estimated* means that the policy is asked until it chooses the same arm again, and
one over that number is logged. With `votes=100`, a `floor` or a `share`, the probabilities of all
arms are estimated instead.

Costs are those of a round with K arms, s rewards of an arm and t of all arms so far, d features and
B replicas or models. **Regret** is what is proven of its growth over n rounds: see [how far from
the limit](family.md) policies without contexts are. With contexts it is proven for the widths of
the theory, which explore more than the defaults, up to factors of log n.

| policy | contexts | features of arms | propensities | regret | cost of a round |
| --- | --- | --- | --- | --- | --- |
"""

MODELS = """
## Models

`contextual-giro`, `giro-ensemble`, `poisson-bootstrap`, `greedy`, `epsilon-greedy`, `squarecb`,
`fastcb`, `cover` and `rand-ucb` fit a model for each arm, or one for all arms if these have
[features](howto/arms-with-features.md). A scikit-learn estimator becomes an `estimator`: [give your
model exploration](howto/own-model.md).

| model | cost of a fit to n rows of d features |
| --- | --- |
"""

PROBLEMS = """
## Problems

| problem | parameters | what it does | source |
| --- | --- | --- | --- |
"""


def catalogue(listed: str | None = None) -> str:
    """Return the page, of all policies and models or of those listed on a page."""
    policies, models = (
        [cls for name, cls in kind.known().items() if listed is None or f"### {name}\n" in listed]
        for kind in (Policy, Model)
    )
    parts = [
        HEAD + WHICH + POLICIES + "".join(map(_policy_row, policies)),
        *map(_entry, policies),
        MODELS + "".join(f"| `{m.name}` | {MODEL_COSTS.get(m.name, '')} |\n" for m in models),
        *map(_entry, models),
        PROBLEMS + "".join(f"{row(problem)}\n" for problem in Problem.known().values()),
    ]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def row(cls: type[Named]) -> str:
    """Return a policy or problem as a row of a table."""
    shown = (
        key if value is ... else f"{key}={text_of(value)}" for key, value in defaults(cls).items()
    )
    source = getattr(cls, "source", "")
    cells = (f"`{cls.name}`", ", ".join(f"`{text}`" for text in shown), summary(cls), source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _policy_row(cls: type[Policy]) -> str:
    cells = (
        f"[`{cls.name}`](#{cls.name})",
        _contexts(cls),
        _arm_features(cls),
        _propensities(cls),
        GUARANTEES.get(cls.name, ""),
        POLICY_COSTS.get(cls.name, ""),
    )
    return f"| {' | '.join(cells)} |\n"


def _contexts(cls: type[Policy]) -> str:
    """Return whether contexts change its choices, in words."""
    if not _with_model(cls, Linear()).uses_contexts:
        return ""
    return "yes" if _as_it_is(cls).uses_contexts else "with a model"


def _arm_features(cls: type[Policy]) -> str:
    """Return whether it takes features of arms, and whether these may be hashed, in words.

    The answer comes from a policy, not from its class: in some classes it depends on the model.
    """
    if not _with_model(cls, Linear()).uses_arm_features:
        return ""
    if not _contexts(cls):
        return "ignored"
    known = "yes" if _as_it_is(cls).uses_arm_features else "with a model"
    return f"{known}; `hashed`" if _with_model(cls, Hashed()).hashes_features else known


def _with_model(cls: type[Policy], model: Model) -> Policy:
    """Return a policy of this class as it is with contexts, around a model if it takes one."""
    given = {"model": model} if "model" in defaults(cls) else {}
    return _example(cls, **given).resolved(contextual=True)


def _as_it_is(cls: type[Policy]) -> Policy:
    """Return a policy of this class with its defaults, as it is with contexts."""
    return _example(cls).resolved(contextual=True)


def _example(cls: type[Policy], **given: Any) -> Policy:
    """Return a policy with its defaults, or any function where there is none."""
    return cls(**{key: max for key, value in defaults(cls).items() if value is ...}, **given)


def _propensities(cls: type[Policy]) -> str:
    """Return how `giro.Bandit` gets propensities, without contexts and, if it can, with them."""
    known = _known_propensities(_example(cls).resolved(contextual=False), shared=False)
    if not _contexts(cls):
        return known
    policy = _with_model(cls, Linear())
    within, shared = (_known_propensities(policy, shared=shared) for shared in (False, True))
    if within != known:
        known = f"{known}; with contexts {within}"
    if policy.uses_arm_features and shared != within:
        known = f"{known}; with features of arms {shared}"
    return known


def _known_propensities(policy: Policy, *, shared: bool) -> str:
    if policy.has_propensities(binary=False, shared=shared):
        return "exact"
    binary = policy.has_propensities(binary=True, shared=shared)
    return "exact for 0 and 1" if binary else "estimated"


def _entry(cls: type[Named]) -> str:
    """Return a section with the parameters and the docstring."""
    shown = [k if v is ... else f"{k}={text_of(v)}" for k, v in defaults(cls).items()]
    parameters = f"`{cls.name}:{','.join(shown)}`" if shown else f"`{cls.name}`"
    rest = inspect.getdoc(cls).removeprefix(summary(cls)).split("\n>>>")[0].strip()
    source = f"*{cls.source}*"
    return "\n\n".join(filter(None, [f"### {cls.name}", parameters, summary(cls), rest, source]))


if __name__ == "__main__":
    PAGE.write_text(catalogue(), "utf-8")
