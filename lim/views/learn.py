"""Learn: the concept in seven steps, live, for a class and for one reader alone."""

import streamlit as st

from lim import charts, evidence, export, frames, lesson
from lim.charts import evidence as draw
from lim.charts.lesson import plain
from lim.frames import evidence as rows
from lim.ranker import arrange
from lim.views.lesson import BODIES
from lim.widgets import Sample, pick_documents, stage, turn, watch_theme

NAMES = [step.name for step in lesson.STEPS]

state = st.session_state


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


view = stage("Documents", rest=23)
name = view.head.segmented_control(
    "Step",
    NAMES,
    default=NAMES[0],
    required=True,
    key="step",
    bind="query-params",
    label_visibility="collapsed",
)
index = NAMES.index(name) if name in NAMES else 0
step = lesson.STEPS[index]
with view.tools:
    picked = pick_documents(restart)
    if view.large:
        to_print()
if not view.large:
    st.progress((index + 1) / len(NAMES), text=f"Step {index + 1} of {len(NAMES)}")
st.title(step.title, anchor=False)
if not view.large:  # in a room the teacher says it
    st.markdown(step.lead)
BODIES[index](picked.bench if picked is not None else None)

ends = view.ends
if ends is None:
    foot = st.container(horizontal=True, horizontal_alignment="distribute")
    back, middle, onward = (foot.container(width="content") for _ in range(3))
    ends = (back, onward)
    with middle:
        to_print()
turn(ends, NAMES, index, "step")
watch_theme()
