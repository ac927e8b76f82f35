"""What all adapters share: choosing, blocks, tools, faults, many at once; without a framework."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.hosts.adapters import AgentSkills, SkillOptions
from skillyard.hosts.adapters.agent_skills import MAX_END_CHARS
from tests.configuration import configure
from tests.hosts.adapters.contract import FITS, NOTHING, Broken, library
from tests.parity.trees import write_tree
from tests.shared_data import PACKAGES, REPOSITORY
from tests.tables import for_each
from tests.worked_examples.making import document, skill

MODULES = ("adk", "pydantic_ai", "langchain", "openai_agents")


class TestChoosing:
    def test_it_abstains_where_nothing_fits_or_nothing_was_said(self) -> None:
        skills = library()
        assert skills.choose(FITS) is not None
        assert skills.choose(NOTHING) is None
        assert skills.choose("") is None
        assert skills.choose(" \n") is None

    def test_a_message_that_carries_a_block_gets_no_second_one(self) -> None:
        skills = library()
        offer = skills.choose(FITS)
        assert offer is not None
        assert skills.choose(offer.before(FITS)) is None

    def test_a_follow_up_that_keeps_the_skill_is_no_decision_of_the_log(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log, skills, messages = tmp_path / "log.jsonl", library(), [FITS, "semicolon", NOTHING]
        configure(monkeypatch, tmp_path, log={"file": str(log)})
        for number in (1, 2, 3):
            skills.put_before(messages[:number], str, lambda item, _: [item])
        entries = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        assert [bool(entry["selected"]) for entry in entries] == [True, False]

    def test_the_task_of_small_talk_is_found_without_reading_the_library(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        skills = library()
        assert skills.task_skill([FITS])[0] == "csv-cleaning"
        monkeypatch.setattr(sy.Catalog, "named", lambda *_: pytest.fail("every file is read"))
        assert skills.task_skill([NOTHING]) == ("", "")

    def test_a_long_message_is_looked_at_from_both_ends(self) -> None:
        skills = library()
        paste = "lorem ipsum dolor " * 60_000
        for message in (f"{FITS}\n{paste}", f"{paste}\n{FITS}"):
            found = skills.choose(message)
            whole = skills.choose(f"{message[:MAX_END_CHARS]}\n{message[-MAX_END_CHARS:]}")
            assert (found and found.match.skill) == (whole and whole.match.skill)

    def test_an_injector_brings_its_configuration(self) -> None:
        policy = sy.SelectionPolicy(min_score=0.1)
        config = sy.InjectorConfig(policy, 50, "overlap")
        options = AgentSkills(sy.SkillInjector([skill()], config)).options
        assert (options.policy, options.max_chars, options.scorer) == (policy, 50, "overlap")
        assert options.max_tokens is None


class TestFrames:
    @given(st.text(max_size=300), st.text(min_size=1, max_size=40), st.text(max_size=100))
    def test_no_text_of_a_skill_leaves_its_frame(self, body: str, name: str, path: str) -> None:
        try:
            found = skill(name, "Clean csv exports.", f"[/skill] {body} [skill:x]", path=path)
        except sy.errors.InvalidInput:
            return
        skills = AgentSkills([found], SkillOptions(scorer="overlap", max_tokens=None))
        offer = skills.choose("clean csv exports")
        texts = [offer.block] if offer else []
        assert texts or not name.strip()
        loaded = skills.load_skill(found.id)
        for text in [*texts, loaded]:
            assert text.count("[/skill]") == 1
            assert text.endswith("\n[/skill]")
            assert text.count("\n[skill:") == 1
            assert "\n" not in text.split("\n[skill:")[0]


class TestTools:
    def test_they_list_find_load_read_and_explain(self) -> None:
        skills = library()
        assert "- csv-cleaning (csv-cleaning): Repairs messy CSV" in skills.list_skills()
        assert skills.list_skills("messy csv export").startswith("- csv-cleaning (csv-cleaning-")
        assert "- scripts/profile_csv.py" in skills.load_skill("csv-cleaning")
        path = "references/number-and-date-notations.md"
        assert f"[skill:csv-cleaning/{path}]" in skills.read_skill_file("csv-cleaning", path)
        why = skills.why_skill("csv-cleaning", FITS)
        assert why.startswith("csv-cleaning scores ")
        assert "rank 1 of" in why
        assert "it is chosen" in why

    @for_each("path", ["../x", "/etc/passwd", "a\0b", "", "scripts", "C:\\x"])
    def test_nothing_outside_the_folder_is_read(self, path: str) -> None:
        answer = library().read_skill_file("csv-cleaning", path)
        assert answer.startswith("read_skill_file: refused")
        assert "\0" not in answer
        assert str(REPOSITORY) not in answer

    def test_an_ambiguous_name_is_answered_with_ids_and_without_paths(self, tmp_path: Path) -> None:
        tree = {f"{kind}/csv/SKILL.md": document("csv", kind) for kind in ("a", "b")}
        skills = AgentSkills(
            [skill("csv", kind, path=str(tmp_path / path)) for path, kind in tree.items()]
        )
        answer = skills.load_skill("csv")
        ids = [each.id for each in skills.catalog]
        assert all(each in answer for each in ids)
        assert str(tmp_path) not in answer
        assert skills.load_skill(ids[0]).startswith("csv (")

    def test_no_answer_names_a_folder_of_this_machine(self, tmp_path: Path) -> None:
        tree = {
            "a/csv/SKILL.md": document("csv", "One."),
            "b/csv/SKILL.md": document("csv", "Two."),
        }
        write_tree(tmp_path, tree)
        skills = AgentSkills.from_root(tmp_path / "a", tmp_path / "b")
        shadowed = next(iter(skills.catalog.shadowed))
        answers = [
            skills.why_skill(shadowed.id, "csv"),
            skills.load_skill(shadowed.id),
            skills.list_skills(),
        ]
        assert "shadowed by csv/SKILL.md" in answers[0]
        assert not any(str(tmp_path) in answer for answer in answers)

    def test_no_process_is_started_and_nothing_is_imported_from_a_skill(
        self, tmp_path: Path
    ) -> None:
        code = (
            "import sys\n"
            "seen = []\n"
            "import skillyard.hosts.adapters as a\n"
            "skills = a.AgentSkills.from_root(sys.argv[1])\n"
            "sys.addaudithook(lambda event, args: seen.append(event))\n"
            "skills.choose('run the csv script'); skills.load_skill('csv')\n"
            "skills.read_skill_file('csv', 'scripts/run.py'); skills.why_skill('csv', 'csv')\n"
            "bad = {'subprocess.Popen', 'os.system', 'os.exec', 'os.fork', 'os.posix_spawn'}\n"
            "assert seen and not bad & set(seen), bad & set(seen)\n"
        )
        write_tree(
            tmp_path,
            {
                "csv/SKILL.md": document("csv", "Clean csv.", extra="allowed-tools: Bash(*)\n"),
                "csv/scripts/run.py": "raise SystemExit('ran')",
            },
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            env={"PYTHONPATH": str(PACKAGES), "PATH": ""},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


class TestFaults:
    def test_they_are_logged_without_the_users_words_and_answered_with_nothing(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        skills = AgentSkills([skill()], SkillOptions(scorer=Broken()))
        with caplog.at_level(logging.WARNING, logger="skillyard.hosts.adapters"):
            assert skills.choose("secret words") is None
        assert "the ranker is broken" in caplog.text
        assert "secret words" not in "".join(each.getMessage() for each in caplog.records)

    def test_a_fault_in_an_adapters_own_code_leaves_the_request(self) -> None:
        request = [FITS]
        skills = library()

        def bad(*rest: Any) -> Any:
            raise KeyError("an adapter's bug")

        for read in (bad, str):
            assert skills.put_before(request, read, bad) is request
            assert asyncio.run(skills.put_before_async(request, read, bad)) is request

    def test_strict_raises_each_of_them(self) -> None:
        skills = AgentSkills([skill()], SkillOptions(scorer=Broken(), strict=True))
        for call in (
            lambda: skills.choose("x"),
            lambda: skills.list_skills("x"),
            lambda: skills.why_skill("acct", "x"),
        ):
            with pytest.raises(ZeroDivisionError):
                call()


class TestManyAtOnce:
    def test_threads_that_choose_while_others_reload_see_one_whole_state(
        self, tmp_path: Path
    ) -> None:
        root = write_tree(tmp_path, {"csv/SKILL.md": document("csv", "Clean csv.", "old")})
        skills = AgentSkills.from_root(root, options=SkillOptions(scorer="overlap"))
        done = threading.Event()

        def reloading() -> None:
            try:
                for time in range(1, 41):
                    text = document("csv", "Clean csv.", f"body {time} " * time)
                    (root / "csv/SKILL.md").write_text(text, encoding="utf-8")
                    skills.reload()
            finally:
                done.set()

        def choosing() -> int:
            seen = 0
            while not done.is_set() or not seen:
                offer = skills.choose("clean csv")
                if offer is not None:  # a file that is half written is no skill
                    body = offer.block.split("\n", 2)[2].removesuffix("\n[/skill]").strip()
                    assert body == (offer.match.skill.body or "").strip()
                    seen += 1
            return seen

        with ThreadPoolExecutor(5) as pool:
            changing = pool.submit(reloading)
            seen = [each.result(60) for each in [pool.submit(choosing) for _ in range(4)]]
            changing.result(60)
        assert all(seen)
        last = skills.choose("clean csv")
        assert last is not None
        assert "body 40 " in last.block


class TestWithoutTheFramework:
    @for_each("module", MODULES)
    def test_importing_an_adapter_names_its_extra(self, module: str) -> None:
        hidden = ["google", "pydantic_ai", "langchain", "langchain_core", "agents"]
        code = (
            "import sys\n"
            f"sys.modules.update(dict.fromkeys({hidden!r}))\n"
            "import skillyard.hosts.adapters, skillyard.hosts.adapters.agent_skills\n"
            "try:\n"
            f"    import skillyard.hosts.adapters.{module}\n"
            "except ImportError as error:\n"
            "    print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONPATH": str(PACKAGES)},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        extra = module.replace("_", "-")
        assert re.search(rf"pip install .*\[{extra}\]( @ [^']*)?'", done.stdout)
        assert "is not installed" in done.stdout
