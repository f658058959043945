"""The presenter's view of a page: larger print, no sidebar, the page's story in slides, keys to turn them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

LARGE = 1.6
"""How much larger than on a desk the presenter's view prints a chart."""

FILL = "fill_"
"""Beginning of the key of a container whose chart takes the height the screen has left."""

# All of Streamlit's sizes are relative to the root's, so one rule prints the whole page larger for a room, and on a
# wide projector larger still. What a slide can do without is air around the page: 720 pixels are not many.
_PRINT = """
:root:root { font-size: max(21px, 1.45vw) }
[data-testid="stHeader"] { height: 2.5rem; min-height: 0 }
[data-testid="stMainBlockContainer"] { padding: 2.6rem 2rem 0 }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 0.5rem }
[data-testid="stBottomBlockContainer"] { padding: 0.4rem 2rem 0.6rem }
[data-testid="stMain"] h1 { padding: 0.4rem 0 }
[data-testid="stMain"] p { line-height: 1.35 }
"""
_ROOM = """
[class*="st-key-{}"] [data-testid="stVegaLiteChart"] {{ height: max(14rem, calc(100vh - {}rem)) !important }}
"""


# What Streamlit's own shortcuts leave out: the keys of a clicker, a way out, and scrolling without a click before.
# Turns wait for one another: a run that is interrupted again and again loses messages, and Streamlit's page stops for
# good.
_KEYS = st.components.v2.component(
    "lim_presenter_keys",
    js="""
const turns = []; // outside: what waits outlives the run in between
let timer = null;
const rests = () => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning";
const turn = () => {
  if (rests()) document.querySelector(`.st-key-${turns.shift()} button`)?.click();
  timer = turns.length ? setTimeout(turn, 150) : null;
};
const press = (key) => {
  turns.push(key);
  timer ??= setTimeout(turn, 0);
};

export default function ({ setTriggerValue }) {
  const listen = (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable], [role=slider], [role=dialog]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const main = document.querySelector('[data-testid="stMain"]');
    const scroll = (by) => main?.scrollBy({ top: by * main.clientHeight });
    const meant = {
      ArrowRight: () => press("next"),
      ArrowLeft: () => press("back"),
      PageDown: () => press("next"),
      PageUp: () => press("back"),
      ArrowDown: () => scroll(0.25),
      ArrowUp: () => scroll(-0.25),
      Escape: () => setTriggerValue("leave", true),
    }[event.key];
    if (meant) {
      event.preventDefault();
      meant();
    }
  };
  window.addEventListener("keydown", listen);
  return () => window.removeEventListener("keydown", listen);
}
""",
)


def _leave() -> None:
    st.session_state["present"] = False


def presenting() -> bool:
    """Tell whether the page is shown in the presenter's view, before its switch is drawn, too."""
    return bool(st.session_state.get("present", st.query_params.get("present", "").lower() == "true"))


@dataclass(frozen=True, slots=True)
class Stage:
    """The frame of a page in either view.

    :param head: where the choice of a step or slide stands: the row above the page, or among the tools.
    :param tools: where the choices stand that are not for the room: the sidebar, or a popover at the screen's foot.
    :param ends: the left and the right end of the foot, for the buttons that turn; None in the ordinary view.
    """

    head: DeltaGenerator
    tools: DeltaGenerator
    ends: tuple[DeltaGenerator, DeltaGenerator] | None

    @property
    def large(self) -> bool:
        """Whether it is the presenter's view."""
        return self.ends is not None

    def slide(self, names: Sequence[str], words: str = "") -> int | None:
        """Let a presenter choose the slide, by name, by button or by the arrow keys.

        :param names: the slides in their order, at least one.
        :param words: what the row above the page says in the ordinary view.
        :returns: the index of the slide, or None in the ordinary view.
        """
        if self.ends is None:
            self.head.caption(words)
            return None
        if st.session_state.get("slide") not in (None, *names):
            del st.session_state["slide"]  # the page before has other slides
        name = self.head.segmented_control(
            "Slide",
            names,
            default=names[0],
            required=True,
            key="slide",
            bind="query-params",
            label_visibility="collapsed",
        )
        index = names.index(name) if name in names else 0
        turn(self.ends, names, index, "slide")
        return index


def stage(tools: str, rest: float = 15.5) -> Stage:
    """Begin a page: the switch to the presenter's view above it, or all that a presenter needs at the foot.

    :param tools: the name of the popover that takes the sidebar's place.
    :param rest: what a slide shows beside its chart, in heights of its letters: the chart takes the rest.
    :returns: the frame.
    """
    _mend_link()
    if not presenting():
        row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        head = row.container(width="content")
        row.toggle("Presenter’s view", key="present", bind="query-params")
        return Stage(head, st.sidebar, None)
    _KEYS(key="presenter_keys", on_leave_change=_leave)
    st.html(f"<style>{_PRINT}{_ROOM.format(FILL, rest)}</style>")
    foot = st.bottom.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    back, middle, onward = (foot.container(horizontal=True, width="content") for _ in range(3))
    place = middle.popover(tools, icon=":material/tune:")
    place.toggle("Presenter’s view", key="present", bind="query-params")
    return Stage(place.container(), place.container(), (back, onward))


def _mend_link() -> None:
    """Take numbers without an end out of a link: Streamlit makes a whole number of them, and stops the page."""
    endless = [key for key, value in st.query_params.to_dict().items() if _endless(value)]
    for key in endless:
        del st.query_params[key]
    if endless:
        st.rerun()


def _endless(value: str) -> bool:
    try:
        return math.isinf(float(value))
    except ValueError:
        return False


def turn(ends: tuple[DeltaGenerator, DeltaGenerator], names: Sequence[str], index: int, key: str) -> None:
    """Show the buttons that turn to the one before and the next, which the arrow keys press.

    :param ends: where they stand.
    :param names: what there is to turn to, in its order.
    :param index: the one shown.
    :param key: the state that holds the name of the one shown.
    """
    last = len(names) - 1
    ends[0].button(
        f"Back: {names[index - 1]}" if index else "Back",
        key="back",
        icon=":material/arrow_back:",
        shortcut=None if presenting() else "Left",
        disabled=index == 0,
        on_click=_go,
        args=(key, names, -1),
    )
    ends[1].button(
        f"Next: {names[index + 1]}" if index < last else "Next",
        key="next",
        icon=":material/arrow_forward:",
        icon_position="right",
        shortcut=None if presenting() else "Right",
        disabled=index == last,
        on_click=_go,
        args=(key, names, 1),
    )


def _go(key: str, names: Sequence[str], by: int) -> None:
    """Turn from where it is now, not from where it was drawn, so that fast keys all count."""
    now = st.session_state.get(key)
    place = names.index(now) if now in names else 0
    st.session_state[key] = names[max(0, min(place + by, len(names) - 1))]
