"""Records of one skill become one record, and nothing that any of them knows is lost."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

from hypothesis import strategies as st

from skillyard import Skill
from skillyard.install.search.service import merge_hits
from skillyard.install.sources.protocol import Hit

MARKETPLACE = Hit("acme/skills", "pdf", "skills.sh", name="pdf", install_count=500)
CURATED = Hit(
    "acme/skills",
    "pdf",
    "registry",
    name="pdf",
    description="Work with PDF files",
    curated=True,
    category="Documents",
    path="tools/deep/pdf",
)

SOURCES = st.sampled_from(["acme/skills", "Acme/Skills", "other/repo", "skills.example.com"])
IDS = st.sampled_from(["pdf", "PDF", "docx", "xlsx"])
WORDS = st.sampled_from(["", "one", "two", "three"])


@st.composite
def hits(draw: st.DrawFn, found_by: str) -> Hit:
    url = draw(st.sampled_from(["", "https://a.example/1", "https://b.example/2"]))
    return Hit(
        draw(SOURCES),
        draw(IDS),
        found_by,
        name=draw(WORDS),
        description=draw(WORDS),
        install_count=draw(st.sampled_from([0, 0, 3, 500])),
        curated=draw(st.booleans()),
        category=draw(WORDS),
        path=draw(st.sampled_from([None, "", "skills/pdf", "tools/pdf"])),
        url=url,
        digest=f"sha256:{url[-1]}" if url and draw(st.booleans()) else "",
        kind="archive" if url and draw(st.booleans()) else "",
        skill=draw(st.sampled_from([None, None, Skill("pdf", "Here already", "Body.")])),
    )


def artifact(one: Hit) -> tuple[str, str, str]:
    """What only means something together: an address, its digest, and what lies there."""
    return one.url, one.digest, one.kind


class TestExamples:
    def test_the_marketplaces_installs_and_the_curators_words_are_kept_together(self) -> None:
        for listed in permutations([[MARKETPLACE], [CURATED]]):
            (one,) = merge_hits(listed)
            assert one.hit.install_count == 500
            assert one.hit.curated
            assert one.hit.description == "Work with PDF files"
            assert one.hit.category == "Documents"
            assert one.hit.path == "tools/deep/pdf"

    def test_the_record_with_installs_is_the_preferred_one(self) -> None:
        for listed in permutations([[MARKETPLACE], [CURATED]]):
            (one,) = merge_hits(listed)
            assert one.hits[0].found_by == "skills.sh"
            assert one.found_by == ("skills.sh", "registry")

    def test_case_does_not_make_another_skill(self) -> None:
        other = MARKETPLACE._replace(source="ACME/Skills", id="PDF", found_by="server")
        (one,) = merge_hits([[MARKETPLACE], [other]])
        assert Counter(one.found_by) == Counter(("skills.sh", "server"))

    def test_one_id_in_two_repositories_is_two_skills(self) -> None:
        other = MARKETPLACE._replace(source="other/skills")
        assert [one.hit.source for one in merge_hits([[MARKETPLACE, other]])] == [
            "acme/skills",
            "other/skills",
        ]

    def test_a_look_alike_is_another_skill(self) -> None:
        squat = MARKETPLACE._replace(id="рdf", install_count=90_000)  # Cyrillic er
        assert len(merge_hits([[MARKETPLACE], [squat]])) == 2

    def test_nothing_gives_nothing(self) -> None:
        assert merge_hits([]) == []
        assert merge_hits([[], []]) == []

    def test_the_root_is_a_path_too(self) -> None:
        root = CURATED._replace(path="")
        for listed in permutations([[MARKETPLACE], [root]]):
            (one,) = merge_hits(listed)
            assert one.hit.path == ""

    def test_a_digest_never_stands_beside_another_records_address(self) -> None:
        site = MARKETPLACE._replace(
            found_by="site", install_count=0, url="https://a.example/x", digest="sha256:aa"
        )
        server = MARKETPLACE._replace(found_by="server", url="https://b.example/x.zip")
        server = server._replace(kind="archive")
        for listed in permutations([[site], [server]]):
            (one,) = merge_hits(listed)
            assert artifact(one.hit) in {artifact(site), artifact(server)}
