"""What every value has: its fields, equality, copies with a change, and no change in place."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

import skillyard as sy
from skillyard.value import NamedTuple, Value, put
from tests.tables import for_each

VALUES: list[Any] = [
    sy.Query("x", ("a.py",), include_references=True),
    sy.SelectionPolicy(2, 0.5, ("ops",), (), "general"),
    sy.Skill("acct", "Bills.", "Body.", tags=("a",), metadata={"k": [1]}, path="p"),
]


class Point(Value):
    __slots__ = ("x", "y")

    x: int
    y: int

    def __init__(self, x: int, y: int = 0) -> None:
        put(self, "x", x)
        put(self, "y", y)


class Other(Point):
    __slots__ = ()


def test_fields_come_by_name_in_order() -> None:
    assert list(Point(1, 2).fields().items()) == [("x", 1), ("y", 2)]
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"


def test_values_of_one_type_are_equal_when_all_fields_are() -> None:
    assert Point(1) == Point(1, 0)
    assert hash(Point(1)) == hash(Point(1, 0))
    assert Point(1) != Point(2)
    assert Point(1) != Other(1)
    assert Point(1) != (1, 0)


def test_no_field_can_be_set_or_removed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match=r"Point is immutable; use replace\(x=…\)"):
        point.x = 2
    with pytest.raises(AttributeError, match="Point is immutable"):
        del point.x
    with pytest.raises(AttributeError):
        point.z = 1
    assert point == Point(1)


def test_a_copy_has_the_named_fields_changed_and_no_others() -> None:
    assert Point(1, 2).replace(y=3) == Point(1, 3)
    assert Point(1, 2).replace() == Point(1, 2)
    with pytest.raises(TypeError):
        Point(1, 2).replace(z=3)


@for_each("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_survive_pickling_and_copying(value: Any) -> None:
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value
        assert hash(again) == hash(value)
        assert type(again) is type(value)


@for_each("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_made_anew_from_its_fields_is_the_same(value: Any) -> None:
    assert type(value)(**value.fields()) == value
    assert value.replace() == value
    for name in value.fields():
        with pytest.raises(AttributeError):
            setattr(value, name, None)


class Made(NamedTuple):
    """A tuple with a docstring."""

    first: int
    second: str = "x"
    third: tuple[int, ...] = ()

    def doubled(self) -> int:
        return 2 * self.first

    @classmethod
    def of(cls, text: str) -> Made:
        return cls(len(text), second=text)


class Peer(typing.NamedTuple):
    """A tuple with a docstring."""

    first: int
    second: str = "x"
    third: tuple[int, ...] = ()


def test_a_tuple_of_ours_behaves_as_a_named_tuple_does() -> None:
    for ours, theirs in zip(_uses(Made), _uses(Peer), strict=True):
        assert str(ours).replace("Made", "Peer") == str(theirs)
    assert Made.__doc__ == Peer.__doc__
    assert (Made.__module__, Made.__qualname__) == (__name__, "Made")
    assert Made(4).doubled() == 8
    assert Made.of("four") == (4, "four", ())
    assert not hasattr(Made(1), "__dict__")


def _uses(made: Any) -> list[object]:
    """Return what comes of each use of a tuple of three fields: a value or an error."""
    uses: list[Callable[[], object]] = [
        lambda: made(1),
        lambda: made(1, "b", (3,)),
        lambda: made(third=(1,), first=2),
        lambda: made(),
        lambda: made(1, 2, 3, 4),
        lambda: made(1, fourth=2),
        lambda: made(1, first=2),
        lambda: made(1)._replace(second="y"),
        lambda: made(1)._asdict(),
        lambda: made._make([1, 2, 3]),
        lambda: made._make([1]),
        lambda: made._fields,
        lambda: made._field_defaults,
        lambda: made.__match_args__,
        lambda: made.second.__doc__,
        lambda: made(1) == (1, "x", ()),
        lambda: hash(made(1)) == hash((1, "x", ())),
        lambda: list(inspect.signature(made).parameters),
        lambda: made(5)[0] + made(5).first,
        lambda: setattr(made(1), "first", 2),
        lambda: copy.deepcopy(made(1, [2])),
        lambda: pickle.loads(pickle.dumps(made(1))) == made(1),
    ]
    found: list[object] = []
    for use in uses:
        try:
            found.append(use())
        except (TypeError, AttributeError) as error:
            found.append(f"{type(error).__name__}: {error}")
    with pytest.raises((TypeError, ValueError), match="fourth"):
        made(1)._replace(fourth=2)
    return found


@for_each("count", range(20))
def test_a_tuple_may_have_any_number_of_fields(count: int) -> None:
    names = [f"field_{number}" for number in range(count)]
    body = "".join(f"    {name}: int = {place}\n" for place, name in enumerate(names))
    space: dict[str, Any] = {"NamedTuple": NamedTuple, "__name__": __name__}
    source = (
        "from __future__ import annotations\nclass Many(NamedTuple):\n    __annotations__ = {}\n"
    )
    exec(source + body, space)
    many = space["Many"]
    assert many() == tuple(range(count))
    assert many(**dict.fromkeys(names, -1)) == (-1,) * count
    assert many(*([7] * count))._asdict() == dict.fromkeys(names, 7)
    with pytest.raises(TypeError):
        many(*range(count + 1))
