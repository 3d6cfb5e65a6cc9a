"""Named: dataclasses that are written as text and read back ("giro:a=1/3")."""

import contextlib
import dataclasses
import functools
import importlib
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

from giro.checks import Needed, among, check
from giro.errors import BadParameter, UnknownName

_LONGEST_DECIMAL = 6  # 0.25 is shown as it is, 0.3333333333333333 as 1/3


@dataclasses.dataclass(frozen=True)
class Named:
    """A frozen dataclass that registers itself when it is defined, and has a text form.

    A direct subclass names a kind (`class Policy(Named, kind="policy")`) and, as `home`, the
    package of those that come with giro, which is imported when one is asked for. Its subclasses
    name themselves (`class Giro(Policy, name="giro")`), and `Policy.parse("giro:a=2")` finds them.
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    _home: ClassVar[str] = ""  # the package of those that come with giro
    _known: ClassVar[dict[str, type[Any]]] = {}

    def __init_subclass__(
        cls, *, name: str = "", kind: str = "", home: str = "", **rest: Any
    ) -> None:
        """Register the subclass under its name."""
        super().__init_subclass__(**rest)
        if kind:
            cls.kind, cls._home, cls._known = kind, home, {}
        if name:
            cls.name = name
            cls._known[name] = cls

    def __post_init__(self) -> None:
        """Check each parameter with a need, as `a: Annotated[float, POSITIVE]`.

        Of a `Literal` it needs one of the words.
        """
        cls: Any = type(self)
        for name, needed in _needs(cls):
            check(self.name, needed, **{name: getattr(self, name)})

    @classmethod
    def known(cls) -> dict[str, type[Self]]:
        """Return every registered class of this kind by name, in alphabetical order."""
        if cls._home:
            importlib.import_module(cls._home)
        return dict(sorted(cls._known.items()))

    @classmethod
    def parse(cls, text: str | Self) -> Self:
        """Return the object that `text` describes.

        An object of this kind is returned unchanged. The form is `name` or
        `name:parameter=value,...`. Numbers may be fractions (1/3). Brackets enclose lists
        ([0.7,0.4]) and values with parameters of their own ([logistic:penalty=2]). `none` leaves
        an optional parameter out.
        """
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            raise BadParameter(f"expected a {cls.kind} or its text, got {text!r}")
        name, _, parameters = text.strip().partition(":")
        known = cls.known()
        if name not in known:
            raise UnknownName(cls.kind, name, known=known)
        subclass, given = known[name], _split_parameters(name, parameters)
        hints, wanted = _hints(subclass), defaults(subclass)
        for key in given:
            if key not in wanted:
                raise UnknownName(f"parameter of {name}", key, known=wanted)
        for key, default in wanted.items():
            if default is ... and key not in given:
                way_out = f"as in {name}:{key}=..." if has_text(subclass) else "use it from Python"
                raise BadParameter(f"{name} needs {key}, {way_out}")
        values = {key: _value(hints[key], value, f"{name}:{key}") for key, value in given.items()}
        return subclass(**values)

    @property
    def text(self) -> str:
        """The text from which `parse` makes an equal object."""
        parameters = [f"{key}={text_of(value)}" for key, value in self.shown().items()]
        return f"{self.name}:{','.join(parameters)}" if parameters else self.name

    def shown(self) -> Mapping[str, Any]:
        """Return the parameters that belong in the text.

        These are the positional ones that are not None, and the keyword-only ones that differ from
        their default.
        """
        return {
            field.name: value
            for field in _parameters(type(self))
            if (value := getattr(self, field.name)) != field.default
            or (not field.kw_only and value is not None)
        }

    def __str__(self) -> str:
        """Return the text form."""
        return self.text


_read_hints: dict[type[Named], dict[str, Any]] = {}


def _hints(cls: type[Named]) -> dict[str, Any]:
    """Return the types of the parameters of a registered class, which take long to read."""
    if cls not in _read_hints:
        _read_hints[cls] = typing.get_type_hints(cls)
    return _read_hints[cls]


@functools.cache
def _needs(cls: type[Any]) -> list[tuple[str, Needed]]:
    """Return the needs of the parameters of a class, as their types say."""
    needs = []
    for field in _parameters(cls):
        needs += [(field.name, needed) for needed in getattr(field.type, "__metadata__", ())]
        if typing.get_origin(field.type) is typing.Literal:
            needs.append((field.name, among(typing.get_args(field.type))))
    return needs


def defaults(cls: type[Named]) -> dict[str, Any]:
    """Return the parameters of a registered class with their defaults, `...` for none."""
    missing = dataclasses.MISSING
    return {
        field.name: ... if field.default is missing else field.default for field in _parameters(cls)
    }


def has_text(cls: type[Named]) -> bool:
    """Return whether objects of this class can be made from text (a function cannot be)."""
    hints = _hints(cls)
    return all(_is_readable(hints[field.name]) for field in _parameters(cls))


def check_word(word: str) -> None:
    """Check that a word can be written in a text form and read back."""
    if set(word) & set(",[]") or word.strip() != word or word == "none":
        raise BadParameter(f"'{word}' cannot be part of the text of a problem: rename it")


def summary(cls: type[Named]) -> str:
    """Return the first line of the docstring."""
    return (inspect.getdoc(cls) or "").split("\n")[0]


def _parameters(cls: type[Named]) -> list[dataclasses.Field[Any]]:
    """Return the fields that a caller sets, keyword-only ones last.

    A field with `init=False` follows from the others.
    """
    fields = [field for field in dataclasses.fields(cls) if field.init]
    return sorted(fields, key=lambda field: field.kw_only is True)


def text_of(value: Any) -> str:  # noqa: PLR0911  # one case for each kind of value
    """Return the shortest text of one value that loses no digit.

    >>> text_of(1.0), text_of(1 / 3), text_of(0.1), text_of((0.7, 0.4)), text_of(None)
    ('1', '1/3', '0.1', '[0.7,0.4]', 'none')
    """
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case float():
            return _number_text(float(value))  # the repr of a NumPy number contains its type
        case Named():
            return f"[{value.text}]" if ":" in value.text else value.text
        case tuple() | list():
            return f"[{','.join(text_of(inner) for inner in value)}]"
        case _ if callable(value):
            return getattr(value, "__name__", type(value).__name__)
        case _:
            return str(value)


def _number_text(value: float) -> str:
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    decimal = repr(value)
    if len(decimal) > _LONGEST_DECIMAL and math.isfinite(value):
        near = Fraction(value).limit_denominator(1000)
        if near.numerator / near.denominator == value:
            return f"{near.numerator}/{near.denominator}"
    return decimal


def _split_parameters(name: str, text: str) -> dict[str, str]:
    """Return the texts of the parameters in "a=1,means=[0.7,0.4]"."""
    pairs: dict[str, str] = {}
    for part in _split(text):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key or not value.strip():
            raise BadParameter(f"parameters of {name} look like a=1,b=2, got {part!r}")
        if key in pairs:
            raise BadParameter(f"{name} was given {key} twice")
        pairs[key] = value.strip()
    return pairs


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    if not text.strip():
        return []
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth != 0:
        raise BadParameter(f"brackets do not match in {text!r}")
    return [part.strip() for part in parts]


def _value(hint: Any, text: str, where: str) -> Any:
    """Return the value of type `hint` that `text` stands for."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value_of_any(inner, text, where)
    if origin is typing.Literal:
        if text not in inner:
            raise BadParameter(f"{where} is one of {', '.join(inner)}; got '{text}'")
        return text
    if origin is tuple:
        if not (text.startswith("[") and text.endswith("]")):
            raise BadParameter(f"{where} is a list like [0.7,0.4], got '{text}'")
        return tuple(_value(inner[0], part, where) for part in _split(text[1:-1]))
    if _is_named(hint):
        return hint.parse(text[1:-1] if text.startswith("[") and text.endswith("]") else text)
    if hint in _READERS:
        return _READERS[hint](text, where)
    raise BadParameter(f"{where} cannot be written as text: use it from Python")


