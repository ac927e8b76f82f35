"""What the real hosts make of our hook, our server and the listing that we foretell."""

from __future__ import annotations

import json

import pytest

from skillyard.hosts.hook.hosts import host_of
from tests.hosts.hook.test_host_text import HOST_TEXTS
from tests.hosts.real.conftest import BISECT, ClaudeCode, Codex
from tests.hosts.real.scripted_model import Call, texts_in
from tests.shared_data import REPOSITORY

SKILLS = ("git-bisect", "csv-cleaning", "code-review", "meal-planning")

UNHURRIED = ("--budget-ms", "20000")
"""For the hook: a machine that tests on both cores may take longer than the half second."""


def sent(requests: list[object]) -> str:
    return "\n".join(texts_in(requests))


class TestHook:
    def test_the_model_reads_the_chosen_skill_beside_the_prompt(
        self, host: ClaudeCode | Codex
    ) -> None:
        host.own(*SKILLS)
        host.skillyard("hook", "install", host.name, *UNHURRIED)
        read = sent(host.asked(BISECT))
        assert read.count("skillyard chose a skill for this request.") == 1
        assert f"skill: git-bisect\nfile: {host.skills}/git-bisect/SKILL.md\n" in read
        assert "[skill:git-bisect]\nFinds the commit" in read

    def test_nothing_is_added_where_nothing_fits_or_the_hook_is_gone(
        self, host: ClaudeCode | Codex
    ) -> None:
        host.own(*SKILLS)
        host.skillyard("hook", "install", host.name, *UNHURRIED)
        assert "skillyard chose" not in sent(host.asked("thanks, that was all"))
        host.skillyard("hook", "uninstall", host.name)
        assert "skillyard chose" not in sent(host.asked(BISECT))

    def test_what_the_host_writes_itself_gets_no_skill(self, host: ClaudeCode | Codex) -> None:
        host.own(*SKILLS)
        host.skillyard("hook", "install", host.name, *UNHURRIED)
        texts = [text for text in HOST_TEXTS if not text.startswith("[")]  # a command for a shell
        for text in texts[:10]:
            prompt = text.replace("PDF form", "bisect a regression").replace("pdf", "git-bisect")
            assert "skillyard chose" not in sent(host.asked(prompt)), prompt

    def test_what_the_host_loads_itself_gets_no_second_copy(self, host: ClaudeCode | Codex) -> None:
        host.own(*SKILLS)
        host.skillyard("hook", "install", host.name, *UNHURRIED)
        read = sent(host.asked(f"{host_of(host.name).sign}git-bisect {BISECT}"))
        assert read.count("# Find the breaking commit") == 1
        assert "skillyard chose" not in read

    def test_the_host_hands_over_what_the_recorded_payload_has(
        self, host: ClaudeCode | Codex
    ) -> None:
        settings = {"claude-code": "settings.json", "codex": "hooks.json"}[host.name]
        taken = host.home / "payload.json"
        hook = {"type": "command", "command": f"cat > '{taken}'"}
        shape = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
        (host.home / host.folder / settings).write_text(json.dumps(shape))
        host.asked(BISECT)
        payloads = (REPOSITORY / "tests" / "hosts" / "hook" / "payloads").glob(
            f"{host.name}-[0-9]*.*.json"
        )
        (recorded,) = [json.loads(each.read_text()) for each in payloads]
        found = json.loads(taken.read_text())
        assert {name: type(value) for name, value in found.items()} == {
            name: type(value) for name, value in recorded.items()
        }
        assert (found["prompt"], found["cwd"]) == (BISECT, str(host.project))


class TestServer:
    def test_a_tool_of_ours_is_called_and_its_answer_read(self, host: ClaudeCode | Codex) -> None:
        host.serve(REPOSITORY / "examples" / "skills")
        call = Call("skill_evaluate", {"text": "which commit broke the build?"})
        *_, last = host.asked(BISECT, call)
        offered = json.dumps(last["tools"])
        for tool in ("skill_evaluate", "search_skills", "load_skill", "select_skill"):
            assert tool in offered
        answer = sent([last["messages" if host.name == "claude-code" else "input"]])
        assert "git-bisect" in answer
        assert "confidence" in answer


class TestListing:
    """``summary --host`` says, character by character, what the host tells its model."""

    @pytest.mark.parametrize("count", [12, 150], ids=["fits", "does not fit"])
    def test_what_is_foretold_is_what_is_sent(self, host: ClaudeCode | Codex, count: int) -> None:
        host.asked("hello")  # Codex unpacks the skills that come with it
        for number in range(count):
            long = f"Sorts pile {number} of the laundry by colour, fabric and owner. " * 4
            host.add(f"laundry-{number:03}", (long + "Folds." * (number % 7))[: 40 + number])
        told = json.loads(
            host.skillyard("summary", "--host", host.name, "--scope", "user", "--json")
        )
        listing, text = told["listing"], told["text"]
        assert (listing["needed"] + listing["own"] <= listing["budget"]) == (count == 12)
        (read,) = [each for each in texts_in(host.asked("hello")) if "- laundry-000" in each]
        listed = [line for line in read.split("\n") if "- laundry-" in line]
        foretold = [line for line in text.split("\n") if "- laundry-" in line]
        assert listed == foretold
        assert len(listed) == count
