"""A server of the app and a real Chromium, both started once, and a page that minds its manners."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from axe import TALL, Violation, violations
from lab_page import Lab, settle
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NO_CHROMIUM = (
    "The browser tests need a Chromium and found none. Install chromium or google-chrome and put it on PATH, or set "
    "CHROMIUM to its path; `pytest -m 'not browser'` leaves these tests out."
)

PATIENCE = 20_000  # milliseconds; a busy machine is no bug of ours
expect.set_options(timeout=PATIENCE)

OpenLab = Callable[..., Lab]

# A direct link to a page asks the server under the page first, and is told that there is nothing: Streamlit's own way.
ASKED_UNDER_THE_PAGE = re.compile(r"/\w+/_stcore/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def chromium() -> str:
    names = ["chromium", "chromium-browser", "google-chrome", "chrome"]
    given = os.environ.get("CHROMIUM")
    found = given if given and shutil.which(given) else next(filter(None, map(shutil.which, names)), None)
    if found is None or (given and not shutil.which(given)):
        pytest.fail(NO_CHROMIUM, pytrace=False)
    return found


@contextmanager
def served(script: Path, log: Path, folder: Path = ROOT, base: str = "") -> Iterator[str]:
    """Serve a script with Streamlit on a free port, with the settings of a folder; give its address once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}{base}"
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.headless", "true", "--server.port", str(port), "--server.address", "127.0.0.1"]
    options += ["--server.fileWatcherType", "none", "--server.baseUrlPath", base]
    with (
        log.open("wb") as out,
        subprocess.Popen([*command, *options], cwd=folder, stdout=out, stderr=subprocess.STDOUT) as server,
    ):
        try:
            deadline = time.monotonic() + 60
            while not healthy(address):
                if server.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"The server did not start:\n{log.read_text('utf-8', 'replace')}", pytrace=False)
                time.sleep(0.1)
            yield address
        finally:
            server.terminate()


def healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:  # noqa: S310 # our own server
            return answer.status == 200
    except OSError:
        return False


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the app; whatever a person did in the tests, no traceback stands in its log."""
    log = tmp_path_factory.mktemp("server") / "app.log"
    with served(ROOT / "app.py", log) as address:
        yield address
    assert "Traceback" not in log.read_text("utf-8", "replace")


@pytest.fixture(scope="session")
def bare_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a page with the same elements and nothing of ours, not even the theme: what Streamlit itself causes."""
    folder = tmp_path_factory.mktemp("bare")
    script = Path(shutil.copy(Path(__file__).parent / "bare_page.py", folder))
    log = folder / "bare.log"
    with served(script, log, folder) as address:
        yield address
    assert "Traceback" not in log.read_text("utf-8", "replace")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def context_of(browser: Browser) -> Callable[..., BrowserContext]:
    """Share a context, with its cache, among the tests that see the same screen; `name` gives one of its own."""

    @cache
    def make(width: int, height: int, scheme: str, name: str) -> BrowserContext:
        del name
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, has_touch=width < 500)
        context.set_default_timeout(PATIENCE)
        return context

    return make


@pytest.fixture
def open_lab(server: str, context_of: Callable[..., BrowserContext]) -> Iterator[OpenLab]:
    """Open the Lab in a new page, as often as wanted; in the end no page may have complained or called out."""
    pages, complaints = [], []

    def open_it(
        query: str = "",
        *,
        width: int = 1440,
        height: int = 900,
        scheme: str = "light",
        context: str = "shared",
        holdable: bool = False,
    ) -> Lab:
        page = context_of(width, height, scheme, context).new_page()
        pages.append(page)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(f"called {request.url}") if outside(request.url) else None)
        page.on("websocket", lambda socket: complaints.append(f"called {socket.url}") if outside(socket.url) else None)
        page.on("requestfailed", lambda request: failed(request))
        lab = Lab(page)
        if holdable:
            page.route_web_socket(re.compile("/_stcore/stream"), lab.carry)
        page.goto(f"{server}/{query}")
        lab.settle()
        return lab

    def outside(url: str) -> bool:
        return not re.match(rf"(ws|http)://{server.removeprefix('http://')}/|data:|blob:", url)

    def failed(request) -> None:
        if not closing and "ERR_ABORTED" not in (request.failure or ""):
            complaints.append(f"{request.url} failed: {request.failure}")

    closing: list[bool] = []
    yield open_it
    closing.append(True)
    for page in pages:
        page.close()
    assert complaints == []


@pytest.fixture
def open_page(server: str, context_of: Callable[..., BrowserContext]) -> Iterator[Callable[..., Page]]:
    """Open a page of the app, as often as wanted; in the end none may have thrown or called out."""
    pages: list[Page] = []
    complaints: list[str] = []

    def open_it(path: str, *, width: int = 1440, height: int = 900, scheme: str = "light") -> Page:
        page = context_of(width, height, scheme, "learn").new_page()
        pages.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if serious(message) else None)
        page.on("request", lambda request: complaints.append(request.url) if outside(request.url) else None)
        page.goto(f"{server}/{path}")
        settle(page)
        return page

    def serious(message) -> bool:
        return message.type == "error" and not ASKED_UNDER_THE_PAGE.search(message.location.get("url", ""))

    def outside(url: str) -> bool:
        return not url.startswith((f"{server}/", "data:", "blob:"))

    yield open_it
    for page in pages:
        page.close()
    assert complaints == []


@pytest.fixture(scope="session", params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    """Name the theme a page is seen in."""
    return request.param


@pytest.fixture(scope="session")
def streamlits_own(bare_server: str, browser: Browser, scheme: str) -> set[Violation]:
    """Name what Streamlit violates by itself."""
    context = browser.new_context(viewport={"width": 1440, "height": TALL}, color_scheme=scheme)
    page = context.new_page()
    page.goto(bare_server)
    expect(page.get_by_test_id("stVegaLiteChart").nth(1).locator("svg.marks")).to_be_visible()
    expect(page.get_by_test_id("stCode")).to_have_count(2)  # the last element of the page
    own = violations(page)
    context.close()
    print(f"\nStreamlit's own, {scheme}: {sorted(own)}")
    return own
