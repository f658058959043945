"""Learn: the concept in seven steps, live, for a class and for one reader alone."""

import streamlit as st

from lim import charts, evidence, export, frames, lesson
from lim.charts import evidence as draw
from lim.charts.lesson import plain
from lim.frames import evidence as rows
from lim.ranker import arrange
from lim.views.lesson import BODIES
from lim.views.lesson.board import LARGE, Board
from lim.widgets import Sample, pick_documents, watch_theme

NAMES = [step.name for step in lesson.STEPS]
# All of Streamlit's sizes are relative to the root's, so one rule prints the whole page larger for a room.
LARGE_PRINT = f"<style>:root:root {{ font-size: {round(16 * LARGE)}px }}</style>"

state = st.session_state


def go(index: int) -> None:
    """Turn to a step."""
    state["step"] = NAMES[max(0, min(index, len(NAMES) - 1))]


def restart(sample: Sample) -> None:
    """Start the animations over for another sample; the lesson sets its own limits."""
    del sample
    state["animated"] = None


def one_page() -> bytes:
    """Make the printable page from the lesson's own data."""
    result = arrange(lesson.numbered(9), lesson.THRESHOLD)
    curve = next(item for item in evidence.curves() if item.key == "liu-2024/gpt-3.5-turbo/20")
    measured = rows.points([curve])
    pictures = []
    for figure, caption in (
        (charts.landing(frames.landing(result), result), ""),
        (charts.budget(frames.budget(result), result), ""),
        (draw.curve(measured), f"{curve.study}; {curve.source}; {curve.url}"),
    ):
        svg = export.chart_svg(plain(figure, charts.LIGHT, 340, 220)).decode()
        pictures.append(lesson.Picture(figure.title, svg, figure.alt, caption))
    return lesson.summary(pictures)


def to_print() -> None:
    """Offer the page to print."""
    st.download_button(
        "One-page summary",
        one_page,
        "lost-in-the-middle.html",
        "text/html",
        on_click="ignore",
        icon=":material/print:",
        help="HTML, made of the lesson's own data; prints on one sheet",
    )


with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    with st.container(width="content"):
        name = st.segmented_control(
            "Step",
            NAMES,
            default=NAMES[0],
            required=True,
            key="step",
            bind="query-params",
            label_visibility="collapsed",
        )
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        large = st.toggle("Presenter’s view", key="present", bind="query-params")
        if not large:
            to_print()
index = NAMES.index(name) if name in NAMES else 0
step = lesson.STEPS[index]
if large:  # what is not for the room stands at the foot of the screen, beside the buttons to turn
    st.html(LARGE_PRINT)
    foot = st.bottom.container(horizontal=True, horizontal_alignment="distribute")
    back, tools, onward = (foot.container(horizontal=True, width="content") for _ in range(3))
    with tools:
        with st.popover("Documents", icon=":material/description:"):
            picked = pick_documents(restart)
        to_print()
else:
    st.progress((index + 1) / len(NAMES), text=f"Step {index + 1} of {len(NAMES)}")
    with st.sidebar:
        picked = pick_documents(restart)

st.title(step.title, anchor=False)
if not large:  # in a room the teacher says it
    st.markdown(step.lead)
BODIES[index](Board(picked.bench if picked is not None else None, large))

if not large:
    foot = st.container(horizontal=True, horizontal_alignment="distribute")
    back, onward = (foot.container(width="content") for _ in range(2))
back.button(
    f"Back: {NAMES[index - 1]}" if index else "Back",
    key="back",
    icon=":material/arrow_back:",
    shortcut="Left",
    disabled=index == 0,
    on_click=go,
    args=(index - 1,),
)
onward.button(
    f"Next: {NAMES[index + 1]}" if index + 1 < len(NAMES) else "Next",
    key="next",
    icon=":material/arrow_forward:",
    icon_position="right",
    shortcut="Right",
    disabled=index + 1 == len(NAMES),
    on_click=go,
    args=(index + 1,),
)
watch_theme()
