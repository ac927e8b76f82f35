"""Commands under a policy of signatures: what is not signed as it says is not installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.install.signatures import FOLDER_BUNDLE
from skillyard_testkit import FakeServers
from tests.cli.conftest import plain_surroundings as plain_surroundings
from tests.cli.conftest import run as run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import site as site
from tests.install.signatures.needed import need_sigstore
from tests.install.signatures.team import FILES, Team, zip_of
from tests.install.signatures.team import team as team
from tests.remote_answers import forget_remote_answers
from tests.tables import for_each

need_sigstore()
pytest.importorskip("httpx2", reason="httpx2 is not installed: skillyard[remote]")

from tests.install.signatures.instance import ISSUER, WORKFLOW, SigstoreInstance  # noqa: E402

INSTANCE = SigstoreInstance()
ANYBODY = 'trust_root = "root.json"\n'
ACME = (
    ANYBODY
    + 'identity = [{ identity = "https://github.com/acme/*", issuer = "https://token.*" }]\n'
)
NEWER = {**FILES, "SKILL.md": FILES["SKILL.md"] + b"More.\n"}
MALLORY = "mallory@evil.example"


@pytest.fixture(autouse=True)
def trust_root(team: Team) -> None:
    (team.root / "root.json").write_text(json.dumps(INSTANCE.trust_root()))


def sign_folder(files: dict[str, bytes], identity: str = WORKFLOW) -> dict[str, bytes]:
    return {**files, FOLDER_BUNDLE: INSTANCE.sign_files(files, identity)}


def put(site: tuple[Path, str], files: dict[str, bytes]) -> str:
    """Serve an archive of a folder, and return its address."""
    folder, base = site
    (folder / "pdf.zip").write_bytes(zip_of(files))
    return f"{base}/pdf.zip"


def signature_of(team: Team) -> Any:
    (skill,) = team.run("verify", "--json").json["skills"]
    return skill["signature"]


def test_a_signed_archive_is_installed_and_the_lock_says_who_signed_it(
    team: Team, site: tuple[Path, str]
) -> None:
    team.policy(f"required = true\n{ACME}")
    done = team.add(put(site, sign_folder(FILES)), "--json")
    signer = {"identity": WORKFLOW, "issuer": ISSUER}
    assert done.json["signature"] == {"signer": signer, "before": None, "change": "new"}
    entry = team.entry()
    assert entry["sigstoreSigner"] == {"digest": entry["digest"], **signer}
    assert signature_of(team) == {"state": "verified", "signer": signer}
    assert "pdf" in team.run("list", ".agents/skills").out
    before = team.lock_path.read_bytes()
    shutil.rmtree(team.skill)
    assert team.run("sync").code == 0
    assert team.lock_path.read_bytes() == before
    assert "signed by" in team.run("verify").out


@for_each(
    ("rules", "bundle", "says"),
    [
        (ACME + "required = true", None, "signatures.required in "),
        (ACME + 'required = ["download:http://*"]', None, "signatures.required in "),
        (ACME, INSTANCE.sign_files(FILES, MALLORY), "signatures.identity in "),
        (ACME, INSTANCE.sign_files(NEWER), "changed since it was signed: 'SKILL.md'"),
        (ACME, SigstoreInstance().sign_files(FILES), "chain"),
        (ACME, b"[]", "not a sigstore bundle"),
        ("required = true", INSTANCE.sign_files(FILES), "chain"),
    ],
)
def test_an_archive_that_is_not_signed_as_the_policy_says_is_refused(
    team: Team, site: tuple[Path, str], rules: str, bundle: bytes | None, says: str
) -> None:
    team.policy(rules)
    forget_remote_answers()
    files = FILES if bundle is None else {**FILES, FOLDER_BUNDLE: bundle}
    done = team.add(put(site, files))
    assert (done.code, says in done.err) == (2, True)
    team.assert_nothing_written()


def test_the_folder_of_a_repository_is_signed(team: Team, remotes: FakeServers) -> None:
    team.policy(f'required = ["github:acme/*"]\n{ACME}')
    files = {f"skills/pdf/{path}": data for path, data in sign_folder(FILES).items()}
    remotes.add_repository("acme/signed", files)
    assert team.add("acme/signed").code == 0
    assert signature_of(team)["state"] == "verified"
    remotes.add_repository("acme/signed", {**files, "skills/pdf/scripts/more.sh": b"ls"})
    forget_remote_answers()
    (skill,) = team.run("update", "--yes", "--json").json["skills"]
    assert (skill["state"], skill["problem"]["code"]) == ("refused", "signature_invalid")
    assert "not listed in the signature: 'scripts/more.sh'" in skill["problem"]["message"]
    assert not (team.skill / "scripts" / "more.sh").exists()


def test_every_installed_file_is_verified(team: Team, remotes: FakeServers) -> None:
    """Some are no part of a skill of the user's own: the lock of a project that is a skill."""
    team.policy(f"required = true\n{ACME}")
    files = sign_folder({**FILES, "skills-lock.json": b'{"version": 1, "skills": {}}'})
    remotes.add_repository("acme/signed", {f"skills/pdf/{each}": files[each] for each in files})
    assert team.add("acme/signed").code == 0
    assert (signature_of(team)["state"], team.run("verify").code) == ("verified", 0)


