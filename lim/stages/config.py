"""What the server offers: model names, endpoints and tokens, from its environment and never from a visitor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable.

    :param name: its name.
    :param help: what it names.
    :param example: a value.
    """

    name: str
    help: str
    example: str


VARIABLES = (
    Variable(
        "LIM_CROSS_ENCODER",
        "cross-encoders for `SentenceTransformersSimilarityRanker`: names or folders, separated by commas",
        "cross-encoder/ms-marco-MiniLM-L-6-v2",
    ),
    Variable(
        "LIM_EMBEDDER",
        "embedding models for `SentenceTransformersDiversityRanker`: names or folders, separated by commas",
        "sentence-transformers/all-MiniLM-L6-v2",
    ),
    Variable(
        "LIM_TEI_URL",
        "a Text Embeddings Inference server with a reranking model, served at the root of its host",
        "http://localhost:8080",
    ),
    Variable("LIM_TEI_TOKEN", "that server's token, if it asks for one", "…"),
    Variable(
        "LIM_CHAT_MODEL",
        "chat models for `LLMRanker` and for the answer: names, separated by commas",
        "gpt-5-mini",
    ),
    Variable(
        "LIM_CHAT_URL",
        "the server of these models, if it is not OpenAI's: any that speaks OpenAI's chat API",
        "http://localhost:8000/v1",
    ),
    Variable("LIM_CHAT_TOKEN", "that server's token; OpenAI's needs one", "…"),
)
"""Every variable that is read, for the README and for remedies."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the server offers.

    :param cross_encoders: names or folders of cross-encoders.
    :param embedders: names or folders of embedding models.
    :param tei_url: the address of a Text Embeddings Inference server, or None.
    :param tei_token: its token, or None.
    :param chat_models: names of chat models.
    :param chat_url: the address of the server of these models, None for OpenAI's.
    :param chat_token: its token, or None.
    """

    cross_encoders: tuple[str, ...] = ()
    embedders: tuple[str, ...] = ()
    tei_url: str | None = None
    tei_token: str | None = field(default=None, repr=False)
    chat_models: tuple[str, ...] = ()
    chat_url: str | None = None
    chat_token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, mapping: Mapping[str, Any] | None = None) -> Configuration:
        """Read the configuration.

        :param mapping: names and values, such as secrets laid over the environment; None for the environment.
        :returns: the configuration; what is unset or blank is not offered.
        """
        given = os.environ if mapping is None else mapping
        values = {each.name: str(given.get(each.name) or "").strip() for each in VARIABLES}
        return cls(
            cross_encoders=_names(values["LIM_CROSS_ENCODER"]),
            embedders=_names(values["LIM_EMBEDDER"]),
            tei_url=values["LIM_TEI_URL"] or None,
            tei_token=values["LIM_TEI_TOKEN"] or None,
            chat_models=_names(values["LIM_CHAT_MODEL"]),
            chat_url=values["LIM_CHAT_URL"] or None,
            chat_token=values["LIM_CHAT_TOKEN"] or None,
        )

    def offered(self, variable: str | None) -> tuple[str, ...]:
        """List what a variable offers.

        :param variable: `LIM_CROSS_ENCODER`, `LIM_EMBEDDER`, `LIM_TEI_URL` or `LIM_CHAT_MODEL`.
        :returns: the names; empty if there are none.
        """
        return {
            "LIM_CROSS_ENCODER": self.cross_encoders,
            "LIM_EMBEDDER": self.embedders,
            "LIM_TEI_URL": (self.tei_url,) if self.tei_url else (),
            "LIM_CHAT_MODEL": self.chat_models,
        }.get(variable or "", ())

    def remedy(self, variable: str) -> str | None:
        """Say what to set so that what a variable offers can be used.

        :param variable: as for :meth:`offered`.
        :returns: one line, or None if nothing is wanting. It shows no address and no token.
        """
        if not self.offered(variable):
            entry = next(each for each in VARIABLES if each.name == variable)
            help_ = entry.help.replace("`", "")  # Markdown, for the README
            return f"Set {variable} on the server ({help_}), for example {variable}={entry.example}"
        if variable == "LIM_TEI_URL" and self.tei_url:
            return _url_remedy(variable, self.tei_url, path=False)
        if variable == "LIM_CHAT_MODEL" and self.chat_url:
            return _url_remedy("LIM_CHAT_URL", self.chat_url, path=True)
        if variable == "LIM_CHAT_MODEL" and not self.chat_token:
            return "Set LIM_CHAT_TOKEN on the server to OpenAI's token, or LIM_CHAT_URL to a server that needs none"
        return None


def _names(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (name.strip() for name in value.split(",")))))


def _url_remedy(variable: str, url: str, *, path: bool) -> str | None:
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        right = False
    if not right:
        return f"Set {variable} on the server to an address that begins with http:// or https:// and names a host"
    if not path and (parts.path not in ("", "/") or parts.query):
        return f"Set {variable} on the server to an address without a path: Haystack's component drops the path"
    return None
