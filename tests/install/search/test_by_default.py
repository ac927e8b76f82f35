"""What ranks where no ranker is named: the library's own scores, and one scale for all sources."""

from __future__ import annotations

import skillyard as sy
from skillyard.install.sources.settings import Settings
from skillyard.types import SearchResult
from tests.install.search.fake_search import ids, searched, skill_text
from tests.install.search.memory import Memory, hit

BARE = Settings(enabled=(), shipped_registry=False)
LIBRARY = sy.Catalog.from_skills(
    [
        sy.Skill("csv-cleaning", "Repairs messy CSV exports.", "Strip the blanks, mend the rows."),
        sy.Skill("pdf-forms", "Fills in PDF forms.", "List the fields first."),
        sy.Skill("git-bisect", "Finds the commit that broke the build.", "Halve the range."),
    ]
)
REQUEST = "repair this messy csv export"


def asked(text: str, *sources: object, **how: object) -> SearchResult:
    return searched(text, settings=BARE, sources=["local", *sources], catalog=LIBRARY, **how)  # type: ignore[arg-type]


def test_a_skill_of_the_library_has_the_score_that_it_has_there() -> None:
    ranked = {match.skill.name: match.score for match in sy.rank(LIBRARY, REQUEST)}
    remote = Memory([hit("csv-kit")], {"csv-kit": skill_text("csv-kit", "Works on CSV.")})
    for found in (asked(REQUEST), asked(REQUEST, remote), asked(REQUEST, limit=1)):
        local = {each.skill.name: each.score for each in found.skills if "local" in each.found_by}
        assert local
        assert local.items() <= ranked.items()
        assert found.skills[0].skill.name == "csv-cleaning"


def test_skills_of_other_sources_are_ranked_on_the_same_scale() -> None:
    texts = {
        "csv-repair": skill_text("csv-repair", "Repairs messy CSV exports and broken rows."),
        "weather": skill_text("weather", "Tells the weather."),
    }
    found = asked(REQUEST, Memory([hit("weather"), hit("csv-repair")], texts))
    assert set(ids(found)[:2]) == {"csv-cleaning", "csv-repair"}
    scores = [each.score for each in found.skills]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    for each in found.skills:
        assert each.match is not None
        assert each.match.explanation.value == each.score
