"""``hybrid`` with an embedder: its candidates, its points, and that they are explained."""

from __future__ import annotations

from math import log, nan, sqrt
from pathlib import Path

import pytest

import skillyard as sy
from skillyard import Query
from skillyard.context import activate
from skillyard.engine.operations.skill_explanation import why_skill
from skillyard.engine.ranking.hybrid import HYBRID, Fusion, Hybrid
from skillyard.engine.ranking.hybrid.constants import FUSION
from skillyard.errors import EmbedderFailed
from tests.engine.embedding.letters import Letters, install
from tests.tables import for_each

SKILLS = [
    sy.Skill("zebra-quiz", "Zigzag quiz about zebras.", "# Zebra\n\nJazz."),
    sy.Skill(
        "deploy", "Deploy containers to a cluster.", "# Deploy\n\nUse the cluster.", priority=1
    ),
    sy.Skill("report", "Write a report about tests.", "# Report\n\nTables and tests."),
    sy.Skill("secret", "Zigzag quiz, secretly.", "Text.", trigger=True),
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))


def test_an_embedder_brings_candidates_that_no_word_names() -> None:
    catalog = sy.Catalog.from_skills(SKILLS)
    text = "zzqq zjaz"
    assert sy.rank(catalog, text) == []
    best = sy.rank(catalog, text, scorer=Hybrid(embedder=Letters()))[0]
    assert best.skill.name == "zebra-quiz"
    assert set(best.signals) == {"embedder"}
    assert best.signals["embedder"] == HYBRID.fusion.embedder


def test_the_reason_names_the_embedder_where_it_lifts_a_skill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = sy.Catalog.from_skills(
        [
            sy.Skill("first", "Deploy the app and deploy the cluster.", "Deploy."),
            sy.Skill("zzz-qqq", "Deploy zzz qqq jjj.", "Zzz."),
            sy.Skill("cakes", "Bake bread.", "Bread."),
        ]
    )
    scorer = Hybrid(Fusion(embedder=0.8), embedder=Letters("letters", "zqj"))
    (found,) = sy.rank(catalog, "zzqq jjzq", scorer=scorer)
    assert found.reason == "meaning by embedder: 0.99"  # 42 / (9 · √22)
    install(monkeypatch, Letters("letters", "zqj"))
    (named,) = sy.rank(catalog, "zzqq jjzq", scorer="hybrid+letters")
    assert named.reason == "meaning by letters: 0.99"
    text = "deploy the cluster ZQJ"
    order = [match.skill.name for match in sy.rank(catalog, text)]
    assert order[:2] == ["first", "zzz-qqq"]
    lifted, passed = sy.rank(catalog, text, scorer=scorer, limit=2)
    assert [lifted.skill.name, passed.skill.name] == ["zzz-qqq", "first"]
    assert "meaning by embedder: 0.96" in lifted.reason  # 15 / (√3 · 9)
    assert "meaning by" not in passed.reason


@for_each(("is_english", "text"), [(True, "write report"), (False, "schreibe mir den Bericht")])
def test_an_embedder_of_english_reads_every_text_in_english(is_english: bool, text: str) -> None:
    embedder = Letters()
    embedder.is_english = is_english
    skill = sy.Skill("bericht", "schreibe mir den Bericht", "Text.")
    hidden = sy.Skill("secret", "Zigzag quiz, secretly.", "Text.", trigger=True)
    catalog, scorer = sy.Catalog.from_skills([skill, hidden]), Hybrid(embedder=embedder)
    sy.rank(catalog, "schreibe mir den Bericht", scorer=scorer)
    assert embedder.queries == [text]
    why_skill(catalog, "secret", Query("schreibe mir den Bericht"), scorer=scorer)
    assert {*embedder.queries} == {text}
    assert embedder.asked[0].endswith(text)


def test_an_embedder_of_other_languages_reads_them_as_they_are_beside_it() -> None:
    embedder, beside = Letters(), Letters("beside")
    embedder.is_english = True
    embedder.multilingual = beside
    skills = [
        sy.Skill("bericht", "schreibe mir den Bericht", "Text."),
        sy.Skill("report", "Write a report about tests.", "Text."),
    ]
    catalog, scorer = sy.Catalog.from_skills(skills), Hybrid(embedder=embedder)
    (best, *_) = sy.rank(catalog, "lies mir den Bericht vor", scorer=scorer)
    assert (beside.queries, embedder.queries) == (["lies mir den Bericht vor"], ["lies report"])
    assert beside.asked == ["bericht. schreibe mir den Bericht"]
    assert "by letters" in str(best.explanation)
    sy.rank(catalog, "read the report to me", scorer=scorer)
    assert (len(beside.queries), embedder.queries[1:]) == (1, ["read the report to me"])


