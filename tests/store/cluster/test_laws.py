"""The laws of the fault run find what they are there for."""

from __future__ import annotations

from typing import Any

from tests.store.cluster.clients import Seen
from tests.store.cluster.journal import FAMILIES, MEMBERS, Entry, State
from tests.store.cluster.laws import Past, backwards, lost, untrue, wrong
from tests.tables import for_each

AMBER, BASIL = FAMILIES
ALL = frozenset(f"amber-{member}" for member in range(MEMBERS + 1))
TAKEN_OVER = 3
JOURNAL = [
    Entry("amber", State(1, True), 1, True, 0, 1.0),
    Entry("amber", State(1, False), 2, False, 0, 2.0),
    Entry("basil", State(1, True), 3, True, 0, 3.0),
    Entry("amber", State(2, True), 4, False, 0, 4.0),  # on the killed primary alone
    Entry("basil", State(1, False), None, False, 0, 5.0),  # nobody was told
    Entry("amber", State(3, True), 4, True, 1, 12.0),
]
PAST = Past(
    {
        "amber": [(1, State(1, True)), (2, State(1, False)), (4, State(3, True))],
        "basil": [(3, State(1, True))],
    },
    JOURNAL,
    TAKEN_OVER,
)
TAKEN_OVER_AT = 10.0


def seen(
    generation: int, numbers: set[int], began: float = 3.5, guest: bool = True, **more: Any
) -> Seen:
    """Return a ranking of the first family, complete and of age 0 unless said otherwise."""
    names = ALL if guest else ALL - {AMBER.guest}
    told = Seen(0, 1, "rank", AMBER, began, began + 0.1, 200, generation, "0", frozenset(numbers))
    return told._replace(**{"names": frozenset(names), **more})


@for_each(
    "one",
    [
        seen(1, {1}),
        seen(3, {1}, guest=False),
        seen(4, {2}),  # before the standby took over
        seen(4, {3}),  # and after it
        seen(1, {1}, kind="select", names=frozenset({"amber-2"})),
    ],
)
def test_an_answer_that_is_its_generation_is_right(one: Seen) -> None:
    assert list(wrong(PAST, [one], {})) == []


@for_each(
    "one",
    [
        seen(1, {1, 2}),  # a mixture
        seen(1, {2}),  # another generation's
        seen(2, {1}),  # the guest had left
        seen(1, {1}, guest=False),  # or not yet
        seen(1, {1}, kind="select", names=frozenset()),
        seen(4, {1}, guest=False),  # neither of the two fourth ones
        seen(1, {1}, status=503, said="unavailable"),
        seen(1, {1}, status=0),
        seen(1, {1}, age="unknown"),
    ],
)
def test_one_that_is_not_is_wrong(one: Seen) -> None:
    assert len(list(wrong(PAST, [one], {}))) == 1


def test_only_a_node_that_was_killed_may_leave_a_request_without_an_answer() -> None:
    gone = seen(0, set(), status=0)
    assert list(wrong(PAST, [gone], {(0, 1): 3.0})) == []
    assert len(list(wrong(PAST, [gone], {(0, 1): 4.0}))) == 1
    assert len(list(wrong(PAST, [gone], {(1, 1): 3.0}))) == 1
    assert len(list(wrong(PAST, [gone._replace(status=503)], {(0, 1): 3.0}))) == 1


def test_a_change_without_an_answer_may_have_been_seen_before_the_standby_took_over() -> None:
    basil = frozenset(f"basil-{member}" for member in range(MEMBERS))
    one = seen(5, {1}, family=BASIL, names=basil)
    assert list(wrong(PAST, [one], {})) == []
    assert len(list(wrong(PAST, [one._replace(generation=3)], {}))) == 1


def test_a_node_goes_back_once_and_only_when_the_standby_took_over() -> None:
    fine = [seen(3, {1}, 1), seen(4, {2}, 2), seen(3, {1}, 11, guest=False), seen(4, {3}, 13)]
    assert list(backwards(PAST, fine, TAKEN_OVER_AT)) == []
    early = [seen(3, {1}, 1), seen(2, {1}, 2)]
    assert len(list(backwards(PAST, early, TAKEN_OVER_AT))) == 1
    twice = [*fine, seen(3, {1}, 14, guest=False)]
    assert len(list(backwards(PAST, twice, TAKEN_OVER_AT))) == 1
    both = [*fine[:3], seen(4, {2}, 13)]  # what only the killed primary had, once more
    assert len(list(backwards(PAST, both, TAKEN_OVER_AT))) == 1
    others = [seen(4, {3}, 12), seen(3, {1}, 13, node=1), seen(3, {1}, 14, life=2)]
    assert list(backwards(PAST, others, TAKEN_OVER_AT)) == []
    at_once = [seen(4, {3}, 12, ended=13.0), seen(3, {1}, 12.5, ended=14.0)]
    assert list(backwards(PAST, at_once, TAKEN_OVER_AT)) == []


def test_an_answer_is_as_new_as_it_says() -> None:
    assert list(untrue(PAST, JOURNAL, [seen(3, {1}, 12.9), seen(4, {3}, 20)])) == []
    assert len(list(untrue(PAST, JOURNAL, [seen(3, {1}, 20)]))) == 1
    assert list(untrue(PAST, JOURNAL, [seen(3, {1}, 20, age="8")])) == []
    # What was given up with the primary is missed by nobody.
    assert list(untrue(PAST, JOURNAL, [seen(3, {1}, 9)])) == []


def test_what_was_acknowledged_is_there_unless_it_was_local_and_its_server_died() -> None:
    assert list(lost(PAST, JOURNAL, 4)) == []
    promised = Entry("amber", State(2, True), 4, True, 0, 4.0)
    assert len(list(lost(PAST, [promised], 4))) == 1
    other = Entry("basil", State(7, True), 3, False, 0, 4.0)
    assert len(list(lost(PAST, [other], 4))) == 1
    beyond = Entry("amber", State(3, True), 5, False, 1, 12.0)
    assert len(list(lost(PAST, [beyond], 4))) == 1
