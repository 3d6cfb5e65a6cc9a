"""The paper's bounds as functions, its lemmas as checks, the exact regret of small problems."""

from giro.paper.theory.bound import (
    ArmBound,
    GiroBound,
    b_constant,
    cheapest_a,
    giro_bound,
    log_c,
    log_f,
    log_useful_rounds,
)
from giro.paper.theory.checks import Check
from giro.paper.theory.exact import exact_bootstrap_regret, exact_giro_regret, exact_regret
from giro.paper.theory.general_bound import (
    ArmTerms,
    GeneralBound,
    best_general_bound,
    general_bound,
    middle_tau,
)
from giro.paper.theory.informal_optimism import (
    informal_optimism_checks,
    informal_optimism_failures,
    optimism_exponent,
    smallest_bounded_a,
    smallest_exponent,
    smallest_optimistic_a,
    variance_condition,
)
from giro.paper.theory.laws import Law, bootstrap_law, giro_law
from giro.paper.theory.lemmas import bootstrap_checks, history_checks, stirling_checks
from giro.paper.theory.linear_regret import (
    linear_regret_bound,
    linear_regret_rows,
    sharper_linear_regret_bound,
)
from giro.paper.theory.moments import (
    Moments,
    bootstrap_moments,
    conditional_value_moments,
    history_mean_moments,
    history_moments,
    largest_history_variance,
    moment_checks,
    smallest_value_variance,
    value_moments,
)
from giro.paper.theory.optimism import (
    OptimismRow,
    log_inverse_optimism,
    log_inverse_optimism_above,
    log_optimism,
    optimism_grid,
)
from giro.paper.theory.proof_steps import OptimismChain, optimism_chain
from giro.paper.theory.pseudo import PseudoCounts, pseudo_counts

__all__ = [
    "ArmBound",
    "ArmTerms",
    "Check",
    "GeneralBound",
    "GiroBound",
    "Law",
    "Moments",
    "OptimismChain",
    "OptimismRow",
    "PseudoCounts",
    "b_constant",
    "best_general_bound",
    "bootstrap_checks",
    "bootstrap_law",
    "bootstrap_moments",
    "cheapest_a",
    "conditional_value_moments",
    "exact_bootstrap_regret",
    "exact_giro_regret",
    "exact_regret",
    "general_bound",
    "giro_bound",
    "giro_law",
    "history_checks",
    "history_mean_moments",
    "history_moments",
    "informal_optimism_checks",
    "informal_optimism_failures",
    "largest_history_variance",
    "linear_regret_bound",
    "linear_regret_rows",
    "log_c",
    "log_f",
    "log_inverse_optimism",
    "log_inverse_optimism_above",
    "log_optimism",
    "log_useful_rounds",
    "middle_tau",
    "moment_checks",
    "optimism_chain",
    "optimism_exponent",
    "optimism_grid",
    "pseudo_counts",
    "sharper_linear_regret_bound",
    "smallest_bounded_a",
    "smallest_exponent",
    "smallest_optimistic_a",
    "smallest_value_variance",
    "stirling_checks",
    "value_moments",
    "variance_condition",
]