def test_an_embedder_may_read_passages_of_the_body(tmp_path: Path) -> None:
    for number in range(80):  # so many that their bodies stay on the disk
        (tmp_path / f"s{number}").mkdir()
        (tmp_path / f"s{number}" / "SKILL.md").write_text("---\nname: s\ndescription: S.\n---\n")
    path, head = tmp_path / "s0" / "SKILL.md", "---\nname: cook\ndescription: Cooks.\n---\n"
    a, b, z = (letter * 300 for letter in "abz")
    for indexed, now, asked in (
        (f"{a}\n\n{b}\n\n{z}", None, [a, z]),
        (z, b, []),  # changed since it was indexed: nothing is read, or stored for what it was
        (z, None, [z]),
        (z, None, None),  # stored
    ):
        path.write_text(head + indexed)
        catalog = sy.load_catalog(tmp_path)
        path.write_text(head + (now or indexed))
        embedder = Letters()
        embedder.passages = (2, 0.5)
        sy.rank(catalog, "zzz", scorer=Hybrid(embedder=embedder))
        read = [text for text in embedder.asked if text.startswith("cook")]
        assert read == ([] if asked is None else [f"cook. {text}" for text in ("Cooks.", *asked)])


def test_what_an_embedder_sees_set_aside_is_not_wanted() -> None:
    class Attentive(Letters):
        said: tuple[object, ...] = ()

        def asides(self, text: str) -> tuple[object, ...]:
            return self.said

    catalog, letters = sy.Catalog.from_skills(SKILLS), Attentive()
    text = "containers to the cluster deploys Rita. a report"
    end = text.find(".")
    for letters.said, first in (
        ((), "deploy"),
        (((0, end, 0.9), (end, end, 0.0), (end + 2, len(text), 0.1)), "report"),
        (((0, end, 0.1),), "deploy"),
    ):
        assert sy.rank(catalog, text, scorer=Hybrid(embedder=letters))[0].skill.name == first
    letters.said = ((0, 1),)
    with pytest.raises(EmbedderFailed, match="embedder letters: asides: "):
        sy.rank(catalog, text, scorer=Hybrid(embedder=letters))


def test_nothing_is_chosen_in_place_of_a_skill_that_only_its_user_calls() -> None:
    library = sy.Catalog.from_skills(
        [
            sy.Skill("erase-files", "Erases files and folders on a disk for good.", "Run it."),
            sy.Skill(
                *("wipe-disk", "Erases a whole disk for good, with all partitions.", "Ask twice."),
                trigger=True,
            ),
            sy.Skill("general", "Everything else.", "Help.", tags=("fallback",)),
        ]
    )
    scorer, text = Hybrid(embedder=Letters()), "erase the whole disk for good, with all partitions"
    selection = sy.select(library, text, sy.SelectionPolicy(fallback_tag="fallback"), scorer)
    assert (selection.best, selection.maybe) == (None, ())
    assert selection.left_to_user == library.get("wipe-disk")
    near = selection.rejected[0]
    assert (near.skill.name, near.rejected_because) == (
        "erase-files", "below a skill that only its user calls"
    )  # fmt: skip
    assert activate(library, text, scorer=scorer) is None
    floor = why_skill(library, "erase-files", Query(text), scorer=scorer).sentences[2]
    assert floor == "It is not chosen: what fits best is a skill that only its user calls."
    for own in (
        "erase the files and folders on this disk for good",
        "erase the disk's folders, without wiping the whole disk or its partitions",
        f"{text} /wipe-disk",
    ):
        chosen = sy.select(library, own, scorer=scorer)
        assert (chosen.best is None, chosen.left_to_user) == (False, None), own


def test_the_explanation_adds_up() -> None:
    catalog = sy.Catalog.from_skills(SKILLS)
    for match in sy.rank(catalog, "deploy the tests", scorer=Hybrid(embedder=Letters())):
        points, _ = match.explanation.parts
        assert match.explanation.value == match.score
        assert sum(part.value for part in points.parts) == pytest.approx(points.value, abs=1e-12)
        (said,) = [part for part in points.parts if part.label == "embedder"]
        assert said.value == match.signals["embedder"]
        assert "by letters" in said.note


@for_each(
    ("text", "weight"),
    [
        ("zebra quiz", 0.5),
        ("zebra quiz " * 31, 0.3),
        ("bitte das Zebra beschreiben und die Prüfung starten", 0.1),
    ],
    ids=["english", "long", "foreign"],
)
def test_an_embedder_may_weigh_itself_by_the_kind_of_request(text: str, weight: float) -> None:
    letters = Letters()
    letters.weights = (0.5, 0.3, 0.1)  # type: ignore[attr-defined]
    catalog = sy.Catalog.from_skills(SKILLS)
    matches = sy.rank(catalog, text, scorer=Hybrid(embedder=letters))
    assert max(match.signals["embedder"] for match in matches) == weight


