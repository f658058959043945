"""The app as it is served for others: from the container's files alone, below a path of its own."""

import re
import shutil
from pathlib import Path

import conftest
from playwright.sync_api import expect


def container(folder: Path) -> Path:
    """Copy what the container's recipe copies; give the folder."""
    folder.mkdir()
    recipe = (conftest.ROOT / ".github" / "Dockerfile").read_text("utf-8")
    for *sources, target in (line.split() for line in re.findall(r"^COPY (.+)$", recipe, re.MULTILINE)):
        for source in sources:
            place = folder / target / (source if target.endswith((".", "/")) else "")
            if (conftest.ROOT / source).is_dir():
                shutil.copytree(conftest.ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__", "secrets*"))
            else:
                shutil.copy(conftest.ROOT / source, place)
    return folder


def test_every_page_works_from_the_containers_files_below_a_base_path(context_of, tmp_path):
    log = tmp_path / "app.log"
    folder = container(tmp_path / "lab")
    with conftest.served(folder / "app.py", log, folder, base="/tools/lab") as address:
        page = context_of(1440, 900, "light", "base path").new_page()
        outside = []
        page.on("request", lambda request: None if request.url.startswith(address) else outside.append(request.url))
        page.goto(f"{address}/?word_count_threshold=700")
        title = page.locator("h1")
        expect(title).to_contain_text("threshold of 700")
        links = page.get_by_test_id("stTopNavLink")
        assert links.count() >= 6
        for number in range(1, links.count()):
            before = title.text_content()
            links.nth(number).click()
            expect(title).not_to_have_text(before)
            expect(page.get_by_test_id("stException")).to_have_count(0)
            assert page.url.startswith(f"{address}/")
        page.goto(f"{address}/evidence")
        expect(title).to_contain_text("Is it worth it?")
        page.close()
    assert [url for url in outside if not url.startswith(("data:", "blob:"))] == []
    assert "Traceback" not in log.read_text("utf-8", "replace")
