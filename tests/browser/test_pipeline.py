"""The Pipeline page as a person at a browser meets it: built, run, stopped, taken home."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

import pytest
from axe import TALL, violations
from conftest import ROOT, served
from lab_page import settle
from playwright.sync_api import Browser, Page, expect

HOLDS = "All 20 arranged documents reach the prompt in the intended order."
UNDONE = (
    "pipeline?second=InMemoryBM25Retriever&document_joiner_join_mode=reciprocal_rank_fusion"
    "&rank_1=MetaFieldRanker&meta_field_top_k=12&after=DocumentJoiner"
)


def drawn(page: Page, lines: int) -> None:
    chart = page.get_by_test_id("stVegaLiteChart")
    expect(chart.locator('[aria-roledescription="line mark"]')).to_have_count(lines)
    settle(page)


def pick(page: Page, label: str, option: str) -> None:
    box = page.get_by_role("combobox", name=label, exact=True)
    box.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # while the sidebar scrolls, a list that opens is closed again
    box.fill(option)
    expect(page.get_by_role("option", name=option, exact=True)).to_be_visible()
    box.press("Enter")


def test_a_pipeline_is_built_run_and_linked(open_page):
    page = open_page("pipeline")
    title = page.locator("h1")
    expect(title).to_have_text(HOLDS)
    drawn(page, 20)
    pick(page, "Retrieve", "InMemoryBM25Retriever")
    expect(title).to_have_text("All 10 arranged documents reach the prompt in the intended order.")
    drawn(page, 10)
    pick(page, "After the arrangement", "DocumentJoiner")
    expect(title).to_have_text("The intended order is lost: DocumentJoiner puts the documents into another order.")
    expect(page.get_by_role("list", name="The pipeline").get_by_role("listitem")).to_have_count(4)
    expect(page.get_by_text("loses the order")).to_have_count(1)
    drawn(page, 10)
    assert {"retrieve=InMemoryBM25Retriever", "after=DocumentJoiner"} <= set(page.url.partition("?")[2].split("&"))
    with page.expect_download() as waiting:
        page.get_by_role("tab", name="Take it home").click()
        page.get_by_role("button", name="Download pipeline.yaml").click()
    assert "InMemoryBM25Retriever" in waiting.value.path().read_text("utf-8")


def test_it_fits_a_phone(open_page):
    page = open_page(UNDONE, width=390, height=844)
    drawn(page, 20)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    labels = page.locator(".role-axis-label text")
    boxes = [labels.nth(index).bounding_box() for index in range(labels.count())]
    assert len(boxes) == 7
    assert all(left["x"] + left["width"] <= right["x"] + 1 for left, right in pairwise(boxes))


def test_no_serious_violation_is_ours(open_page, streamlits_own, scheme):
    page = open_page(f"{UNDONE}&pipeline_tab=Take+it+home", height=TALL, scheme=scheme)
    drawn(page, 20)
    assert violations(page) - streamlits_own == set()


@pytest.fixture
def slow_chat(monkeypatch, tmp_path):
    """Serve the app with a chat server beside it that answers when it is let; give both."""
    let = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            let.wait(20)
            said = {"role": "assistant", "content": '{"documents": [{"index": 2}, {"index": 1}, {"index": 3}]}'}
            answer = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
            }
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("LIM_CHAT_MODEL", "m")
    monkeypatch.setenv("LIM_CHAT_URL", f"http://127.0.0.1:{server.server_port}/v1")
    with served(ROOT / "app.py", tmp_path / "server.log") as address:
        yield address, let
    server.shutdown()
    server.server_close()
    assert "Traceback" not in (tmp_path / "server.log").read_text("utf-8", "replace")


def test_a_run_shows_its_progress_can_be_stopped_and_run_again(slow_chat, browser: Browser):
    address, let = slow_chat
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/pipeline?rank_1=LLMRanker")
    title = page.locator("h1")
    expect(title).to_have_text("This pipeline has not run yet")
    page.get_by_role("button", name="Run the pipeline").click()
    expect(title).to_have_text("The pipeline runs …")
    expect(page.get_by_test_id("stProgress")).to_contain_text("LLMRanker")
    page.get_by_role("tab", name="What can run").click()  # the run goes on whatever the page does
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopping;")).to_be_visible()
    let.set()
    expect(title).to_have_text("The run was stopped at LostInTheMiddleRanker: the order did not reach the prompt.")
    page.get_by_role("button", name="Run again").click()
    expect(title).to_have_text("All 3 arranged documents reach the prompt in the intended order.")
    drawn(page, 20)
    page.close()
