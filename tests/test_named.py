"""Parameters with a name, to text and back."""

import dataclasses
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giro import BadParameter, Policy, Problem, UnknownName
from giro.kernels.highest.ties import Ties  # which `tie_ranking` checks, too
from giro.model import Model
from giro.named import Named, defaults, has_text, summary, text_of


class Tool(Named, kind="tool"):
    """A kind of things for these tests."""


@dataclass(frozen=True)
class Hammer(Tool, name="hammer"):
    """Hits nails.

    Also thumbs.
    """

    weight: float = 1.0
    nails: int = 3
    sizes: tuple[float, ...] | None = None
    grip: Literal["wood", "steel"] = field(default="wood", kw_only=True)
    loud: bool = field(default=True, kw_only=True)
    label: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Saw(Tool, name="saw"):
    """Cuts."""

    teeth: tuple[float, ...] | tuple[tuple[float, ...], ...]
    pitch: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pitch", 1.0 / len(self.teeth))


@dataclass(frozen=True)
class Robot(Tool, name="robot"):
    """Does what a function says."""

    act: Callable[[], int]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("hammer", Hammer()),
        (" hammer ", Hammer()),
        ("hammer:", Hammer()),
        ("hammer:weight=1/3", Hammer(1 / 3)),
        ("hammer:weight=2.5e-3,nails=7", Hammer(0.0025, 7)),
        ("hammer: weight = 2 , nails = 7", Hammer(2.0, 7)),
        ("hammer:sizes=[0.7,1/4]", Hammer(sizes=(0.7, 0.25))),
        ("hammer:sizes=[]", Hammer(sizes=())),
        ("hammer:sizes=none", Hammer()),
        ("hammer:grip=steel,loud=false", Hammer(grip="steel", loud=False)),
        ("saw:teeth=[1,2]", Saw((1.0, 2.0))),
        ("saw:teeth=[[1,2],[3]]", Saw(((1.0, 2.0), (3.0,)))),
    ],
)
def test_text_is_read(text: str, tool: Tool) -> None:
    assert Tool.parse(text) == tool


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hammer:weight", "look like a=1,b=2, got 'weight'"),
        ("hammer:weight=", "look like a=1,b=2"),
        ("hammer:=1", "look like a=1,b=2"),
        ("hammer:weight=1,,nails=2", "look like a=1,b=2, got ''"),
        ("hammer:weight=1,weight=2", "hammer was given weight twice"),
        ("hammer:weight=heavy", "hammer:weight is a number like 0.5 or 1/3, got 'heavy'"),
        ("hammer:weight=nan", "hammer:weight is a number, got 'nan'"),
        ("hammer:weight=1/0", "is a number like"),
        ("hammer:nails=2.5", "hammer:nails is a whole number, got '2.5'"),
        ("hammer:nails=inf", "is a whole number"),
        ("hammer:sizes=0.7", "hammer:sizes is a list like"),
        ("hammer:sizes=[0.7", "brackets do not match"),
        ("hammer:sizes=[0.7,x]", "is a number like 0.5 or 1/3, got 'x'"),
        ("hammer:grip=gold", "hammer:grip is one of wood, steel; got 'gold'"),
        ("hammer:loud=yes", "hammer:loud is true or false"),
        ("saw", "saw needs teeth, as in saw:teeth=..."),
        ("saw:teeth=[1,x]", "saw:teeth is a number like 0.5 or 1/3, got 'x'"),
        ("robot", "robot needs act, use it from Python"),
        ("robot:act=1", "robot:act cannot be written as text"),
    ],
)
def test_text_that_is_wrong_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadParameter) as refusal:
        Tool.parse(text)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hamer", "no tool is called 'hamer'; did you mean 'hammer'?"),
        ("", "no tool is called ''"),
        ("hammer:wait=1", "no parameter of hammer is called 'wait'"),
        ("saw:pitch=1", "no parameter of saw is called 'pitch'"),
    ],
)
def test_unknown_names_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(UnknownName) as refusal:
        Tool.parse(text)
    assert str(refusal.value).startswith(complaint)


def test_an_object_is_returned_as_it_is_and_another_kind_of_thing_refused() -> None:
    hammer = Hammer()
    assert Tool.parse(hammer) is hammer
    with pytest.raises(BadParameter, match="expected a tool or its text, got 3"):
        Tool.parse(3)  # type: ignore[arg-type]  # it is refused


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        (Hammer(), "hammer:weight=1,nails=3"),
        (Hammer(1 / 3), "hammer:weight=1/3,nails=3"),
        (Hammer(np.float64(0.123456789)), "hammer:weight=0.123456789,nails=3"),
        (Hammer(sizes=(0.5,)), "hammer:weight=1,nails=3,sizes=[0.5]"),
        (Hammer(loud=False), "hammer:weight=1,nails=3,loud=false"),
        (Saw(((1.0, 0.5), (3.0,))), "saw:teeth=[[1,0.5],[3]]"),
    ],
)
def test_text_shows_positional_parameters_always_and_others_when_changed(
    tool: Tool, text: str
) -> None:
    assert str(tool) == tool.text == text
    assert Tool.parse(text) == tool


@settings(deadline=None)
@given(weight=st.floats(allow_nan=False), sizes=st.none() | st.lists(st.floats(allow_nan=False)))
def test_no_digit_is_lost_on_the_way_to_text_and_back(
    weight: float, sizes: list[float] | None
) -> None:
    hammer = Hammer(weight, sizes=None if sizes is None else tuple(sizes))
    assert Tool.parse(hammer.text) == hammer


def test_what_is_known_is_in_alphabetical_order_and_apart_from_other_kinds() -> None:
    assert list(Tool.known()) == ["hammer", "robot", "saw"]


def test_defaults_and_summary_describe_a_class() -> None:
    assert defaults(Saw) == {"teeth": ...}
    assert defaults(Hammer)["weight"] == 1.0
    assert summary(Hammer) == "Hits nails."


def test_a_class_with_a_function_among_its_parameters_has_no_text() -> None:
    assert has_text(Hammer)
    assert has_text(Saw)
    assert not has_text(Robot)
    assert text_of(len) == "len"


@pytest.mark.parametrize("kind", [Policy, Problem, Model])
def test_every_parameter_with_a_need_refuses_what_does_not_meet_it(kind: type[Named]) -> None:
    tried = 0
    for cls in kind.known().values():
        for one in dataclasses.fields(cls):
            needs = getattr(one.type, "__metadata__", ())
            if needs or (typing.get_origin(one.type) is Literal and one.type != Ties):
                given = {name: value for name, value in defaults(cls).items() if value is not ...}
                if len(given) == len(defaults(cls)):
                    tried += 1
                    with pytest.raises(BadParameter, match=f"needs .*{one.name}"):
                        cls(**(given | {one.name: "neither a number nor such a word"}))
    assert tried > 10
