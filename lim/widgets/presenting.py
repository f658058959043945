"""The presenter's view of a page: larger print, no sidebar, the page's story in slides, keys to turn them."""

from __future__ import annotations

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
    if not presenting():
        row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        head = row.container(width="content")
        row.toggle("Presenter’s view", key="present", bind="query-params")
        return Stage(head, st.sidebar, None)
    st.html(f"<style>{_PRINT}{_ROOM.format(FILL, rest)}</style>")
    foot = st.bottom.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
    back, middle, onward = (foot.container(horizontal=True, width="content") for _ in range(3))
    place = middle.popover(tools, icon=":material/tune:")
    place.toggle("Presenter’s view", key="present", bind="query-params")
    return Stage(place.container(), place.container(), (back, onward))


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
        shortcut="Left",
        disabled=index == 0,
        on_click=_go,
        args=(key, names[max(index - 1, 0)]),
    )
    ends[1].button(
        f"Next: {names[index + 1]}" if index < last else "Next",
        key="next",
        icon=":material/arrow_forward:",
        icon_position="right",
        shortcut="Right",
        disabled=index == last,
        on_click=_go,
        args=(key, names[min(index + 1, last)]),
    )


def _go(key: str, name: str) -> None:
    st.session_state[key] = name
