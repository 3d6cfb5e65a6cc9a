"""Figures: what is drawn, and that the same numbers give the same file."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from simulation.traces import small_trace

from giro import BadParameter, Trace, simulate
from giro.plots import Beside, bound_figure, regret_figure, save


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [
        simulate(policy, problem, rounds=100, runs=5, points=10)
        for problem in ("bernoulli", "beta")
        for policy in ("ucb1", "greedy", "uniform")
    ]


def test_every_problem_has_a_panel_and_every_policy_a_curve_with_a_band(
    traces: list[Trace],
) -> None:
    figure = regret_figure(traces)
    assert len(figure.axes) == 2
    for panel in figure.axes:
        assert len(panel.lines) == len(panel.collections) == 3
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["ucb1", "greedy", "uniform"]


def test_limits_are_lines_of_the_log_of_rounds_in_their_panels(traces: list[Trace]) -> None:
    text = traces[0].setting.problem
    figure = regret_figure(traces, limits={text: 7.0}, names={text: "zeros and ones"})
    with_limit, without = figure.axes
    assert [len(panel.lines) for panel in figure.axes] == [4, 3]
    limit = with_limit.lines[-1]
    x, y = np.asarray(limit.get_xdata()), np.asarray(limit.get_ydata())
    assert y == pytest.approx(7.0 * np.log(x))
    assert figure.legends[0].get_texts()[-1].get_text() == "limit"
    assert without.get_title().startswith("beta")


def test_two_runs_have_no_band_and_bands_do_not_stretch_the_axis_of_rewards() -> None:
    two = small_trace([[0.0, 0.0], [9.0, 9.0]])
    assert len(regret_figure([two]).axes[0].collections) == 0
    totals = np.array([[0.0, 10.0], [18.0, 10.0], [9.0, 13.0]])
    wild = dataclasses.replace(small_trace([[0.0, 0.0]] * 3), reward=totals)
    rewards = wild.reward.mean(axis=0) / wild.checkpoints
    low, high = regret_figure([wild], metric="reward").axes[0].get_ylim()
    room = 0.05 * np.ptp(rewards)
    assert (low, high) == pytest.approx((rewards.min() - room, rewards.max() + room))


def test_a_closer_look_leaves_out_who_earns_less_than_half_of_the_best() -> None:
    ends = {"ucb1": 0.4, "greedy": 0.7, "uniform": 1.0}
    made = [
        dataclasses.replace(small_trace(policy=policy), reward=np.array([[1.0, 20 * end]] * 2))
        for policy, end in ends.items()
    ]
    panel = regret_figure(made, metric="reward", closer=True).axes[0]
    assert panel.get_ylim() == pytest.approx((0.7 - 0.015, 1.0 + 0.015))
    assert len(panel.lines) == 3


def test_curves_are_the_means_over_runs(traces: list[Trace]) -> None:
    line = regret_figure(traces).axes[0].lines[0]
    assert np.array_equal(line.get_xdata(), traces[0].checkpoints)
    assert np.allclose(line.get_ydata(), traces[0].regret.mean(axis=0))


def test_a_policy_looks_the_same_in_every_panel(traces: list[Trace]) -> None:
    first, second = regret_figure(traces).axes
    assert [line.get_color() for line in first.lines] == [line.get_color() for line in second.lines]


def test_rewards_can_be_drawn_instead(traces: list[Trace]) -> None:
    panel = regret_figure(traces, metric="reward").axes[0]
    assert panel.get_ylabel() == "reward per round"
    assert np.allclose(
        np.asarray(panel.lines[0].get_ydata())[-1], traces[0].reward[:, -1].mean() / 100
    )


def test_classification_is_drawn_by_its_reward_unless_asked_otherwise() -> None:
    trace = small_trace(problem="classification:data=adult,scale=column")
    assert regret_figure([trace]).axes[0].get_ylabel() == "reward per round"
    assert regret_figure([trace], metric="regret").axes[0].get_ylabel() == "cumulative regret"


@pytest.mark.parametrize("x", ["linear", "log"])
@pytest.mark.parametrize("y", ["linear", "log"])
def test_axes_have_the_scales_asked_for(traces: list[Trace], x: str, y: str) -> None:
    panel = regret_figure(traces, x=x, y=y).axes[0]  # type: ignore[arg-type]
    assert (panel.get_xscale(), panel.get_yscale()) == (x, y)


def test_one_run_is_drawn_without_a_band() -> None:
    panel = regret_figure([small_trace([[1, 2]])]).axes[0]
    assert len(panel.lines) == 1
    assert len(panel.collections) == 0


def test_traces_of_one_policy_are_told_apart_by_what_differs() -> None:
    figure = regret_figure([small_trace(seed=1), small_trace(seed=2)])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["ucb1 (seed 1)", "ucb1 (seed 2)"]


def test_a_long_problem_is_shortened_in_the_title() -> None:
    problem = f"bernoulli:means=[{','.join(['0.25'] * 200)}]"
    title = regret_figure([small_trace(problem=problem)]).axes[0].get_title()
    assert title.count("\n") == 2
    assert title.endswith("…")


def test_policies_and_problems_can_be_given_names(traces: list[Trace]) -> None:
    problem = traces[0].setting.problem
    figure = regret_figure(traces, names={"ucb1": "UCB1", problem: "coins, fair or not"})
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["UCB1", "greedy", "uniform"]
    assert figure.axes[0].get_title() == "coins, fair or not"
    first, second = figure.axes
    assert first.get_ylim() == second.get_ylim()


def test_bounds_and_exact_regret_are_drawn_beside_their_curves(traces: list[Trace]) -> None:
    bound, exact = np.linspace(0, 5, traces[0].checkpoints.size), np.array([0.1, 0.2, 0.3])
    besides = [Beside(bound, exact), Beside(), Beside()] * 2
    figure = bound_figure(traces, besides, names={})
    above, below = figure.axes[0], figure.axes[2]
    assert np.array_equal(above.lines[3].get_ydata(), bound)
    assert above.lines[3].get_color() == above.lines[0].get_color()
    assert np.array_equal(below.lines[-1].get_ydata(), exact)
    assert below.get_xlim() == (1, 3)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["ucb1", "greedy", "uniform", "lower bound", "exact"]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "PNG"])
def test_the_same_numbers_give_the_same_file(
    traces: list[Trace], tmp_path: Path, ending: str
) -> None:
    for name in ("first", "second"):
        save(regret_figure(traces), tmp_path / name / f"regret.{ending}")
    first, second = (tmp_path / name / f"regret.{ending}" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(BadParameter, match="at least one trace"):
        regret_figure([])
