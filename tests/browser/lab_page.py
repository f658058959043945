"""The Lab as a person at a browser meets it: what can be read from it and done to it."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Download, Locator, Page, WebSocketRoute, expect

RULE = "g.mark-rule.role-mark line"


class Lab:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.title = page.locator("h1")
        self.number = page.get_by_role("spinbutton", name="word_count_threshold")
        self.slider = page.get_by_role("slider", name="Threshold in words")
        self.charts = page.get_by_test_id("stVegaLiteChart")
        self.landing, self.budget = self.charts.nth(0), self.charts.nth(1)

        self._held: list[str | bytes] | None = None
        self._server: WebSocketRoute | None = None

    def carry(self, socket: WebSocketRoute) -> None:
        """Carry what the page says to the server, now or, while it is held, later."""
        self._server = server = socket.connect_to_server()
        socket.on_message(lambda message: server.send(message) if self._held is None else self._held.append(message))

    def hold(self) -> None:
        self._held = []

    def release(self) -> None:
        held, self._held = self._held, None
        for message in held:
            self._server.send(message)

    def settle(self) -> None:
        """Wait until the charts are drawn and nothing runs."""
        expect(self.title).to_be_visible()
        expect(self.charts.last.locator("svg.marks")).to_be_visible()
        expect(self.page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")

    def start_over(self, source: str) -> None:
        self.page.get_by_role("radio", name=source, exact=True).click()

    def upload(self, name: str, data: bytes) -> None:
        """Choose a file, in place of one that is there."""
        self.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": data}
        )

    def set_threshold(self, words: int) -> None:
        self.number.fill(str(words))
        self.number.press("Enter")

    def open_tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def bars(self, chart: Locator) -> Locator:
        return chart.locator('[aria-roledescription="bar"]')

    def bar_of_rank(self, chart: Locator, rank: int) -> Locator:
        """Find a document's bar by what it says to a screen reader."""
        return chart.locator(f'[aria-roledescription="bar"][aria-label*="Original rank: {rank};"]')

    def ranks(self) -> list[int]:
        """Read the ranks on the bars of the first chart, in the order of the prompt."""
        labels = [
            self.bars(self.landing).nth(n).get_attribute("aria-label") for n in range(self.bars(self.landing).count())
        ]
        return [int(re.search(r"; Original rank: (\d+)", label)[1]) for label in labels]

    def rule_label(self) -> str:
        """Read what stands at the threshold's rule."""
        texts = self.budget.locator("g.mark-text.role-mark text").all_text_contents()
        return next((text for text in texts if text.startswith("word_count_threshold")), "")

    def expect_rule(self, words: int) -> None:
        label = self.budget.locator("text", has_text=re.compile(rf"^word_count_threshold = {words:,}(\D|$)"))
        expect(label).to_have_count(1)

    def y_of_words(self, words: float) -> float:
        """Find the height at which the budget chart has so many cumulative words, from its grid."""
        ticks = self.budget.evaluate(
            """chart => {
                const lines = [...chart.querySelectorAll('g.role-axis-grid line')];
                const labels = [...chart.querySelectorAll('g.role-axis-label')].at(-1).querySelectorAll('text');
                return [...labels].map((label, n) =>
                    [Number(label.textContent.replace(/,/g, '')), lines[n].getBoundingClientRect().y]);
            }"""
        )
        (low, at_low), (high, at_high) = ticks[0], ticks[-1]
        return at_low + (words - low) * (at_high - at_low) / (high - low)

    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.page.url).query)

    def download(self, name: str) -> tuple[Download, bytes]:
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name=name).click()
        return waiting.value, Path(waiting.value.path()).read_bytes()


def settle(page: Page) -> None:
    expect(page.locator("h1")).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)
