"""``hybrid+encoder``, from the package that is installed to an answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.embedding.protocol import embedder_names, weights_of
from skillyard.engine.ranking.hybrid import Hybrid
from skillyard.engine.ranking.registry import default_scorer, resolve
from tests.encoder.installed import load
from tests.shared_data import REPOSITORY

ENCODER = load()
EXAMPLES = REPOSITORY / "examples" / "skills"
VAGUE = "my numbers file has commas everywhere and excel goes mad"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))


def test_the_entry_point_finds_it_and_commands_use_it() -> None:
    assert "encoder" in embedder_names()
    assert default_scorer() == "hybrid+encoder"
    scorer = resolve("hybrid+encoder")
    assert isinstance(scorer, Hybrid)
    assert scorer.embedder is not None
    assert scorer.embedder.id == ENCODER.id
    default = resolve("hybrid")
    assert isinstance(default, Hybrid)
    assert default.embedder is None


def test_it_weighs_most_where_words_say_least() -> None:
    weights = weights_of(ENCODER, 0.25)
    assert 1 > weights.foreign > weights.english > weights.long > 0


def test_it_chooses_where_the_built_in_evidence_is_not_enough() -> None:
    catalog = sy.load_catalog(EXAMPLES)
    assert sy.select(catalog, VAGUE).selected == ()
    (best, *_) = sy.select(catalog, VAGUE, scorer="hybrid+encoder").selected
    assert best.skill.name == "csv-cleaning"
    assert "embedder" in best.signals


def test_talk_is_for_no_skill_and_thanks_before_a_job_are_no_talk() -> None:
    catalog = sy.load_catalog(EXAMPLES)
    for text in (
        *("thanks, that was great", "what is the capital of Peru?", "tell me a joke"),
        *("hold on a second", "can I ask you something stupid", "guess what I had for lunch"),
        *("stop being so polite", "спасибо, всё понятно", "ありがとう、助かりました"),
    ):
        assert sy.select(catalog, text, scorer="hybrid+encoder").selected == (), text
    for text in ("thanks! now repair this messy csv file", "gracias, ahora limpia el archivo csv"):
        (best, *_) = sy.select(catalog, text, scorer="hybrid+encoder").selected
        assert best.skill.name == "csv-cleaning", text


def test_the_command_line_ranks_with_it() -> None:
    line = [sys.executable, "-m", "skillyard", "rank", VAGUE, "--root", str(EXAMPLES), "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert document["scorer"] == "hybrid+encoder"
    assert document["matches"][0]["name"] == "csv-cleaning"
    alone = subprocess.run([*line, "--no-encoder"], capture_output=True, check=True)
    assert json.loads(alone.stdout)["scorer"] == "hybrid"