@for_each(
    ("text", "is_english"),
    [("deploy the tests", True), ("bitte das deploy und die tests prüfen", False)],
    ids=["english", "foreign"],
)
def test_a_calibrated_embedder_counts_in_the_probability(text: str, is_english: bool) -> None:
    letters = Letters()
    letters.calibration = (-1.0, 0.5, 1.5, 2.0, 0.25, 0.5, 1.0)  # type: ignore[attr-defined]
    catalog = sy.Catalog.from_skills(SKILLS)
    plain = sy.rank(catalog, text, scorer=Hybrid(embedder=Letters()))
    sure = sy.rank(catalog, text, scorer=Hybrid(embedder=letters))
    assert [match.skill.name for match in sure] == [match.skill.name for match in plain]
    assert sure[0].score != plain[0].score
    _, odds = sure[0].explanation.parts
    assert sum(part.value for part in odds.parts) == pytest.approx(odds.value, abs=1e-12)
    (changes,) = [part for part in odds.parts if part.label == "embedder"]
    cosines = sorted(_cosines(text), reverse=True)
    before = plain[0].explanation.parts[1].value
    own = _cosine(text, sure[0].skill)
    ahead = own - next(value for value in cosines if value != own)
    expected = -1.0 + 0.5 * before + 1.5 * own + 2.0 * ahead - before
    expected += 0.25 + 0.5 * own + 1.0 * ahead if is_english else 0.0
    assert changes.value == pytest.approx(expected, abs=0.05)  # vectors are stored as bytes
    features = tuple(0.125 * place for place in range(14))
    letters.calibration += features  # type: ignore[attr-defined]
    more = sy.rank(catalog, text, scorer=Hybrid(embedder=letters))[0].explanation.parts[1]
    facts = _facts(text, letters)
    assert more.value - odds.value == pytest.approx(
        sum(count * value for count, value in zip(features, facts, strict=True))
    )


def test_a_request_near_to_other_skills_in_the_world_is_less_surely_for_this_one() -> None:
    class Worldly(Letters):
        calibration = (0, 1, *(0,) * 19, -2, 0.5, *(0,) * 12, 4, 0, 0.5, 1.5, *(0,) * 6)
        cosines: tuple[float, ...] = (0.5, 0.25)

        def background(self, direction: bytes) -> tuple[float, ...]:
            return self.cosines if direction else ()

    catalog, letters = sy.Catalog.from_skills(SKILLS), Worldly()
    plain = sy.rank(catalog, "deploy the tests", scorer=Hybrid(embedder=Letters()))
    odds = plain[0].explanation.parts[1].value
    near = sy.rank(catalog, "deploy the tests", scorer=Hybrid(embedder=letters))
    margin = near[0].explanation.parts[0].value - near[1].explanation.parts[0].value
    assert near[0].explanation.parts[1].value == pytest.approx(
        odds - 2.0 * 0.5 + 0.5 * 0.25 + 4.0 * 0.5**2 + 0.5 * margin**2 + 1.5 * margin
    )
    hundred = [*SKILLS, *(sy.Skill(f"n{n}", "Number.", "One.") for n in range(96))]
    catalog = sy.Catalog.from_skills(hundred)
    before = sy.rank(catalog, "deploy the tests", scorer=Hybrid(embedder=letters))[0].explanation
    letters.calibration = (*letters.calibration[:39], 2.0, *(0.0,) * 5)  # type: ignore[assignment]
    after = sy.rank(catalog, "deploy the tests", scorer=Hybrid(embedder=letters))[0].explanation
    assert after.parts[1].value - before.parts[1].value == pytest.approx(log(100) - 3.7)
    for letters.cosines in ((nan, 0.1), (0.1,)):
        with pytest.raises(EmbedderFailed, match="embedder letters: background is"):
            sy.rank(catalog, "deploy the tests", scorer=Hybrid(embedder=letters))


def test_what_an_embedder_takes_for_talk_is_for_no_skill_unless_it_is_called() -> None:
    class Talkative(Letters):
        share = 0.95

        def talk(self, direction: bytes) -> float:
            return self.share

    catalog, letters = sy.Catalog.from_skills(SKILLS), Talkative()

    def best(text: str) -> str:
        chosen = sy.select(catalog, text, scorer=Hybrid(embedder=letters)).best
        return chosen.skill.name if chosen else ""

    text = "deploy containers to a cluster"
    assert (best(text), best(f"/deploy {text}")) == ("", "deploy")
    letters.share = 0.5
    assert best(text) == "deploy"
    letters.share = nan
    with pytest.raises(EmbedderFailed, match="embedder letters: talk is"):
        best(text)


