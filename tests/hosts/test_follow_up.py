"""Which messages go on with the skill of their task, which pause it, and which end it."""

from __future__ import annotations

from functools import cache

import pytest

import skillyard as sy
from skillyard.hosts.follow_up import MAX_TURNS, Memory, follow_up
from tests.shared_data import REPOSITORY
from tests.worked_examples.making import skill

CSV = "clean this messy csv export, its umlauts are broken"

GOES_ON = """
semicolon
yes
no
ok
go ahead
yes, do that
no, keep the original dates
the second one
option b
42
both
use tabs instead
as utf-8 please
now in German
and the other file?
try again
continue
undo that
why?
make it shorter
do the same for the rest
what about the umlauts?
can you also fix the header row?
write it to out.csv
but keep the empty columns as they are
ja
das zweite
jetzt auf Deutsch
und die andere Datei?
oui
et l'autre fichier ?
sí, el otro archivo
継続
да
""".strip().splitlines()
PAUSES = """
thanks
thank you!
great, thanks
good morning
tell me a joke
danke
bye
""".strip().splitlines()
ENDS = """
sing me a sea shanty about whales
how are you today?
what's the weather like tomorrow?
explain the theory of relativity to a child
is it going to rain tomorrow?
who won the world cup in 1998?
what time is it?
rename the function parse to read_all in the module a.py
plan a birthday party for my daughter
给我写一首关于大海和鲸鱼的歌，要有三段，每段四行，并且押韵，最好适合小朋友
""".strip().splitlines()
OTHERS = {
    "tune this slow sql query": "sql-query-tuning",
    "find the commit that broke the build": "git-bisect",
    "write unit tests for the parser with pytest": "pytest-units",
    "and now tune this slow sql query": "sql-query-tuning",
}


@cache
def catalog() -> sy.Catalog:
    return sy.load_catalog(REPOSITORY / "examples" / "skills")


def after(memory: Memory, request: str) -> tuple[Memory, bool]:
    return follow_up(memory, request, sy.select(catalog(), request))


def cleaning() -> Memory:
    memory, is_due = after(Memory(), CSV)
    assert (memory.name, memory.turns, is_due) == ("csv-cleaning", 0, True)
    return memory


def test_there_are_fifty_follow_ups() -> None:
    assert len(GOES_ON) + len(PAUSES) + len(ENDS) + len(OTHERS) >= 50


@pytest.mark.parametrize(
    ("request_", "name", "due"),
    [
        *((each, "csv-cleaning", True) for each in GOES_ON),
        *((each, "csv-cleaning", False) for each in PAUSES),
        *((each, "", False) for each in ENDS),
        *((each, name, True) for each, name in OTHERS.items()),
    ],
)
def test_a_message_goes_on_with_its_task_pauses_or_ends_it(
    request_: str, name: str, due: bool
) -> None:
    memory, is_due = after(cleaning(), request_)
    assert (memory.name, is_due) == (name, due)


@pytest.mark.parametrize("request_", ["semicolon", "yes", "the second one", "thanks", ""])
def test_without_a_task_there_is_nothing_to_go_on_with(request_: str) -> None:
    assert after(Memory(), request_) == (Memory(), False)


def test_a_task_that_nothing_speaks_of_ends_at_last() -> None:
    memory = cleaning()
    for turn in range(1, MAX_TURNS + 1):
        memory, is_due = after(memory, "yes")
        assert (memory.turns, is_due) == (turn, True)
    assert after(memory, "yes") == (memory.end(), False)
    assert after(memory, CSV)[0].turns == 0


def test_a_generalist_comes_after_the_task() -> None:
    policy = sy.SelectionPolicy(fallback_tag="generalist")
    skills = [skill("csv", "Clean csv exports."), skill("any", "Anything.", tags=("generalist",))]

    def name_after(memory: Memory, request: str) -> str:
        selection = sy.select(skills, request, policy, "overlap")
        return follow_up(memory, request, selection)[0].name

    memory = Memory().begin(skills[0])
    assert name_after(memory, "yes") == "csv"
    assert name_after(memory, "sing me a sea shanty about whales") == "any"


def test_texts_are_known_as_they_were_given() -> None:
    old, new = (skill("csv", "Clean.", body) for body in ("a", "b"))
    memory = Memory().begin(old).with_text(old).with_text(old)
    assert memory.is_of(new)
    assert memory.texts == (old.hash,)
    assert new.hash not in memory.texts
    assert memory.end() == Memory().with_text(old)
