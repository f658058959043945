"""A page of the app without a browser: opened, run, pressed."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[1]
PATIENCE = 90  # seconds; a busy machine is no bug of ours


def opened(name: str, **query_params: str) -> AppTest:
    """Open a page by a link."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    if name != "lab":
        at.switch_page(f"lim/views/{name}.py")
    for key, value in query_params.items():
        at.query_params[key] = value
    return sound(at)


def sound(at: AppTest) -> AppTest:
    """Run the page: whatever a person does, they never meet a traceback."""
    at.run()
    assert not at.exception
    return at


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click()
    return sound(at)


def title(at: AppTest) -> str:
    (found,) = at.title
    return found.value


def metrics(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}
