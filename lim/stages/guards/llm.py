"""Whether `LLMRanker` used the model's answer, which it does not say by itself."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from lim.stages.guards.trouble import MAX_CAUSE_CHARACTERS, explain


class Listening:
    """A chat generator that remembers what it was answered, so that a ranker's silence can be explained."""

    def __init__(self, generator: Any) -> None:  # noqa: ANN401 # any of Haystack's chat generators
        """Listen to a generator.

        :param generator: the chat generator.
        """
        self.generator = generator
        self.replay = False
        self.result: dict[str, Any] = {}
        self.error: Exception | None = None

    def warm_up(self) -> None:
        """Warm the generator up."""
        if hasattr(self.generator, "warm_up"):
            self.generator.warm_up()

    def run(self, messages: list[Any]) -> dict[str, Any]:
        """Pass messages on, or repeat the last outcome.

        :param messages: the messages.
        :returns: the generator's result.
        :raises Exception: what the generator raises.
        """
        if not self.replay:
            self.result, self.error = {}, None
            try:
                self.result = self.generator.run(messages=messages)
            except Exception as error:
                self.error = error
                raise
        elif self.error:
            raise self.error
        return self.result

    @property
    def text(self) -> str:
        """The text of the first reply, empty without one."""
        replies = self.result.get("replies") or []
        return (replies[0].text or "") if replies else ""


def run_llm_ranker(ranker: Any, listening: Listening, inputs: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:  # noqa: ANN401 # LLMRanker
    """Run an `LLMRanker` and say whether the model's answer was used.

    It falls back to its input, all of it, on any answer it cannot read. Run with `raise_on_failure` it says why; then
    it is run once more on the same answer, for what Haystack makes of it.

    :param ranker: the component, built with `listening` for its chat generator.
    :param listening: the generator.
    :param inputs: what the component is given.
    :returns: what Haystack returns, and what to know about it.
    """
    wanted, ranker.raise_on_failure = ranker.raise_on_failure, True
    try:
        result = ranker.run(**inputs)
    except Exception as error:
        if wanted:
            raise
        ranker.raise_on_failure, listening.replay = False, True
        result = ranker.run(**inputs)
        count = len(result["documents"])
        notice = (
            f"The model's answer was not used: {_unused(listening, error)}. LLMRanker returned all {count} documents "
            f"in the order it got them; top_k is not applied."
        )
        return result, [notice]
    finally:
        ranker.raise_on_failure, listening.replay = wanted, False
    return result, _answer_notices(listening.text, len(inputs["documents"]))


def _unused(listening: Listening, error: Exception) -> str:
    if listening.error is not None:
        return explain(listening.error).rstrip(".")
    text = listening.text.strip()
    if not text:
        return "it is empty"
    if text.startswith("```"):
        return "it is fenced with ```, and the component reads plain JSON only"
    if isinstance(error, json.JSONDecodeError):
        return "it is not JSON, or was cut off" if text.startswith("{") else "it is not JSON"
    return " ".join(str(error).split()).rstrip(".")[:MAX_CAUSE_CHARACTERS]


def _answer_notices(text: str, count: int) -> list[str]:
    """Look for what the ranker passes over in an answer it used."""
    entries = json.loads(text).get("documents", []) if text else []
    named = Counter(_index(entry) for entry in entries)
    notices = []
    ignored = sum(times for index, times in named.items() if index is None or not 1 <= index <= count)
    if ignored:
        notices.append(f"{ignored} of the {len(entries)} entries in the model's answer name no document: passed over.")
    twice = [str(index) for index, times in named.items() if times > 1 and index is not None and 1 <= index <= count]
    if twice:
        notices.append(
            f"The model named the same document more than once (its number {', '.join(twice[:5])}), and LLMRanker "
            f"returns it as often; only a ranker after it would take the copies out."
        )
    return notices


def _index(entry: object) -> int | None:
    try:
        return int(entry["index"])  # type: ignore[index] # the component's own reading; the errors are the answer
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