def _value_of_any(hints: tuple[Any, ...], text: str, where: str) -> Any:
    """Return the value for the first type that `text` fits.

    If it fits none, the error is that of the first type.
    """
    if text == "none" and type(None) in hints:
        return None
    first, *others = (hint for hint in hints if hint is not type(None))
    try:
        return _value(first, text, where)
    except BadParameter:
        if not others:
            raise
        with contextlib.suppress(BadParameter):
            return _value_of_any(tuple(others), text, where)
        raise


def _is_readable(hint: Any) -> bool:
    """Return whether a value of type `hint` can be written as text."""
    if hint in _READERS or hint is type(None) or typing.get_origin(hint) is typing.Literal:
        return True
    if _is_named(hint):
        return True
    inner = [kind for kind in typing.get_args(hint) if kind is not ...]
    listed = typing.get_origin(hint) in (tuple, typing.Union, types.UnionType)
    return listed and all(_is_readable(kind) for kind in inner)


def _is_named(hint: Any) -> bool:
    """Return whether a value of type `hint` is itself a `Named`."""
    return isinstance(hint, type) and issubclass(hint, Named)


def _read_number(text: str, where: str) -> float:
    try:
        value = float(Fraction(text.replace(" ", ""))) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise BadParameter(f"{where} is a number like 0.5 or 1/3, got '{text}'") from None
    if math.isnan(value):
        raise BadParameter(f"{where} is a number, got '{text}'")
    return value


def _read_integer(text: str, where: str) -> int:
    value = _read_number(text, where)
    if not value.is_integer():
        raise BadParameter(f"{where} is a whole number, got '{text}'")
    return int(value)


def _read_truth(text: str, where: str) -> bool:
    if text not in ("true", "false"):
        raise BadParameter(f"{where} is true or false, got '{text}'")
    return text == "true"


_READERS: dict[Any, Callable[[str, str], Any]] = {
    float: _read_number,
    int: _read_integer,
    bool: _read_truth,
    str: lambda text, where: text,
}
