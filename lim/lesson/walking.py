"""The walk down the list that adds up words, one document at a time."""

from __future__ import annotations

from lim.ranker import Arrangement
from lim.story import plural


def walk_finding(arrangement: Arrangement) -> str:
    """Say what comes of the walk.

    :param arrangement: an arrangement with or without a threshold, of at least one document.
    :returns: one line with its numbers.
    """
    threshold, words = arrangement.word_count_threshold, arrangement.words
    if threshold is None or arrangement.crossing is None:
        return f"{plural(words, 'word')} in the prompt: the threshold is never reached"
    over = words - threshold
    return f"A threshold of {threshold:,} gives {plural(words, 'word')}" + (f": {over:,} more" if over else ", exactly")


def walk_sentence(arrangement: Arrangement, walked: int) -> str:
    """Say what happens at a document of the walk, and why.

    :param arrangement: an arrangement with a threshold.
    :param walked: how many documents were walked past, 0 to all of them.
    :returns: one or two sentences.
    """
    threshold = arrangement.word_count_threshold
    if walked == 0:
        limit = f"The threshold is {threshold:,}" if threshold else "There is no threshold"
        return f"{limit}. Nothing is counted yet."
    rank = arrangement.walk[walked - 1]
    words, total = arrangement.word_counts[rank - 1], arrangement.totals[walked - 1]
    before = total - words
    kept, crossing = arrangement.kept, arrangement.crossing is not None
    if arrangement.ranked == 1:
        return f"A list of one document ignores the threshold: all {plural(total, 'word')} stay."
    if walked > kept:
        return (
            f"Document {rank} is never looked at: the walk stopped at document {arrangement.walk[kept - 1]}. "
            f"{plural(arrangement.ranked - kept, 'document')} dropped, {plural(arrangement.words, 'word')} kept."
        )
    sentence = f"Document {rank} brings the total from {before:,} to {total:,}."
    if walked == kept and crossing and threshold:
        over = total - threshold
        return f"{sentence} That reaches {threshold:,}, so the walk stops here, after document {rank} is in: " + (
            f"{plural(over, 'word')} over the threshold." if over else "exactly the threshold."
        )
    return f"{sentence} That is below {threshold:,}, so the walk goes on." if threshold else sentence
