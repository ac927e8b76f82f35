"""One skill by its address or by its name: the one that is meant, or none."""

from __future__ import annotations

import pytest

from skillyard.errors import InvalidInput, SkillNotFound, SourceFailed
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers
from tests.install.search.fake_search import found, got, settings_of, skill_text
from tests.install.search.memory import Memory, hit
from tests.tables import for_each

BARE = Settings(shipped_registry=False)


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    files = {
        "skills/pdf/SKILL.md": skill_text("pdf", "Extract tables", "The real one."),
        "skills/pdf/references/forms.md": "Forms.",
        "skills/pdf-tools/SKILL.md": skill_text("pdf-tools"),
    }
    up.add_repository("acme/skills", files)
    up.add_repository("acme/single", {"SKILL.md": skill_text("lonely", body="Alone.")})
    up.list_skill("acme/skills", "pdf", installs=5)
    up.list_skill("acme/skills", "pdf-tools", installs=90_000)
    return up


class TestGet:
    @for_each(
        ("source", "skill_id"),
        [("acme/skills/../../x", "pdf"), ("../..", "pdf"), ("acme/skills", "../../x"),
         ("acme/skills?ref=x", "pdf"), ("acme/skills#x", "pdf"), ("acme%2fskills", "pdf"),
         ("http://169.254.169.254", "x"), ("acme/skills\r\nX: y", "pdf"), ("acme/skills", ""),
         ("", "pdf"), ("acme", "skills/pdf"), ("acme/skills", "a\0b"), ("acme/skills", "a" * 5000)],
    )  # fmt: skip
    def test_what_is_no_address_reaches_nobody(
        self, up: FakeServers, source: str, skill_id: str
    ) -> None:
        with pytest.raises((SourceFailed, InvalidInput)):
            got(source, skill_id, settings=settings_of(up))
        for one in up.requests:
            assert ".." not in one.path.lower().replace("%2e", ".").split("?")[0].split("/")
            assert "x" not in one.headers
        assert up.count("github_raw") == 0

    def test_a_skill_of_a_site(self, up: FakeServers) -> None:
        up.add_well_known("kit", {"SKILL.md": skill_text("kit", body="Kit.")})
        settings = settings_of(up, sites=(up.well_known,))
        domain = up.well_known.removeprefix("http://")
        assert got(domain, "kit", settings=settings).skill.body == "Kit."


class TestFind:
    def test_the_exact_name_goes_before_the_popular_one(self, up: FakeServers) -> None:
        one = found("pdf", settings=settings_of(up))
        assert one.hit.id == "pdf"
        assert one.skill.body == "The real one."

    def test_a_name_that_differs_from_the_folder(self, up: FakeServers) -> None:
        hits = [hit("kit-1", name=""), hit("kit-2", name="")]
        texts = {"kit-1": skill_text("Pdf Wizard"), "kit-2": skill_text("Pdf Lizard")}
        assert found("Pdf Wizard", settings=BARE, sources=[Memory(hits, texts)]).hit.id == "kit-1"
        assert found("kit-2", settings=BARE, sources=[Memory(hits, texts)]).hit.id == "kit-2"

    @for_each("name", ["pdf wizard", "pdf extraction toolkit", "pd", "pdf-tool", "tools", "tables"])
    def test_an_unknown_name_is_not_found_whatever_is_popular(
        self, up: FakeServers, name: str
    ) -> None:
        with pytest.raises(SkillNotFound, match=name.split()[0]):
            found(name, settings=settings_of(up))

    @for_each("name", ["pdf-tool", "pdf tools kit", "pdf-toolz"])
    def test_near_names_are_said(self, up: FakeServers, name: str) -> None:
        settings = settings_of(up, repositories=("acme/skills",))
        with pytest.raises(SkillNotFound) as lost:
            found(name, settings=settings)
        assert "pdf-tools" in str(lost.value)

    def test_a_look_alike_is_never_taken_for_the_name(self, up: FakeServers) -> None:
        up.list_skill("evil/skills", "рdf", name="рdf", installs=10**6)  # Cyrillic er
        up.list_skill("evil/skills", "pdf\u200b", name="pdf\u200b", installs=10**6)
        up.list_skill("evil/skills", "pdff", name="pdff", installs=10**6)
        up.list_skill("evil/skills", "xpdf", name="PDF\u3000", installs=10**6)
        one = found("pdf", settings=settings_of(up))
        assert one.hit.key == "acme/skills/pdf"

    def test_of_several_the_best_ranked_one(self, up: FakeServers) -> None:
        hits = [hit("pdf", "a/skills", install_count=5), hit("pdf", "b/skills", install_count=900),
                hit("pdf", "c/skills", install_count=50)]  # fmt: skip
        for order in (hits, hits[::-1]):
            assert found("pdf", settings=BARE, sources=[Memory(order)]).hit.source == "b/skills"


class TestFindByAddress:
    @for_each("name", ["acme/skills/unknown", "acme/nothing/pdf", "acme/single/pdf"])
    def test_an_unknown_address_never_gives_another_skill(self, up: FakeServers, name: str) -> None:
        with pytest.raises((SkillNotFound, SourceFailed)) as lost:
            found(name, settings=settings_of(up))
        if isinstance(lost.value, SourceFailed):
            assert lost.value.code == "not_found"
