"""The sentence encoder: its vectors depend on the text alone, whatever the text is."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from math import isfinite, sqrt
from operator import mul
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.encoder.installed import load
from tests.tables import for_each

ENCODER = load()
Encoder = type(ENCODER)
TEXTS = [
    "my build is red after the merge",
    "csv-cleaner. Repairs CSV files: quoting, encodings, columns that do not line up.",
    "Was ist heute in der Kantine?",
    "quarterly numbers " * 60,
]
LIMIT_BYTES = 45_000_000


def norm(vector: list[float]) -> float:
    return sqrt(sum(value * value for value in vector))


def test_a_vector_is_a_unit_vector_of_384_numbers() -> None:
    for vector in ENCODER.embed(TEXTS):
        assert len(vector) == 384
        assert norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_a_vector_does_not_depend_on_the_texts_beside_it() -> None:
    together = ENCODER.embed(TEXTS)
    assert ENCODER.embed(TEXTS[::-1]) == together[::-1]
    assert [ENCODER.embed([text], query=True)[0] for text in TEXTS] == together


def test_another_process_gives_the_same_bytes() -> None:
    program = "import sys, skillyard_encoder as e; print(e.Encoder().embed(sys.argv[1:]))"
    lines = [
        subprocess.run(
            [sys.executable, "-c", program, *TEXTS], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert lines[0] == lines[1] == f"{ENCODER.embed(TEXTS)}\n"


@for_each(
    "text",
    [
        "",
        " ",
        "\0\x1b[2J",
        "\ud800",
        "\u202e" * 500,
        "a" * 1_000_000,
        "{" * 100_000,
        "漢字" * 50_000,
    ],
    ids=["empty", "blank", "controls", "surrogate", "directions", "word", "braces", "ideographs"],
)
def test_every_text_has_a_vector(text: str) -> None:
    (vector,) = ENCODER.embed([text], query=True)
    assert all(map(isfinite, vector))
    assert norm(vector) == pytest.approx(1.0, abs=1e-5)


@settings(max_examples=50)
@given(st.text(st.characters(), max_size=300))
def test_no_text_raises(text: str) -> None:
    assert len(ENCODER.embed([text])[0]) == 384


def test_the_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in ENCODER.folder.iterdir()) < LIMIT_BYTES


def test_the_digests_are_those_of_the_files() -> None:
    """The id is made of what stands there."""
    lines = (ENCODER.folder / "SHA256SUMS").read_text().splitlines()
    listed = dict(line.split("  ")[::-1] for line in lines)
    files = [path for path in ENCODER.folder.iterdir() if path.name != "SHA256SUMS"]
    assert listed == {path.name: sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_request_lies_near_to_the_skill_that_it_wants_in_any_language() -> None:
    """Both models have one space: an English skill is found by what the other one reads."""
    skills = ENCODER.embed(["csv-cleaner. Repairs CSV files.", "bread. Bakes bread at home."])
    beside = ENCODER.multilingual
    assert beside is not None
    for text in (
        "Räum bitte diese CSV-Datei auf",
        "帮我整理这个 CSV 文件",
        "limpia este archivo CSV",
    ):
        (request,) = beside.embed([text], query=True)
        cosines = [sum(map(mul, request, skill)) for skill in skills]
        assert cosines[0] > cosines[1] + 0.2


def test_words_that_set_a_job_aside_are_told_from_those_that_do_not() -> None:
    beside = ENCODER.multilingual
    assert beside is not None
    for model, text, is_aside in (
        (ENCODER, "fix the retry loop. the invoices are Rita's job, she is on it", True),
        (ENCODER, "Rita threw out the cache last week, since then it is slow, find out why", False),
        (beside, "écris les tests. la facturation, c'est l'équipe de Rita qui s'en charge", True),
    ):
        shares = [(start > text.find("."), share) for start, _, share in model.asides(text)]
        assert any(share > 0.5 for _, share in shares) == is_aside
        assert all(share < 0.5 for is_later, share in shares if not is_later)
        assert model.embed([text]) == model.embed([text, text])[:1]


FILES = sorted(
    {file.name for file in ENCODER.folder.iterdir()} - {"SHA256SUMS", "kinds.npy", "talk.npy"}
)


@for_each("name", FILES)
def test_the_id_names_the_models_and_the_tokenizers(tmp_path: Path, name: str) -> None:
    """Vectors are stored under it, so another model must have another one."""
    for file in FILES:
        (tmp_path / file).write_bytes((ENCODER.folder / file).read_bytes())
    assert Encoder(tmp_path).id == ENCODER.id
    (tmp_path / name).write_bytes(b"{}")
    assert Encoder(tmp_path).id != ENCODER.id
    with pytest.raises(FileNotFoundError):
        Encoder(tmp_path / "nothing")


def test_nothing_is_loaded_before_the_first_text() -> None:
    names = "{'numpy', 'onnxruntime', 'sentencepiece', 'tokenizers', 'skillyard'}"
    program = f"import sys, skillyard_encoder as e; e.Encoder(); print({names} & {{*sys.modules}})"
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_runtime_writes_and_reports_nothing(tmp_path: Path) -> None:
    program = "import skillyard_encoder as e; e.Encoder().embed(['write tests'])"
    folders = {"HOME": str(tmp_path), "PYTHONPATH": str(ENCODER.folder.parents[1])}
    subprocess.run([sys.executable, "-c", program], env=folders, check=True)
    assert list(tmp_path.iterdir()) == []


@for_each(("threads", "workers"), [(None, 3), (1, 1)])
def test_the_number_of_threads_can_be_limited(
    monkeypatch: pytest.MonkeyPatch, threads: int | None, workers: int
) -> None:
    module = sys.modules[Encoder.__module__]
    pools: list[int] = []

    def pool(size: int) -> ThreadPoolExecutor:
        pools.append(size)
        return ThreadPoolExecutor(size)

    monkeypatch.setattr(module, "ThreadPoolExecutor", pool)
    monkeypatch.setattr(module, "_cores", lambda: 3)
    monkeypatch.setattr(ENCODER, "threads", threads)
    ENCODER.embed(["write tests", "deploy"])
    assert pools == [workers]
