"""The ranker's limits as a person sets them: by number, by slider, or as suggested for new documents."""

from __future__ import annotations

import streamlit as st

HELP = {
    "word_count_threshold": "Words, split at spaces. The walk stops at the document that reaches it, and keeps it.",
    "top_k": "The most documents; cut before the words are counted.",
}


def number(key: str, default: int) -> int:
    """Show a limit as a number.

    :param key: `word_count_threshold` or `top_k`, its name in links.
    :param default: what it is first shown with.
    :returns: the limit, at least 1.
    """
    return int(st.number_input(key, min_value=1, value=default, step=1, key=key, bind="query-params", help=HELP[key]))


def slider(threshold: int, most: int) -> None:
    """Show the threshold as a slider; a threshold set by anything else gives it a new key.

    A browser that has not heard of that threshold yet still sends the old slider's place, with whatever a person does
    next. Under the old key it is not heard; under the same one it would move the threshold back.

    :param threshold: the threshold of now, at most `most`.
    :param most: the largest threshold it sets.
    """
    if most < 2:
        return
    state = st.session_state
    if state.get("slid") != threshold:
        state["slid"], state["slider"] = threshold, state.get("slider", 0) + 1
    key = _slider_key()
    st.slider("Threshold in words", 1, most, threshold, key=key, on_change=_slid, args=(key,), format="%,d")


def _slider_key() -> str:
    return f"threshold_slider_{st.session_state['slider']}"


def _slid(key: str) -> None:
    """Take the slider's value, unless another slider has taken its place."""
    state = st.session_state
    if key == _slider_key():
        state["word_count_threshold"] = state["slid"] = state[key]


def renew(**suggestions: int) -> None:
    """Follow other documents with what was only suggested for the ones before; what a person chose stays.

    :param suggestions: the settings suggested for the documents of now.
    """
    state = st.session_state
    before = state.get("suggested", {})
    state.update({name: new for name, new in suggestions.items() if name in before and state.get(name) == before[name]})
    state["suggested"] = before | suggestions