def test_a_lock_that_was_rewritten_does_not_hide_a_changed_file(team: Team) -> None:
    """Who may commit may change a file and every digest in the lock, and still did not sign."""
    files = {**sign_folder(FILES), "SKILL.md": NEWER["SKILL.md"]}
    assert team.add(team.folder(files)).code == 0  # without a policy: whatever it contains
    lock = json.loads(team.lock_path.read_bytes())
    entry = lock["skills"]["pdf"]
    signer = {"identity": WORKFLOW, "issuer": ISSUER}
    entry["sigstoreSigner"] = {**signer, "digest": entry["digest"]}
    team.lock_path.write_text(json.dumps(lock))
    team.policy(ACME)
    done = team.run("verify", "--json")
    (skill,) = done.json["skills"]
    assert (done.code, skill["state"], skill["signature"]["state"]) == (1, "current", "invalid")
    assert "'SKILL.md'" in skill["problem"]["message"]


def test_a_lock_that_names_another_signer_is_told_and_not_installed(team: Team) -> None:
    team.policy(ANYBODY)
    assert team.add(team.folder(sign_folder(FILES, MALLORY))).code == 0
    lock = json.loads(team.lock_path.read_bytes())
    lock["skills"]["pdf"]["sigstoreSigner"]["identity"] = "ann@acme.example"
    team.lock_path.write_text(json.dumps(lock))
    done = team.run("verify")
    assert (done.code, MALLORY in done.out, "ann@acme.example" in done.out) == (1, True, True)
    shutil.rmtree(team.skill)
    (skill,) = team.run("sync", "--json").json["skills"]
    assert (skill["state"], skill["problem"]["code"]) == ("refused", "signature_recorded")
    assert not team.skill.exists()


def test_a_folder_whose_bundle_was_taken_away_is_no_longer_signed(team: Team) -> None:
    """Only a signed archive leaves no bundle: the lock's word for a folder needs it."""
    team.policy(ANYBODY)
    assert team.add(team.folder(sign_folder(FILES))).code == 0
    record = team.entry()["sigstoreSigner"]
    shutil.rmtree(team.skill)
    team.lock_path.unlink()
    (Path(team.folder(NEWER)) / FOLDER_BUNDLE).unlink()
    assert team.add(team.folder(NEWER)).code == 0
    lock = json.loads(team.lock_path.read_bytes())
    entry = lock["skills"]["pdf"]
    entry["sigstoreSigner"] = {**record, "digest": entry["digest"]}
    team.lock_path.write_text(json.dumps(lock))
    done = team.run("verify")
    assert (done.code, "skill.sigstore.json is not in the folder" in done.out) == (1, True)


