"""The list on the bench: read and measured once, whatever limits follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lim import measure
from lim.checks import Finding, check
from lim.loading import Loaded, RankedList, Reading, load, load_pasted
from lim.ranker import Arrangement, arrange


@dataclass(frozen=True, slots=True)
class Bench:
    """The list on the bench, with everything about it that no limit changes.

    :param ranked: the list.
    :param unlimited: its arrangement without limits; limits are applied with `Arrangement.limited`.
    :param tokens: tokens of each document, or None where they are not available.
    :param findings: what to look at before trusting the arrangement.
    :param key: changes whenever the documents do.
    """

    ranked: RankedList
    unlimited: Arrangement
    tokens: list[int] | None
    findings: tuple[Finding, ...]
    key: tuple[Any, ...]

    @property
    def scores(self) -> Sequence[float | None]:
        """The number to show for each document: its score or its distance."""
        return self.ranked.distances or [document.score for document in self.ranked.documents]


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Reading the documents …")
def load_cached(data: bytes, name: str, reading: Reading | None, beside: tuple[bytes, str] | None) -> Loaded:
    """Load a file once for each content and reading.

    :param data: the file's bytes.
    :param name: the file's name.
    :param reading: a person's choices, or None.
    :param beside: a companion file with the texts, or None.
    :returns: as `lim.loading.load`.
    """
    return load(data, name, reading=reading, beside=beside)


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Reading the documents …")
def paste_cached(text: str, reading: Reading | None) -> Loaded:
    """Load a pasted text once for each content and reading.

    :param text: the text.
    :param reading: a person's choices, or None.
    :returns: as `lim.loading.load_pasted`.
    """
    return load_pasted(text, reading=reading)


@st.cache_resource(max_entries=6, ttl="2h", show_spinner="Counting words and tokens …")
def bench(_ranked: RankedList, key: tuple[Any, ...]) -> Bench:
    """Measure a list once, whatever limits follow.

    :param _ranked: the list.
    :param key: identifies the list: content, reading and place in its file.
    :returns: the list on the bench.
    """
    unlimited = arrange(_ranked.documents)
    tokens = measure.tokens([document.content or "" for document in _ranked.documents])
    return Bench(_ranked, unlimited, tokens, check(unlimited, _ranked.distances), key)
