"""What the Pipeline page keeps between runs: what the server offers, its loaded models, and runs under way."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any

import streamlit as st

from lim.errors import LimError
from lim.prompt import render
from lim.stages import Configuration, Models, Progress, Trace

MAX_RUNS = 3
"""The most runs with a model or a server at a time, of all visitors; the next ones wait."""

FORGOTTEN_SECONDS = 120.0
"""A run whose page has not asked after it for so long is stopped: its visitor has gone."""

Work = Callable[[Progress, Callable[[], bool]], Trace]
"""Runs a plan, given what to tell progress to and what to ask whether to stop."""


def configuration() -> Configuration:
    """Read what the server offers from its environment and, beneath it, from Streamlit's secrets.

    :returns: the configuration.
    """
    secrets: dict[str, Any] = st.secrets.to_dict() if st.secrets.load_if_toml_exists() else {}
    return Configuration.from_environment({**secrets, **os.environ})


@st.cache_resource
def models() -> Models:
    """Keep the server's loaded models; there is at most one for each name in its configuration.

    :returns: the models, the same for every visitor.
    """
    return Models()


@st.cache_resource(show_spinner="Starting …")
def warm_up() -> None:
    """Start the process that renders prompts, once: its start is no stage's time."""
    with suppress(LimError):  # the stage will say so
        render("-", ())


@st.cache_resource
def _turns() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(MAX_RUNS)


class Job:
    """A run in a thread of its own: Streamlit may run the page again at any time, and that must not end it."""

    def __init__(self, identity: Hashable, work: Work) -> None:
        """Start the run.

        :param identity: what is run on what, to tell whether its result still fits the page.
        :param work: runs the plan.
        """
        self.identity = identity
        self.share, self.text = 0.0, "Starting …"
        self.trace: Trace | None = None
        self.error = ""
        self._stop, self._finished = threading.Event(), threading.Event()
        self._seen = time.monotonic()
        threading.Thread(target=self._run, args=(work, _turns()), daemon=True).start()

    def _run(self, work: Work, turns: threading.BoundedSemaphore) -> None:
        try:
            while not turns.acquire(timeout=0.2):
                self._tell(0, "Waiting for other runs …")
                if self._cancelled():
                    self.error = "It was stopped before it began."
                    return
            try:
                self.trace = work(self._tell, self._cancelled)
            finally:
                turns.release()
        except LimError as error:
            self.error = str(error)
        except Exception as error:  # noqa: BLE001 # a thread has nobody else to tell
            self.error = f"The run ended with {type(error).__name__}. Run it again, or change the plan."
        finally:
            self._finished.set()

    def _tell(self, share: float, text: str) -> None:
        self.share, self.text = share, text

    def _cancelled(self) -> bool:
        return self._stop.is_set() or time.monotonic() - self._seen > FORGOTTEN_SECONDS

    def wait(self, seconds: float) -> bool:
        """Wait for the end, and let the run know that somebody does.

        :param seconds: how long.
        :returns: whether it has ended.
        """
        self._seen = time.monotonic()
        return self._finished.wait(seconds)

    def stop(self) -> None:
        """Ask it to end; a stage that waits for a server ends when the server has answered or its time is over."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._stop.is_set()
