"""Debian's Chromium, driven through ChromeDriver's plain HTTP interface."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
OPENER = build_opener(ProxyHandler({}))  # the driver is on this machine, whatever proxies there are


class Browser:
    """One window; close it with `quit`.

    Parameters
    ----------
    folder : path-like
        An empty one, for the profile.
    """

    def __init__(self, folder: Path) -> None:
        driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
        if driver is None or chromium is None:
            pytest.skip("no Chromium here; apt-get install chromium chromium-driver brings it")
        self._log = (folder / "driver.log").open("w+", encoding="utf-8")
        self._driver = subprocess.Popen(
            [driver, "--port=0"], stdout=self._log, stderr=subprocess.STDOUT, env=os.environ
        )
        self._address = f"http://127.0.0.1:{self._port(folder / 'driver.log')}"
        self._session = ""
        arguments = [*FLAGS, f"--user-data-dir={folder / 'profile'}"]
        options = {"binary": chromium, "args": arguments}
        always = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        try:
            answer = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": always}})
            self._session = f"/session/{answer['sessionId']}"
        except OSError:
            self.quit()
            raise

    def open(
        self, page: Path | str, *, width: int = 1440, dark: bool = False, media: str = ""
    ) -> None:
        """Show a file, or what is at an address, in a window of this width."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)
        address = page if isinstance(page, str) else page.resolve().as_uri()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._ask("POST", f"{self._session}/url", {"url": address})

    def run(self, script: str) -> Any:
        """Return what the body of a function returns on the page."""
        return self._ask("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Return the answer of a command of the DevTools."""
        body = {"cmd": command, "params": parameters}
        return self._ask("POST", f"{self._session}/goog/cdp/execute", body)

    def messages(self) -> list[str]:
        """Return what the console was told since the last call."""
        return [line["message"] for line in self._logs("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call."""
        events = [json.loads(line["message"])["message"] for line in self._logs("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def pdf(self) -> bytes:
        """Return the page printed on A4."""
        paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
        return base64.b64decode(self.devtools("Page.printToPDF", **paper)["data"])

    def screenshot(self) -> bytes:
        """Return a PNG of the whole page."""
        answer = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def quit(self) -> None:
        """Close the window and the driver."""
        if self._session:
            self._ask("DELETE", self._session)
        self._driver.terminate()
        self._driver.wait(timeout=600)
        self._log.close()

    def _logs(self, kind: str) -> list[dict[str, Any]]:
        return self._ask("POST", f"{self._session}/se/log", {"type": kind})

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._address + path, data, {"Content-Type": "application/json"})
        request.method = method
        with OPENER.open(request, timeout=600) as answer:
            return json.load(answer)["value"]

    def _port(self, log: Path) -> int:
        for _ in range(6000):
            found = re.search(r"successfully on port (\d+)", log.read_text(encoding="utf-8"))
            if found:
                return int(found.group(1))
            time.sleep(0.1)
        raise RuntimeError(f"ChromeDriver did not start: {log.read_text(encoding='utf-8')}")
