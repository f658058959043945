"""How pages are laid out alike: tabs of which the open one runs, a page without documents, a bar while work is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from lim.widgets.picker import Picked

Made = TypeVar("Made")


def tabbed(bodies: Mapping[str, Callable[[], None]], key: str) -> None:
    """Show tabs, and run the body of the open one alone.

    :param bodies: what each tab shows, by its name.
    :param key: the state that holds the name of the open one, and its name in links.
    """
    opened = st.tabs(list(bodies), key=key, on_change="rerun", bind="query-params")
    for tab, body in zip(opened, bodies.values(), strict=True):
        if tab.open:
            with tab:
                body()


def documents_there(picked: Picked | None, question: str) -> Picked | None:
    """Say why there is nothing to show, where there is nothing.

    :param picked: what a person chose to look at.
    :param question: the page's title while nothing is chosen.
    :returns: the same, or None if it has no document.
    """
    if picked is None:
        st.title(question, anchor=False)
        st.write("Choose a sample, paste a ranked list, or upload one in the sidebar.")
    elif not picked.bench.unlimited.inputs:
        st.title("This list holds no document", anchor=False)
        st.write("Every record was left out; *How it was read* in the sidebar names each with the reason.")
    else:
        return picked
    return None


def made_with_bar(slot: list[Made], said: str, make: Callable[[Callable[[int, int | None], None]], Made]) -> Made:
    """Make something once, with a bar that shows how far it is: a cached function may not move one.

    :param slot: a cached list, empty until it holds what was made.
    :param said: what stands at the bar.
    :param make: makes it, given what to tell how much is done and of how much, if that is known.
    :returns: what was made, now or before.
    """
    if not slot:
        bar = st.progress(0.0, said)

        def advance(done: int, total: int | None) -> None:
            bar.progress(min(done / (total or max(done, 1)), 1.0), said)

        try:
            slot.append(make(advance))
        finally:
            bar.empty()
    return slot[0]
