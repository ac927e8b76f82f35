"""Without the extra nothing counts as verified, and what needs it says how to install it."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from skillyard.install.signatures import FOLDER_BUNDLE
from tests.cli.conftest import plain_surroundings as plain_surroundings
from tests.cli.conftest import run as run
from tests.install.signatures.team import FILES, Team
from tests.install.signatures.team import team as team

pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")
pytestmark = pytest.mark.skipif(
    find_spec("sigstore") is not None, reason="sigstore is installed: make test runs without it"
)


def test_a_signed_skill_is_refused_while_nothing_can_verify_it(team: Team) -> None:
    signed = team.folder({**FILES, FOLDER_BUNDLE: b"{}"})
    team.policy("same_signer = true")
    done = team.add(signed)
    assert (done.code, "sigstore is not installed" in done.err) == (2, True)
    assert "skillyard[sigstore]" in done.err or "[sigstore]'" in done.err
    team.assert_nothing_written()


def test_an_unsigned_skill_needs_no_verifier(team: Team) -> None:
    team.policy("same_signer = true")
    assert team.add(team.folder(FILES)).code == 0
    team.policy("required = true")
    done = team.run("verify", "--json")
    (skill,) = done.json["skills"]
    assert (done.code, skill["signature"]) == (1, {"state": "refused", "signer": None})
    assert skill["problem"]["code"] == "refused_by_policy"


def test_without_a_policy_a_signature_changes_nothing(team: Team) -> None:
    done = team.add(team.folder({**FILES, FOLDER_BUNDLE: b"{}"}), "--json")
    assert (done.code, done.json["signature"]) == (0, None)
    assert "sigstoreSigner" not in team.entry()
    assert team.run("verify", "--json").json["skills"][0]["signature"] is None


def test_a_recorded_signer_is_checked_again_only_if_somebody_asks(team: Team) -> None:
    """A clone without a policy of its own still says who signed; another version is refused."""
    files = {**FILES, FOLDER_BUNDLE: b"{}"}
    folder = team.folder(files)
    assert team.add(folder).code == 0
    lock = json.loads(team.lock_path.read_bytes())
    entry = lock["skills"]["pdf"]
    entry["sigstoreSigner"] = {"digest": entry["digest"], "identity": "ann@acme", "issuer": "i"}
    team.lock_path.write_text(json.dumps(lock))
    done = team.run("verify")
    assert (done.code, "signed by ann@acme (i), as the lock says, not verified" in done.out) == (
        0,
        True,
    )
    team.folder({**files, "SKILL.md": FILES["SKILL.md"] + b"More.\n"})
    done = team.run("update", "--yes", "--json")
    (skill,) = done.json["skills"]
    assert (skill["state"], skill["problem"]["code"]) == ("refused", "signature_unchecked")
    team.policy("same_signer = true")
    (skill,) = team.run("verify", "--json").json["skills"]
    assert skill["signature"]["state"] == "unchecked"
