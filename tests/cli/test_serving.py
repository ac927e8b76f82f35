"""``serve`` hands its flags to the service, and refuses what would stand open to everybody."""

from __future__ import annotations

import pytest

from skillyard.cli import main
from skillyard.http import ServiceOptions

pytest.importorskip("uvicorn")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ServiceOptions]:
    """What the service would have been started with."""
    found: list[ServiceOptions] = []
    monkeypatch.setattr("skillyard.http.serve", found.append, raising=False)
    monkeypatch.delenv("SKILLYARD_HTTP_TOKEN", raising=False)
    return found


def test_every_flag_reaches_the_service(
    started: list[ServiceOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_HTTP_TOKEN", "secret")
    asked = "serve lib --root other --host 0.0.0.0 --port 9000 --local-only --quiet --scope user"
    named = "--allow-host skills.example --allow-host b --allow-origin https://skills.example"
    assert main([*asked.split(), *named.split()]) == 0
    assert started == [
        ServiceOptions(
            roots=("lib", "other"),
            scopes=("user",),
            host="0.0.0.0",
            port=9000,
            token="secret",
            allowed_hosts=("skills.example", "b"),
            allowed_origins=("https://skills.example",),
            local_only=True,
            log_format="none",
        )
    ]


def test_without_flags_it_serves_this_folder_to_this_machine(
    started: list[ServiceOptions],
) -> None:
    assert main(["serve"]) == 0
    assert started == [ServiceOptions()]
    assert (started[0].host, started[0].port, started[0].roots) == ("127.0.0.1", 8765, (".",))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--host 0.0.0.0", "set SKILLYARD_HTTP_TOKEN"),
        ("--port 70000", "port must be an integer of 0 to 65535"),
        ("--allow-origin skills.example", "no http or https address"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_listens(
    flags: str, said: str, started: list[ServiceOptions], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *flags.split()]) == 2
    assert said in capsys.readouterr().err
    assert started == []