def _facts(text: str, letters: Letters) -> tuple[float, ...]:
    """Return the features of the best skill."""
    facts = Hybrid(embedder=letters).bind(SKILLS).prepare(Query(text)).features
    assert facts is not None
    return facts


ORDERED = (0.5, 1.0, 2.0)
"""What share, names and cosine count, in the tests of what orders the best skills once more."""


class OrderedLetters(Letters):
    order: tuple[float, ...] = ORDERED


def test_an_embedder_may_order_the_best_skills_once_more() -> None:
    catalog = sy.Catalog.from_skills(SKILLS)
    text = "deploy the Kubernetes tests"
    once = Hybrid(FUSION._replace(share=0.0, names=0.0, cosine=0.0), embedder=Letters())
    plain = {match.skill.name: match for match in sy.rank(catalog, text, scorer=once)}
    ordered = sy.rank(catalog, text, scorer=Hybrid(embedder=OrderedLetters()))
    points = {}
    for match in ordered:
        before = plain[match.skill.name].signals
        assert {k: v for k, v in match.signals.items() if k != "order"} == before
        points[match.skill.name] = match.signals.get("order", 0.0)
    assert min(points.values()) == 0.0
    near, far = (_cosine(text, skill) for skill in (SKILLS[2], SKILLS[0]))
    # The share of the request counts as well: the zebra has no word of it.
    assert points["report"] - points["zebra-quiz"] > 2.0 * (near - far)


@for_each("scorer", [HYBRID, Hybrid(embedder=OrderedLetters())], ids=["alone", "embedder"])
def test_names_that_a_skill_lacks_put_its_sibling_first(scorer: Hybrid) -> None:
    skills = [
        sy.Skill("deploy-a", "Deploy containers to Fly with care.", "Text."),
        sy.Skill("deploy-b", "Deploy containers to Render with care.", "Text."),
    ]
    catalog = sy.Catalog.from_skills(skills)
    for name, right in (("Fly", "deploy-a"), ("Render", "deploy-b")):
        text = f"please deploy containers to {name}"
        ranked = sy.rank(catalog, text, scorer=scorer)
        best, other = (match.explanation.parts[0].parts for match in ranked)
        assert ranked[0].skill.name == right
        (said,) = [part for part in best if part.label == "order"]
        assert "lacks names" not in said.note
        assert not [part for part in other if part.label == "order"]


@for_each(
    "text",
    [
        "zebra quiz " + " ".join(f"word{n}" for n in range(60)) + " report",
        "bitte das Zebra beschreiben und die Prüfung starten",
        "@deploy the tests",
    ],
    ids=["long", "foreign", "called"],
)
def test_other_requests_are_ordered_as_before(text: str) -> None:
    catalog = sy.Catalog.from_skills(SKILLS)
    plain = sy.rank(catalog, text, scorer=Hybrid(embedder=Letters()))
    ordered = sy.rank(catalog, text, scorer=Hybrid(embedder=OrderedLetters()))
    assert [(m.skill.name, m.score, m.signals) for m in ordered] == [
        (m.skill.name, m.score, m.signals) for m in plain
    ]


def _cosines(text: str) -> list[float]:
    return [_cosine(text, skill) for skill in SKILLS if skill.name != "secret"]


def _cosine(text: str, skill: sy.Skill) -> float:
    one, other = Letters().embed([text, f"{skill.name}. {skill.description}"])
    norms = [sqrt(sum(value * value for value in vector)) for vector in (one, other)]
    return sum(a * b for a, b in zip(one, other, strict=True)) / (norms[0] * norms[1])


def test_tags_hold_for_the_embedder_too() -> None:
    tagged = [skill.replace(tags=("animals",)) for skill in SKILLS[:1]] + SKILLS[1:]
    catalog = sy.Catalog.from_skills(tagged)
    scorer = Hybrid(embedder=Letters())
    found = sy.rank(catalog, "zzqq zjaz", scorer=scorer, exclude_tags=("animals",))
    assert "zebra-quiz" not in {match.skill.name for match in found}
    found = sy.rank(catalog, "deploy zz", scorer=scorer, include_tags=("animals",))
    assert [match.skill.name for match in found] == ["zebra-quiz"]


def test_a_request_vector_of_another_length_is_named() -> None:
    class Uneven(Letters):
        def embed(self, texts, *, query=False):  # type: ignore[no-untyped-def]
            found = super().embed(texts, query=query)
            return [vector[:5] for vector in found] if query else found

    with pytest.raises(EmbedderFailed, match="5 numbers for the request, 26 for each skill"):
        sy.rank(sy.Catalog.from_skills(SKILLS), "deploy", scorer=Hybrid(embedder=Uneven()))
