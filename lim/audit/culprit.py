"""What most likely happened between the ranker and the prompt, in words."""

from __future__ import annotations

from collections.abc import Sequence

from lim.audit.model import Comparison, KnownOrder, Sighting, Status, two_places

_ALIKE = 0.05  # a template's cut leaves texts of nearly one length

_ORDER = {
    KnownOrder.RELEVANCE: (
        "The documents stand in relevance order: the arrangement was undone, or never reached the prompt builder. "
        "Likely a ranker or a joiner behind the LostInTheMiddleRanker, or a prompt builder that is connected to the "
        "retriever."
    ),
    KnownOrder.SCORE: (
        "The documents stand in the order of descending scores: likely a DocumentJoiner with sort_by_score, a second "
        "ranker that sorts by score, or a template that sorts."
    ),
    KnownOrder.SCORE_ASCENDING: (
        "The documents stand in the order of ascending scores: likely a template that sorts, or scores that are read "
        "as distances."
    ),
    KnownOrder.REVERSED: "The intended order is upside down: likely a template or a step that reverses the list.",
    KnownOrder.RELEVANCE_REVERSED: (
        "The documents stand with the least relevant one first: likely a template or a step that reverses the list to "
        "put the best document last, in the place of the arrangement."
    ),
    KnownOrder.ARRANGED_TWICE: (
        "The documents were arranged twice: likely a second LostInTheMiddleRanker, which takes the first one's output "
        "for a ranking."
    ),
    KnownOrder.REARRANGED: (
        "The documents that are there are arranged among themselves: likely some were dropped before the "
        "LostInTheMiddleRanker ran."
    ),
    KnownOrder.LANGCHAIN: (
        "The documents stand in the order of LangChain's LongContextReorder: likely it runs in the place of the "
        "LostInTheMiddleRanker."
    ),
    KnownOrder.LLAMAINDEX: (
        "The documents stand in the order of LlamaIndex's LongContextReorder: likely it runs in the place of the "
        "LostInTheMiddleRanker."
    ),
}


def culprit(sightings: Sequence[Sighting], order: KnownOrder, comparisons: Sequence[Comparison]) -> str:
    """Say what most likely happened.

    :param sightings: what the prompt holds of each document.
    :param order: the order the prompt holds.
    :param comparisons: its order against every known one.
    :returns: one sentence or several.
    """
    found = any(sighting.spans for sighting in sightings)
    if not found and any(sighting.intended for sighting in sightings):
        return (
            "None of the documents is in the prompt: those given beside it may be the wrong ones. If they are "
            "not, likely the template leaves their content out, or they were rewritten on the way."
        )
    said = [_about_order(order, comparisons), *_about_documents(sightings)]
    return " ".join(filter(None, said)) or "Nothing: the prompt holds the documents as intended."


def _about_order(order: KnownOrder, comparisons: Sequence[Comparison]) -> str:
    if order is KnownOrder.INTENDED:
        return ""
    exact = {each.order: each for each in comparisons if each.first_departure is None}
    if order is KnownOrder.RELEVANCE and KnownOrder.SCORE in exact:
        return (
            "The documents stand in relevance order, by descending scores: likely a DocumentJoiner with "
            "sort_by_score, a second ranker or a template that sorts, behind the LostInTheMiddleRanker; or the prompt "
            "builder is connected to the retriever."
        )
    if order is KnownOrder.SORTED:
        return (
            f"The documents are sorted by {exact[order].field}: likely a MetaFieldRanker behind the "
            f"LostInTheMiddleRanker, or a template that sorts by this field."
        )
    if order is KnownOrder.NONE:
        near = max(comparisons, key=lambda each: -2.0 if each.tau is None else each.tau)
        at = comparisons[0].first_departure
        return (
            f"The documents stand in no known order; the first that is out of the intended order is at position {at}. "
            f"Nearest is: {near.order.value} (Kendall's tau {two_places(near.tau or 0)}). Look for a step "
            f"that changes the list."
        )
    return _ORDER[order]


def _about_documents(sightings: Sequence[Sighting]) -> list[str]:
    said: list[str] = []
    missing = [each for each in sightings if each.status is Status.MISSING]
    if missing:
        expected = [each for each in sightings if each.intended]
        ranks = [each.rank for each in missing if each.rank is not None]
        weakest = sorted(each.rank for each in expected if each.rank is not None)[-len(ranks) :] if ranks else []
        likely = "a filter or a joiner behind the ranker"
        if sorted(ranks) == weakest:
            likely = "a limit behind the ranker, such as top_k, because they are the least relevant"
        elif sorted(each.intended or 0 for each in missing) == list(
            range(len(expected) - len(missing) + 1, len(expected) + 1)
        ):
            likely = "the prompt was cut at its end, because they are the last"
        said.append(f"{_listed(missing)} missing: likely {likely}.")
    truncated = [each for each in sightings if each.spans and each.surviving < 1]
    if truncated:
        said.append(f"{_listed(truncated)} truncated: likely {_cutter(truncated, sightings)}.")
    repeated = [each for each in sightings if each.status is Status.REPEATED]
    if repeated:
        said.append(
            f"{_listed(repeated)} in the prompt more than once: likely two lists were joined without removing "
            f"duplicates, or an earlier turn of the conversation holds them too."
        )
    unexpected = [each for each in sightings if each.status is Status.UNEXPECTED]
    if unexpected:
        said.append(
            f"{_listed(unexpected)} in the prompt although the ranker left {'it' if len(unexpected) == 1 else 'them'} "
            f"out: likely the prompt builder is connected to a list from before the ranker."
        )
    return said


def _cutter(truncated: Sequence[Sighting], sightings: Sequence[Sighting]) -> str:
    ends = [span.end for sighting in sightings for span in sighting.spans]
    if len(truncated) == 1:
        last = truncated[0].spans[0].end == max(ends)
        return "the prompt was cut to fit a limit" if last else "a limit on the length of one document"
    lengths = [len(each.document.content or "") * each.surviving for each in truncated]
    if max(lengths) - min(lengths) <= max(20, _ALIKE * max(lengths)):
        return f"a template that keeps about {max(lengths):,.0f} characters of each"
    return "a template or a compressor that shortens them"


def _listed(sightings: Sequence[Sighting]) -> str:
    numbers = ", ".join(str(each.number) for each in sightings[:6])
    more = f" and {len(sightings) - 6} more" if len(sightings) > 6 else ""
    return f"Document {numbers} is" if len(sightings) == 1 else f"Documents {numbers}{more} are"
