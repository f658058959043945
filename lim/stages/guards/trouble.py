"""Why a stage cannot go on, in words a person can use."""

from __future__ import annotations

import json

MAX_CAUSE_CHARACTERS = 300


class Trouble(Exception):  # noqa: N818 # it ends a stage, and is told as what happened and what to do
    """Why a stage cannot go on."""

    def __init__(self, cause: str, remedy: str = "", *, cancelled: bool = False) -> None:
        """Say why.

        :param cause: what happened.
        :param remedy: what to do; empty for the stage's own.
        :param cancelled: whether a person stopped it.
        """
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy
        self.cancelled = cancelled


def stopped() -> Trouble:
    """Make what ends a run that a person stopped."""
    return Trouble("The run was stopped here.", "Run it again.", cancelled=True)


def explain(error: Exception) -> str:
    """Say in one line what a library raised, without addresses.

    :param error: the error.
    :returns: a sentence of at most 300 characters.
    """
    status = _status(error)
    if status:
        return f"The server answered with status {status}{_STATUSES.get(status, '')}."
    name = type(error).__name__
    if "Timeout" in name:
        return "The server did not answer in time."
    if name in ("ConnectError", "APIConnectionError", "ReadError", "RemoteProtocolError", "ConnectionError"):
        return f"The server could not be reached or hung up ({name})."
    if isinstance(error, json.JSONDecodeError):
        return f"JSON was expected, but this is none: {error}."
    text = " ".join(str(error).split()) or name
    return f"{name}: {text}"[:MAX_CAUSE_CHARACTERS]


_STATUSES = {
    401: " (it wants a valid token)",
    403: " (it refuses this token)",
    404: " (it has nothing at this address)",
    413: " (the texts are too many or too long for it)",
    422: " (it does not take this input: too many texts at once, perhaps, or one too long)",
    424: " (its model failed)",
    429: " (too many requests)",
    503: " (overloaded, or not ready)",
}


def _status(error: BaseException | None) -> int | None:
    while error is not None:
        status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
        error = error.__cause__
    return None
