"""Prompts of every form as one text, with a note of which message each part came from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haystack.dataclasses import ChatMessage

from lim.audit.model import PromptError, Segment

Prompt = str | ChatMessage | Mapping[str, Any] | Sequence[ChatMessage | Mapping[str, Any] | str]
"""What can be audited: a string, a chat message or several, or message dicts as OpenAI, Anthropic and Gemini have."""

MAX_PROMPT_CHARACTERS = 20_000_000
"""Characters of one prompt."""
MAX_NESTING = 20
"""Levels of content parts within one another that are looked into."""
BETWEEN = "\n\n"
"""What stands between two messages in the text that is searched."""

_HOLDERS = (
    "message",  # OpenInference wraps each message
    "message_content",
    "kwargs",  # LangChain's serialised messages
    "content",
    "contents",
    "parts",
    "text",
    "input_text",
    "tool_call_result",
    "toolResult",
    "function_response",
    "functionResponse",
    "response",
    "result",
    "output",
    "source",
    "data",
)
_NO_TEXT = ("image", "input_image", "image_url", "audio", "input_audio", "file", "video")


def read(prompt: object) -> tuple[str, tuple[Segment, ...]]:
    """Put a prompt into one text.

    :param prompt: a string, a Haystack `ChatMessage`, a message dict, or a list of these. Content may be a string or
        a list of parts; parts without text (images, audio) are passed over, results of tools are read.
    :returns: the text, and for each message that has text the part that is its own.
    :raises PromptError: if it is anything else, or longer than `MAX_PROMPT_CHARACTERS`.
    """
    if isinstance(prompt, str):
        _check_length(len(prompt))
        return prompt, (Segment(0, len(prompt), 1, ""),)
    messages = [prompt] if isinstance(prompt, ChatMessage | Mapping) else prompt
    if not isinstance(messages, Sequence) or isinstance(messages, bytes | bytearray):
        raise PromptError(
            f"The prompt is a value of type {type(prompt).__name__}; it must be a string, a ChatMessage, a message "
            f"dict with role and content, or a list of these. Give the prompt as it goes to the LLM."
        )
    pieces: list[str] = []
    segments: list[Segment] = []
    at = 0
    for number, message in enumerate(messages, 1):
        if not isinstance(message, ChatMessage | Mapping | str):
            raise PromptError(
                f"Message {number} of the prompt is a value of type {type(message).__name__}; each must be a "
                f"ChatMessage, a dict with role and content, or a string. Give the messages as they go to the LLM."
            )
        text = BETWEEN.join(piece for piece in _texts(message, 0) if piece)
        if not text:
            continue
        if pieces:
            pieces.append(BETWEEN)
            at += len(BETWEEN)
        pieces.append(text)
        segments.append(Segment(at, at + len(text), number, _role(message)))
        at += len(text)
        _check_length(at)
    return "".join(pieces), tuple(segments)


def parse(text: str) -> Prompt:
    """Read a pasted or uploaded prompt: messages written as JSON, or else the text itself.

    :param text: a prompt, or JSON of a message, of a list of messages, or of a request with `messages` in it.
    :returns: message dicts if the text is JSON of some, else the text unchanged.
    """
    stripped = text.strip()
    if stripped[:1] not in ("[", "{"):
        return text
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict):
        for key in ("messages", "input", "contents", "prompt"):
            if _are_messages(value.get(key)):
                value = value[key]
                break
        else:
            value = [value]
    return value if _are_messages(value) else text


def _are_messages(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and "role" in item and {"content", "parts"} & item.keys() for item in value)
    )


def _check_length(characters: int) -> None:
    if characters > MAX_PROMPT_CHARACTERS:
        raise PromptError(
            f"The prompt has {characters:,} characters or more; at most {MAX_PROMPT_CHARACTERS:,} are audited. "
            f"Give the part that holds the documents."
        )


def _role(message: object) -> str:
    if isinstance(message, ChatMessage):
        return message.role.value
    if isinstance(message, Mapping):
        inner = message.get("message")
        for name in ("role", "message.role", "type"):
            role = message.get(name, inner.get(name) if isinstance(inner, Mapping) else None)
            if isinstance(role, str):
                return role
    return ""


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth > MAX_NESTING:
        return
    elif isinstance(value, ChatMessage):
        yield from value.texts
        for result in value.tool_call_results:
            yield from _texts(result.result, depth + 1)
    elif isinstance(value, Mapping):
        if value.get("type") in _NO_TEXT:
            return
        for name in _HOLDERS:
            if name in value:
                yield from _texts(value[name], depth + 1)
        for name, inner in value.items():  # OpenInference's flattened names
            if isinstance(name, str) and name.endswith((".content", ".contents", ".text")):
                yield from _texts(inner, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        for item in value:
            yield from _texts(item, depth + 1)
    elif isinstance(text := getattr(value, "text", None), str):  # Haystack's content parts
        yield text
