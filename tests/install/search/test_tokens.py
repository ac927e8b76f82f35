"""A token goes to the host that it belongs to, and into no answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.install.search.fake_search import (
    EVERY,
    GITHUB_TOKEN,
    SKILLS_SH_TOKEN,
    by_id,
    ids,
    searched,
    settings_of,
    skill_text,
)


@pytest.fixture
def up(three: FakeServers) -> FakeServers:
    return three


class TestTokens:
    @pytest.fixture
    def with_tokens(self, up: FakeServers) -> Iterator[Settings]:
        yield settings_of(
            up,
            sites=(up.well_known,),
            repositories=("acme/skills",),
            github_token=GITHUB_TOKEN,
            skills_sh_token=SKILLS_SH_TOKEN,
        )
        for one in up.requests:
            said = " ".join([*one.headers.values(), one.path])
            assert GITHUB_TOKEN not in said or one.server in {"github_api", "github_raw"}
            assert SKILLS_SH_TOKEN not in said or one.server == "skills_sh"
            assert one.server != "other" or "authorization" not in one.headers

    def test_each_goes_to_its_own_host(self, up: FakeServers, with_tokens: Settings) -> None:
        result = searched("pdf", settings=with_tokens)
        assert set(ids(result)) == EVERY
        authorised = {one.server for one in up.requests if "authorization" in one.headers}
        assert (
            {"github_api", "skills_sh"} <= authorised <= {"github_api", "github_raw", "skills_sh"}
        )

    @pytest.mark.parametrize(
        ("server", "to"),
        [("skills_sh", "github_api"), ("github_api", "skills_sh"), ("github_raw", "other"),
         ("well_known", "github_api")],
    )  # fmt: skip
    def test_no_redirect_takes_it_elsewhere(
        self, up: FakeServers, with_tokens: Settings, server: str, to: str
    ) -> None:
        up.switches.downloads = False
        up.faults.add(server, "*", faults.redirect(f"{up.url(to)}/sink", 302), times=1)
        result = searched("pdf", settings=with_tokens)
        assert result.skills

    def test_no_address_of_an_index_takes_it_elsewhere(
        self, up: FakeServers, with_tokens: Settings
    ) -> None:
        place = f"{up.github_api}/SKILL.md"
        up.add_well_known("pdf-far", {"SKILL.md": skill_text("pdf-far")}, fields={"url": place})
        result = searched("pdf", settings=with_tokens)
        assert set(ids(result)) == EVERY | {"pdf-far"}
        assert by_id(result)["pdf-far"].skill.body is None

    def test_no_token_is_in_the_answer(self, up: FakeServers, with_tokens: Settings) -> None:
        up.faults.add("github_api", "*", faults.status(401), times=None)
        up.faults.add("skills_sh", "*", faults.status(401), times=None)
        text = repr(searched("pdf", settings=with_tokens).to_dict(include_raw=True, explain=True))
        assert GITHUB_TOKEN not in text
        assert SKILLS_SH_TOKEN not in text
