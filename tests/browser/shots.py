"""Take the three standard pictures of the Lab into `tests/browser/shots/`: python tests/browser/shots.py."""

from pathlib import Path

from conftest import FLAGS, ROOT, chromium, served
from lab_page import Lab
from playwright.sync_api import sync_playwright

SHOTS = Path(__file__).parent / "shots"
PICTURES = {"wide": (1440, 900, "light"), "phone": (390, 844, "light"), "dark": (1440, 900, "dark")}


def main() -> None:
    SHOTS.mkdir(exist_ok=True)
    with served(ROOT / "app.py", SHOTS / "server.log") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for name, (width, height, scheme) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.goto(address)
            Lab(page).settle()
            page.screenshot(path=SHOTS / f"{name}.png")
            print(SHOTS / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
