"""The audit as a Haystack component, to sit between the prompt builder and the LLM."""

from __future__ import annotations

import random
from typing import Any, Literal

from haystack import Document, component, logging
from haystack.dataclasses import ChatMessage

from lim.audit.check import audit
from lim.audit.model import AuditReport, PromptError
from lim.errors import SettingError

logger = logging.getLogger(__name__)

_PROMPT_TYPES: dict[str, Any] = {"any": str | list[ChatMessage], "string": str, "messages": list[ChatMessage]}
_ON_MISMATCH = ("log", "raise")


class PromptOrderError(PromptError):
    """A prompt does not hold the documents in the intended order."""


@component
class PromptOrderAudit:
    """Checks that a prompt holds the documents in the order in which the ranker arranged them.

    It passes the prompt on unchanged, and logs or raises when the order is lost. Connect the ranker's `documents` and
    the prompt builder's `prompt` to it, and its `prompt` to the LLM.

    ```python
    from haystack import Document
    from lim.audit import PromptOrderAudit

    audit = PromptOrderAudit()
    documents = [Document(content="Paris"), Document(content="Rome"), Document(content="Berlin")]
    result = audit.run(prompt="Rome, Paris, Berlin: which is a capital?", documents=documents)
    print(result["report"]["holds"])  # False
    print(result["report"]["actual"])  # [2, 1, 3]
    ```
    """

    def __init__(
        self,
        sample_rate: float = 1.0,
        on_mismatch: Literal["log", "raise"] = "log",
        prompt_type: Literal["any", "string", "messages"] = "any",
        *,
        log_text: bool = False,
    ) -> None:
        """Store the settings.

        :param sample_rate: the share of the prompts that are audited, 0 to 1, chosen at random.
        :param on_mismatch: `log` to warn when the order is lost, `raise` to stop the pipeline.
        :param prompt_type: the type of the `prompt` output. `any` fits every chat generator of Haystack; `string` and
            `messages` fit components that take only the one or the other, and are then the only input that is taken.
        :param log_text: whether texts of documents and prompts may stand in logs, errors and the report.
        :raises SettingError: if a setting is out of bounds.
        """
        if isinstance(sample_rate, bool) or not isinstance(sample_rate, int | float) or not 0 <= sample_rate <= 1:
            raise SettingError(
                f"sample_rate is {sample_rate!r}, but it must be a number from 0 to 1. Give 1 to audit every prompt."
            )
        if on_mismatch not in _ON_MISMATCH:
            raise SettingError(f"on_mismatch is {on_mismatch!r}, but it must be 'log' or 'raise'. Give one of them.")
        if prompt_type not in _PROMPT_TYPES:
            raise SettingError(
                f"prompt_type is {prompt_type!r}, but it must be 'any', 'string' or 'messages'. Give one of them."
            )
        self.sample_rate = sample_rate
        self.on_mismatch = on_mismatch
        self.prompt_type = prompt_type
        self.log_text = log_text
        component.set_output_types(self, prompt=_PROMPT_TYPES[prompt_type], report=dict[str, Any])

    def run(self, prompt: str | list[ChatMessage], documents: list[Document]) -> dict[str, Any]:
        """Audit a prompt and pass it on.

        :param prompt: the rendered prompt.
        :param documents: the documents in the order the prompt should hold: the ranker's output.
        :returns: `prompt`, the very object that came in, and `report`, what `AuditReport.to_dict` gives, tokens left
            uncounted; only `{"audited": False}` for a prompt that is not in the sample.
        :raises PromptOrderError: if the order is lost and `on_mismatch` is `raise`.
        :raises PromptError: if the prompt is not of the type promised, or longer than can be audited, and
            `on_mismatch` is `raise`; else this is logged, and the report says `{"audited": False, "error": …}`.
        """
        self._check_type(prompt)
        if self.sample_rate < 1 and random.random() >= self.sample_rate:  # noqa: S311 # a sample, no secret
            return {"prompt": prompt, "report": {"audited": False}}
        try:
            report = audit(prompt, documents)
        except PromptError as error:
            if self.on_mismatch == "raise":
                raise
            logger.warning("The prompt was not audited. {error}", error=str(error))
            return {"prompt": prompt, "report": {"audited": False, "error": str(error)}}
        values = {"audited": True, **report.to_dict(tokens=False, log_text=self.log_text)}
        if not report.holds:
            self._report_mismatch(report)
        return {"prompt": prompt, "report": values}

    async def run_async(self, prompt: str | list[ChatMessage], documents: list[Document]) -> dict[str, Any]:
        """Audit a prompt and pass it on; the same as :meth:`run`, which never waits.

        :param prompt: the rendered prompt.
        :param documents: the documents in the order the prompt should hold: the ranker's output.
        :returns: as :meth:`run`.
        :raises PromptOrderError: if the order is lost and `on_mismatch` is `raise`.
        :raises PromptError: as :meth:`run`.
        """
        return self.run(prompt, documents)

    def _check_type(self, prompt: object) -> None:
        fits = {"string": str, "messages": list}.get(self.prompt_type, object)
        if not isinstance(prompt, fits):
            raise PromptError(
                f"The prompt is a value of type {type(prompt).__name__}, but prompt_type is {self.prompt_type!r}. "
                f"Connect the prompt builder that fits, or choose another prompt_type."
            )

    def _report_mismatch(self, report: AuditReport) -> None:
        fields: dict[str, Any] = {
            "order": report.order.value,
            "tau": report.tau,
            "first_departure": report.first_departure,
            "documents": len(report.intended),
            "found": len(report.actual),
            "intended": list(report.intended),
            "actual": list(report.actual),
            "culprit": report.culprit,
        }
        if self.log_text:
            fields["prompt"] = report.text
        if self.on_mismatch == "raise":
            prompt = f"\nThe prompt:\n{report.text}" if self.log_text else ""
            raise PromptOrderError(
                f"The prompt holds the documents in the order {fields['actual']}, but {fields['intended']} was "
                f"intended ({fields['order']}). {report.culprit} Take that step out, or put the ranker behind it."
                f"{prompt}"
            )
        template = "The prompt lost the intended order. " + " ".join(f"{name}={{{name}}}" for name in fields)
        logger.warning(template, **fields)
