"""The document picker: a sample, a paste or a file, one of its lists, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lim.errors import LimError, MissingTextError
from lim.loading import Loaded, NoticeKind, Order, Reading
from lim.widgets.embedded import SAMPLES, Sample, samples, suggest
from lim.widgets.figures import verbatim
from lim.widgets.reading import Bench, bench, load_cached, paste_cached

SHOWN_NOTICES = 8
NO_FIELD = "(none)"
SETTINGS_ONLY = "A link that leads here carries settings only: the documents stay with whoever made it."
AS_READ = "As the input says"


@dataclass(frozen=True, slots=True)
class Picked:
    """What a person chose to look at.

    :param bench: the list on the bench.
    :param loaded: the whole input it comes from.
    :param sample: the sample it comes from, or None for a person's own documents.
    """

    bench: Bench
    loaded: Loaded
    sample: Sample | None


def pick_documents(
    on_new_sample: Callable[[Sample], None] | None = None, *, first: str | None = None, whole: bool = False
) -> Picked | None:
    """Let a person choose documents: a sample, a paste or a file, one of its lists, and how it is read.

    :param on_new_sample: called when another sample is chosen, before the page runs again and after its limits are
        set.
    :param first: the key of the sample that is shown first; the first of all by default.
    :param whole: the page is about all lists of the input: none is to be chosen, the default one is on the bench.
    :returns: what was chosen, or None (with a word to the person) while there is nothing to show.
    """
    catalogue = {sample.title: sample for sample in samples().values()}
    titles = list(catalogue)
    index = titles.index(samples()[first].title) if first is not None else 0

    def announce() -> None:
        if st.session_state["source"] == "Sample":
            # Not drawn yet in a session that began with a paste or an upload.
            sample = catalogue[st.session_state.get("sample") or titles[index]]
            suggest(sample)
            if on_new_sample is not None:
                on_new_sample(sample)

    source = st.segmented_control(
        "Documents",
        ["Sample", "Paste", "Upload"],
        default="Sample",
        required=True,
        key="source",
        bind="query-params",
        on_change=announce,
        width="stretch",
    )
    try:
        if source == "Sample":
            title = st.selectbox("Sample", titles, index=index, key="sample", bind="query-params", on_change=announce)
            sample = catalogue[title]
            st.caption(sample.reason)
            data, name = (SAMPLES / sample.file).read_bytes(), sample.file
            return _choose(
                lambda reading: load_cached(data, name, reading, None), ("sample", sample.key), sample, whole
            )
        return _pasted(whole) if source == "Paste" else _uploaded(whole)
    except LimError as error:
        st.error(verbatim(str(error)), title="This could not be read")
        return None


def _pasted(whole: bool) -> Picked | None:
    text = st.text_area(
        "Ranked documents, most relevant first",
        key="pasted",
        height=220,
        persist_state="session",
        placeholder="First document\n\nSecond document\n\n… or JSON, JSON Lines, CSV",
        help="Separate documents by a blank line, a line of ---, or a form feed. Nothing you paste leaves this server.",
    )
    if not text.strip():
        st.caption("Paste a ranked list, then press Ctrl+Enter or click beside the box. " + SETTINGS_ONLY)
        return None
    return _choose(lambda reading: paste_cached(text, reading), ("paste", text), None, whole)


def _keep_upload() -> None:
    """Keep the file for the other pages: a page's own uploader is empty when a person comes back to it."""
    upload = st.session_state["upload"]
    st.session_state["kept_upload"] = (upload.getvalue(), upload.name) if upload is not None else None


def _uploaded(whole: bool) -> Picked | None:
    upload = st.file_uploader(
        "A ranked list, most relevant first",
        key="upload",
        on_change=_keep_upload,
        help="Text, Markdown, CSV, TSV, JSON, JSON Lines, Parquet, Excel, TREC runs; gzip or zip of these; the "
        "output of most retrieval stacks. Nothing you upload leaves this server, and nothing is stored.",
    )
    if upload is not None:
        st.session_state["kept_upload"] = (upload.getvalue(), upload.name)
    kept = st.session_state.get("kept_upload")
    if kept is None:
        st.caption("Upload a file to see where each document lands. " + SETTINGS_ONLY)
        return None
    data, name = kept
    if upload is None:
        st.text(f"Still here: {name}")
        st.button("Forget it", on_click=_forget_upload, icon=":material/delete:")
    said = st.empty()
    try:
        return _choose(lambda reading: load_cached(data, name, reading, None), ("upload", data, name), None, whole)
    except MissingTextError as error:
        said.warning(verbatim(str(error)), title="Ranks without texts")
    companion = st.file_uploader("The file with the texts: the corpus, or the documents that were sent", key="beside")
    if companion is None:
        return None
    said.empty()
    beside = (companion.getvalue(), companion.name)
    return _choose(
        lambda reading: load_cached(data, name, reading, beside), ("upload", data, name, beside), None, whole
    )


def _forget_upload() -> None:
    st.session_state["kept_upload"] = None


