"""What every value has: its fields, equality, copies with a change, and no change in place."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import skillyard as sy
from skillyard.value import Value, put

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


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_survive_pickling_and_copying(value: Any) -> None:
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value
        assert hash(again) == hash(value)
        assert type(again) is type(value)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_made_anew_from_its_fields_is_the_same(value: Any) -> None:
    assert type(value)(**value.fields()) == value
    assert value.replace() == value
    for name in value.fields():
        with pytest.raises(AttributeError):
            setattr(value, name, None)
