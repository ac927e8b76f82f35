"""A real Chromium, driven over the W3C WebDriver protocol that chromedriver speaks."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
ABSENT = "chromium and chromedriver are not installed (Debian: chromium chromium-driver)"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"),
    # Any host but this machine's loopback is not resolved: nothing can leave.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
KEYS = {
    "Enter": "\ue007", "Escape": "\ue00c", "Down": "\ue015", "Up": "\ue013", "Tab": "\ue004",
    "Backspace": "\ue003", "Control": "\ue009", "Shift": "\ue008",
}  # fmt: skip


class Browser:
    """One window."""

    def __init__(self, client: httpx2.Client, session: str) -> None:
        self._client = client
        self._path = f"/session/{session}"

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send one command; fail with the driver's own words."""
        given = dict(body or {}) if method == "POST" else None
        answer = self._client.request(method, f"{self._path}{path}", json=given)
        value = answer.json()["value"]
        assert answer.status_code == 200, f"{value['error']}: {value['message']}"
        return value

    def open(self, url: str) -> None:
        """Go to an address, and wait until it has loaded."""
        self.call("POST", "/url", {"url": url})

    def seen(self) -> None:
        """Wait until the page has been painted: a key or a click before that is lost."""
        self.until(
            "return document.readyState === 'complete'"
            " && performance.getEntriesByType('paint').length > 0"
        )

    @property
    def url(self) -> str:
        return str(self.call("GET", "/url"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what the body of a function returns, run in the page."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, css: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).innerText", css))

    def count(self, css: str) -> int:
        return int(self.run("return document.querySelectorAll(arguments[0]).length", css))

    def click(self, css: str) -> None:
        """Click as a person does: where the element is, if nothing lies over it."""
        self.seen()
        found = self.call("POST", "/element", {"using": "css selector", "value": css})
        self.call("POST", f"/element/{found[ELEMENT]}/click")

    def press(self, *keys: str) -> None:
        """Press keys, by name or as they are typed, wherever the focus is."""
        self.seen()
        actions = [
            {"type": kind, "value": KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.call("POST", "/actions", {"actions": [source]})

    def hold(self, modifier: str, key: str) -> None:
        """Press a key while another one is held down."""
        held, pressed = KEYS[modifier], KEYS.get(key, key)
        order = (("keyDown", held), ("keyDown", pressed), ("keyUp", pressed), ("keyUp", held))
        actions = [{"type": kind, "value": value} for kind, value in order]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        self.call("POST", "/actions", {"actions": [source]})

    def write(self, text: str) -> None:
        self.press(*text)

    def until(self, script: str, *arguments: Any) -> None:
        """Wait until the body of a function returns something true."""
        wait(lambda: bool(self.run(script, *arguments)), script)

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Give the page a viewport of this size."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, mobile=phone,
            deviceScaleFactor=2 if phone else 1,
        )  # fmt: skip

    def media(self, **features: str) -> None:
        """Set media features, as in ``prefers_color_scheme="dark"``."""
        named = [{"name": n.replace("_", "-"), "value": v} for n, v in features.items()]
        self.devtools("Emulation.setEmulatedMedia", features=named)

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def complaints(self) -> list[str]:
        """Return what the console has said since the last look: errors, violations of policy."""
        return [
            f"{e['level']}: {e['message']}"
            for e in self.call("POST", "/se/log", {"type": "browser"})
        ]

    def heard(self) -> list[tuple[str, str]]:
        """Return (role, name) of all that a screen reader is given."""
        nodes: list[dict[str, Any]] = []

        def built() -> bool:
            nodes[:] = self.devtools("Accessibility.getFullAXTree")["nodes"]
            return len(nodes) > 1

        wait(built, "the tree for screen readers is built")
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in nodes
            if not node["ignored"]
        ]

    def screenshot(self, path: Path) -> None:
        """Write the whole page, not only what is in view."""
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {
            "x": 0,
            "y": 0,
            "width": size["width"],
            "height": min(size["height"], 4_000),
            "scale": 1,
        }
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))


def wait(true: Callable[[], bool], what: str) -> None:
    """Ask again and again, for as long as the slowest machine may take."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end, f"it did not happen: {what}"
        time.sleep(0.01)  # another process has to get on meanwhile


@contextmanager
def driver(folder: Path) -> Iterator[httpx2.Client]:
    """Run chromedriver until the context ends."""
    assert DRIVER is not None, ABSENT
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}
    with (folder / "chromedriver.log").open("wb") as log:
        process = subprocess.Popen(
            [DRIVER, f"--port={port}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=home
        )
        try:
            base = f"http://127.0.0.1:{port}"
            with httpx2.Client(base_url=base, timeout=60, trust_env=False) as client:
                wait(lambda: _ready(client), "chromedriver starts")
                yield client
        finally:
            process.terminate()
            process.wait(20)


def _ready(client: httpx2.Client) -> bool:
    try:
        return bool(client.get("/status").json()["value"]["ready"])
    except httpx2.TransportError:
        return False


@contextmanager
def browser(client: httpx2.Client, profile: Path, *, script: bool = True) -> Iterator[Browser]:
    """Give a window with a fresh profile; without ``script`` no page's script runs."""
    preferences = {} if script else {"profile.managed_default_content_settings.javascript": 2}
    options = {
        "binary": CHROMIUM,
        "args": [*ARGUMENTS, f"--user-data-dir={profile}"],
        "prefs": preferences,
    }
    wanted = {"browserName": "chrome", "goog:chromeOptions": options,
              "goog:loggingPrefs": {"browser": "ALL"}}  # fmt: skip
    answer = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
    made = answer.json()["value"]
    assert answer.status_code == 200, f"{made['error']}: {made['message']}"
    window = Browser(client, made["sessionId"])
    try:
        yield window
    finally:
        window.call("DELETE", "")
