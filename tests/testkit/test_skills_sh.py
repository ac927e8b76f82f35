"""The fake skills.sh: the search, the snapshots and the audits that its own client uses."""

from __future__ import annotations

import pytest

from skillyard_testkit import FakeServers
from tests.tables import for_each
from tests.testkit.client import Got, ask


@pytest.fixture
def site(up: FakeServers) -> FakeServers:
    up.list_skill("demo/skills", "react-testing", installs=50)
    up.list_skill("demo/skills", "react", name="React basics", installs=900)
    up.list_skill("other/skills", "deploy-react-apps", installs=9_000)
    up.list_skill("example.com", "pdf-forms", name="PDF forms", installs=7)
    return up


def search(up: FakeServers, query: str) -> Got:
    return ask(f"{up.skills_sh}/api/search?{query}")


def slugs(got: Got) -> list[str]:
    return [item["skillId"] for item in got.json["skills"]]


def test_an_answer_has_the_shape_of_today(site: FakeServers) -> None:
    got = search(site, "q=basics&limit=5")
    assert got.status == 200
    assert got.json == {
        "query": "basics", "searchType": "fuzzy", "count": 1, "duration_ms": 1,
        "skills": [{
            "id": "demo/skills/react", "skillId": "react", "name": "React basics",
            "installs": 900, "source": "demo/skills",
        }],
    }  # fmt: skip


def test_one_word_is_looked_for_anywhere_and_installs_decide(site: FakeServers) -> None:
    got = search(site, "q=reac")
    assert got.json["searchType"] == "fuzzy"
    assert slugs(got) == ["deploy-react-apps", "react", "react-testing"]


def test_several_words_are_compared_whole_and_shared_ones_decide(site: FakeServers) -> None:
    got = search(site, "q=testing+my+react")
    assert got.json["searchType"] == "semantic"
    assert slugs(got) == ["react-testing", "deploy-react-apps", "react"]
    assert slugs(search(site, "q=reac+test")) == []


@for_each("query", ["", "q=", "q=x", "q=+x+", "query=react"])
def test_less_than_two_characters_are_400(site: FakeServers, query: str) -> None:
    got = search(site, query)
    assert (got.status, list(got.json)) == (400, ["error"])


FILES: dict[str, str | bytes] = {
    "skills/x/SKILL.md": "# X\n", "skills/x/references/a.md": "# A\n",
    "skills/x/logo.png": b"\x89PNG\xff", "plugins/deep/x/SKILL.md": "# deeper\n",
    "named/y/SKILL.md": "# Y\n",
}  # fmt: skip


def download(up: FakeServers, id: str) -> Got:
    return ask(f"{up.skills_sh}/api/download/{id}")


def test_a_snapshot_has_the_text_files_of_the_skill(up: FakeServers) -> None:
    up.add_repository("demo/skills", FILES, symlinks={"skills/x/l.md": "SKILL.md"})
    up.list_skill("demo/skills", "x")
    got = download(up, "demo/skills/x")
    assert got.json["files"] == [
        {"path": "SKILL.md", "contents": "# X\n"},
        {"path": "references/a.md", "contents": "# A\n"},
    ]
    assert len(got.json["hash"]) == 64
    up.add_repository("demo/skills", FILES | {"skills/x/SKILL.md": "# Other\n"})
    assert download(up, "demo/skills/x").json["hash"] != got.json["hash"]