def _choose(
    read: Callable[[Reading | None], Loaded], key: tuple[Any, ...], sample: Sample | None, whole: bool
) -> Picked | None:
    loaded = read(None)
    _forget_reading(key)
    with st.expander("How it was read", icon=":material/fact_check:"):
        reading = _reading(loaded, fingerprint=str(hash(key)))
        if reading != Reading():
            loaded = read(reading)
        st.caption(f"Recognised as {loaded.format}.")
        for notice in loaded.notices[:SHOWN_NOTICES]:
            st.text(
                f"{notice.kind.value.capitalize()}: {notice.message}" + (f" ({notice.place})" if notice.place else "")
            )
        if len(loaded.notices) > SHOWN_NOTICES:
            st.caption(f"… and {len(loaded.notices) - SHOWN_NOTICES:,} more, all in the Input tab.")
    index = loaded.default
    if len(loaded.lists) > 1 and not whole:
        names = list_names(loaded)
        name = st.selectbox(
            f"Ranked list, {len(names):,} in this input",
            names,
            index=loaded.default,
            key=_list_key(key, sample),
            bind="query-params" if sample else None,  # a person's own queries never go into a link
        )
        index = names.index(name)
    if any(notice.kind is NoticeKind.LEFT_OUT for notice in loaded.notices):
        st.warning("Something in this input is not among the documents: see how it was read.")
    picked = Picked(bench(loaded.lists[index], (key, reading, index)), loaded, sample)
    _restore(picked, key)
    return picked


def _restore(picked: Picked, key: tuple[Any, ...]) -> None:
    """Set what a session file was saved with, once, and say so; what differs from the saved is a warning."""
    state, session = st.session_state, picked.loaded.session
    if session is None:
        state["restored"] = None
        return
    if state.get("restored") != key:
        state["restored"] = key
        limits = {"word_count_threshold": session.word_count_threshold, "top_k": session.top_k}
        state.update(limit_words=session.word_count_threshold is not None, limit_documents=session.top_k is not None)
        view = {"form": session.form, "context": session.context, "reserve": session.reserve}
        kept = {**limits, **view, "template": session.template}
        state.update({name: value for name, value in kept.items() if value is not None})
        state.update(picked_from=picked.bench.key, picked=session.picked)
    st.success(verbatim(f"Opened a session made with haystack-ai {session.haystack}; settings restored."))
    for notice in picked.loaded.notices:
        if notice.kind is NoticeKind.CHANGED:
            st.warning(verbatim(notice.message))


def list_choice(picked: Picked, place: int) -> tuple[str, str | None]:
    """Say what the choice of a list is called, for a page that leads to it.

    :param picked: what a person chose to look at.
    :param place: of the list in the input, from 0.
    :returns: the key of the choice, and the list's name there; None if the input has no other list.
    """
    name = list_names(picked.loaded)[place] if len(picked.loaded.lists) > 1 else None
    return _list_key(picked.bench.key[0], picked.sample), name


def list_names(loaded: Loaded) -> list[str]:
    """Name the lists of an input for a choice among them.

    :param loaded: the input.
    :returns: a name for each, no two alike.
    """
    return [f"{number}. {each.name[:120]} ({len(each.documents):,})" for number, each in enumerate(loaded.lists, 1)]


def _list_key(key: tuple[Any, ...], sample: Sample | None) -> str:
    return "list" if sample else f"list_{hash(key)}"


def _forget_reading(key: tuple[Any, ...]) -> None:
    """Reset how the documents before these were read: an order or ids meant for one list silently change another."""
    origin = key[:1] if key[0] == "paste" else key  # a person edits a paste
    if st.session_state.setdefault("read_from", origin) != origin:
        st.session_state.update(read_from=origin, order=AS_READ, ignore_ids=False, prepend_title=False)


def _reading(loaded: Loaded, fingerprint: str) -> Reading:
    """Offer the other plausible readings; a choice that is the loader's own stays None."""
    taken = loaded.reading
    orders = {
        AS_READ: None,
        "As listed": Order.LISTED,
        "By rank field": Order.RANK,
        "By score, highest first": Order.SCORE,
        "By distance, lowest first": Order.DISTANCE,
    }
    own_order = next((label for label, order in orders.items() if order is taken.order), "As listed")
    order = st.selectbox(
        "Order of relevance",
        list(orders),
        key="order",
        bind="query-params",
        help=f"Of its own accord this input is read *{own_order.lower()}*.",
    )
    ignore_ids = st.toggle(
        "Ignore the ids",
        key="ignore_ids",
        bind="query-params",
        help="Haystack then makes an id of text and meta, so only copies with the same text and meta are duplicates.",
    )
    separator = None
    if loaded.separators:
        cuts = {f"{cut.label} ({cut.count:,})": cut.key for cut in loaded.separators}
        keys = list(cuts.values())
        own = keys.index(taken.separator) if taken.separator in keys else 0
        chosen = st.selectbox("Between documents", list(cuts), index=own, key=f"separator_{fingerprint}")
        separator = cuts[chosen] if cuts[chosen] != keys[own] else None
    fields: dict[str, str | None] = {}
    title = None
    if len(loaded.fields) > 1:
        for part in ("text", "id", "score", "rank", "query"):
            own_field = getattr(taken, part) or NO_FIELD
            options = list(dict.fromkeys([own_field, NO_FIELD, *loaded.fields]))
            picked = st.selectbox(f"Field of the {part}", options, key=f"field_{part}_{fingerprint}")
            fields[part] = None if picked == own_field else "" if picked == NO_FIELD else picked
        if st.toggle("Title before the text", key="prepend_title", bind="query-params"):
            title = True
    return Reading(
        **fields,
        prepend_title=title,
        ignore_ids=ignore_ids,
        order=orders[order],
        separator=separator,
    )
