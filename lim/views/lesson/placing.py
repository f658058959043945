"""Steps 2 and 3: documents are placed one by one; the budget is walked one by one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from haystack import Document

from lim import charts, lesson
from lim import frames as lab_frames
from lim.charts import lesson as draw
from lim.frames import lesson as frames
from lim.ranker import Arrangement, arrange
from lim.widgets import Bench, palette, show, verbatim

SECONDS = 1.6
"""How long a document stays the one of now while it plays."""

MOST_WALKED = 30
CARDS, OWN = "Numbered cards", "Your list"

state = st.session_state


def idea(bench: Bench | None) -> None:
    """Place documents one by one, asking where one of them lands before it does.

    :param bench: the person's list, or None while there is none.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = _own(bench, "cards_from")
        most = lesson.MAX_CARDS
        if own and bench is not None:
            most = min(most, len(bench.unlimited.walk))
        if state.get("cards", 0) > most:
            state["cards"] = most
        count = st.number_input(
            "Documents", 1, most, min(9, most), key="cards", bind="query-params", on_change=_restart, width=150
        )
    if own and bench is not None:
        documents = lesson.taken(bench.ranked.documents, bench.unlimited.walk, count)
    else:
        documents = lesson.numbered(count)
    _animate("idea", len(documents), lambda: _placing(documents))


def _placing(documents: tuple[Document, ...]) -> None:
    count = len(documents)
    at = min(state["at"], count)
    asked = lesson.asked(count)
    show(draw.placing(frames.placing(count, at), palette()), "placing_chart")
    said = st.container()
    if asked is not None and at == asked - 1 and not state.get("guessed"):
        st.markdown(f"**Where will document {asked} land?**")
        with st.container(horizontal=True, gap="xsmall"):
            for place in lesson.options(count):
                st.button(str(place), key=f"guess_{place}", on_click=_guess, args=(place, asked))
    with said:
        if asked is not None and at == asked and state.get("guessed"):
            right, sentence = lesson.reveal(state["guessed"], asked, count)
            (st.success if right else st.warning)(sentence)
        else:
            st.markdown(lesson.placing_sentence(at, count))
    if at == count:
        result = arrange(documents)
        show(charts.landing(lab_frames.landing(result), result, palette()), "idea_landing")


def _guess(place: int, asked: int) -> None:
    state["guessed"], state["at"] = place, asked


def budget(bench: Bench | None) -> None:
    """Walk down the list and add up words until the threshold, then compare words with tokens.

    :param bench: the person's list, or None while there is none.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = _own(bench, "walk_from")
        documents = lesson.numbered(9)
        if own and bench is not None:
            documents = bench.unlimited.inputs[:MOST_WALKED]
        unlimited = arrange(documents)
        total = max(unlimited.words, 1)
        suggested = min(lesson.THRESHOLD, max(total * 2 // 3, 1)) if own else lesson.THRESHOLD
        if state.get("walk_threshold", 0) > total:
            state["walk_threshold"] = total
        threshold = st.number_input(
            "word_count_threshold",
            1,
            total,
            min(suggested, total),
            key="walk_threshold",
            bind="query-params",
            on_change=_restart,
            width=190,
        )
    result = unlimited.limited(threshold)
    _animate("budget", len(result.walk), lambda: _walking(result))
    _sizes()


def _walking(result: Arrangement) -> None:
    at = min(state["at"], len(result.walk))
    show(draw.walk(frames.walk(result, at), result, palette()), "walk_chart")
    st.markdown(lesson.walk_sentence(result, at))


def _sizes() -> None:
    st.subheader("Words are not tokens", anchor=False)
    st.markdown("The ranker counts what stands between spaces. The model pays for tokens.")
    table = frames.sizes(lesson.sized()).rename(
        columns={"name": "Text", "words": "Words", "tokens": "Tokens (o200k)", "text": "It says"}
    )
    table["It says"] = table["It says"].map(verbatim)  # a table reads Markdown, and would make a link of the address
    st.table(table, hide_index=True, alt="Words and tokens of four texts; the Chinese paragraph is one word")


def _own(bench: Bench | None, key: str) -> bool:
    if bench is None or not bench.unlimited.walk:
        return False
    chosen = st.segmented_control(
        "Shown on", [CARDS, OWN], default=CARDS, required=True, key=key, bind="query-params", on_change=_restart
    )
    return chosen == OWN


def _restart() -> None:
    state["at"], state["playing"], state["guessed"] = 0, False, None


def _animate(name: str, last: int, body: Callable[[], None]) -> None:
    """Show a body that moves by itself while it plays, with its buttons."""
    if state.get("animated") != name:
        _restart()
        state["animated"] = name
    # Registered anew on each full run: a fragment's timer cannot be started or stopped from inside.
    every = SECONDS if state["playing"] else None
    st.fragment(_frame, run_every=every, key=f"{name}_frame")(name, last, body)


def _frame(name: str, last: int, body: Callable[[], None]) -> None:
    if state["playing"]:
        _tick(name, last)
    body()
    waits = _waits(name, last)
    with st.container(horizontal=True, key=f"{name}_buttons"):
        playing = state["playing"]
        label, icon = ("Pause", ":material/pause:") if playing else ("Play", ":material/play_arrow:")
        if st.button(label, icon=icon, shortcut="P", key=f"{name}_play", disabled=waits):
            state["playing"] = not playing
            if not playing and state["at"] >= last:
                state["at"], state["guessed"] = 0, None
            st.rerun()
        st.button(
            "Back",
            icon=":material/skip_previous:",
            shortcut="B",
            key=f"{name}_back",
            on_click=_move,
            args=(-1, last),
        )
        st.button(
            "Forward",
            icon=":material/skip_next:",
            shortcut="N",
            key=f"{name}_forward",
            on_click=_move,
            args=(1, last),
        )
        st.button("To the end", key=f"{name}_end", on_click=_move, args=(last, last))


def _waits(name: str, last: int) -> bool:
    """Tell whether a question stands before the next document."""
    return name == "idea" and lesson.asked(last) == state["at"] + 1 and not state["guessed"]


def _tick(name: str, last: int) -> None:
    if state["at"] < last and not _waits(name, last):
        state["at"] += 1
    if state["at"] >= last or _waits(name, last):
        state["playing"] = False
        st.rerun()


def _move(by: int, last: int) -> None:
    """Move on or back; from where it is now, not where it was drawn, so that fast keys all count."""
    state["at"] = max(0, min(state["at"] + by, last))
    if not state["at"]:
        state["guessed"] = None
