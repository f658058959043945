"""The embedded samples: what they are, and the limits each is best first seen with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

SAMPLES = Path(__file__).parents[2] / "sample_data"


@dataclass(frozen=True, slots=True)
class Sample:
    """One embedded sample.

    :param key: its name in links.
    :param file: its file in `sample_data`.
    :param title: what the picker shows.
    :param reason: why it is there and what to look at.
    :param word_count_threshold: the threshold it is first shown with, or None.
    :param top_k: the `top_k` it is first shown with, or None.
    """

    key: str
    file: str
    title: str
    reason: str
    word_count_threshold: int | None
    top_k: int | None


@st.cache_resource
def samples() -> dict[str, Sample]:
    """Read the index of the embedded samples.

    :returns: the samples by key, the first one shown first.
    """
    index = json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))
    return {entry["key"]: Sample(**entry) for entry in index}


def suggest(sample: Sample) -> None:
    """Set the limits a sample is best first seen with, whatever page it is chosen on.

    :param sample: the sample.
    """
    state = st.session_state
    state["limit_words"] = sample.word_count_threshold is not None
    state["limit_documents"] = sample.top_k is not None
    if sample.word_count_threshold:
        state["word_count_threshold"] = sample.word_count_threshold
    if sample.top_k:
        state["top_k"] = sample.top_k