class TestUpdate:
    @pytest.fixture(autouse=True)
    def installed(self, team: Team, trust_root: None) -> None:
        team.policy(ANYBODY)
        assert team.add(team.folder(sign_folder(FILES))).code == 0

    def test_a_release_of_the_same_workflow_is_no_other_author(self, team: Team) -> None:
        team.policy(f"{ANYBODY}same_signer = true")
        team.folder(sign_folder(NEWER, WORKFLOW.replace("v1", "v2")))
        (skill,) = team.run("update", "--yes", "--json").json["skills"]
        assert (skill["state"], skill["signature"]["change"]) == ("updated", "none")
        assert team.entry()["sigstoreSigner"]["identity"].endswith("v2")

    @for_each(
        ("files", "change", "says"),
        [
            (sign_folder(NEWER, MALLORY), "changed", f"signed by  {MALLORY}"),
            (NEWER, "lost", f"no longer signed by  {WORKFLOW}"),
        ],
    )
    def test_another_author_is_told_before_and_refused_under_the_rule(
        self, team: Team, files: dict[str, bytes], change: str, says: str
    ) -> None:
        folder = Path(team.folder(files))
        if FOLDER_BUNDLE not in files:
            (folder / FOLDER_BUNDLE).unlink(missing_ok=True)
        team.policy(ANYBODY)
        before = team.entry()
        done = team.run("update", "--dry-run")
        assert (done.code, says in done.out) == (0, True)
        done = team.add(str(folder))
        assert (done.code, "say --yes to take it" in done.err, MALLORY in done.err) == (
            2, True, change == "changed",
        )  # fmt: skip
        (skill,) = team.run("update", "--dry-run", "--json").json["skills"]
        assert skill["signature"]["change"] == change
        assert skill["signature"]["before"]["identity"] == WORKFLOW
        team.policy(f"{ANYBODY}same_signer = true")
        done = team.run("update", "--yes")
        assert (done.code, "signatures.same_signer in " in done.out) == (1, True)
        assert team.entry() == before

    def test_without_a_policy_the_recorded_signer_still_binds_the_check(self, team: Team) -> None:
        """The public trust root does not know the private instance, so it is refused."""
        (team.root / "skillyard-policy.toml").unlink()
        team.folder(sign_folder(NEWER))
        (skill,) = team.run("update", "--yes", "--json").json["skills"]
        assert (skill["state"], skill["problem"]["code"]) == ("refused", "signature_invalid")


def test_a_policy_that_comes_later_lets_update_record_the_signer(team: Team) -> None:
    assert team.add(team.folder(sign_folder(FILES))).code == 0
    team.policy(f"required = true\n{ACME}")
    assert team.run("list", ".agents/skills", "--json").json["skills"] == []
    (diagnostic,) = sy.load_catalog(".agents/skills").diagnostics
    assert "say `skillyard update`, which notes who signed it" in diagnostic.hint
    assert team.run("verify").code == 0  # it is signed; only the lock does not say so
    assert team.run("update", "--dry-run", "--json").json["skills"][0]["state"] == "available"
    assert "sigstoreSigner" not in team.entry()
    assert team.run("update", "--yes", "--json").json["skills"][0]["state"] == "pinned"
    assert team.entry()["sigstoreSigner"]["identity"] == WORKFLOW
    assert "pdf" in team.run("list", ".agents/skills").out
    assert team.run("update", "--yes", "--json").json["skills"][0]["state"] == "current"


def test_a_broken_trust_root_is_an_error_and_never_no_rule(team: Team) -> None:
    team.policy(f"required = true\n{ACME}")
    (team.root / "root.json").write_text("{")
    done = team.add(team.folder(sign_folder(FILES)))
    assert (done.code, "root.json: the trust root cannot be read" in done.err) == (2, True)
    team.assert_nothing_written()
