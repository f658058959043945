"""The pipeline as a row of cards, one for each component, with what a run did there."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lim.charts import Palette
from lim.frames import pipeline as frames
from lim.stages import Slot, Trace
from lim.stages.build import Node
from lim.story import plural

LOST, FAILED, BLOCKED, UNREACHED = "loses the order", "failed here", "cannot run here", "not reached"
SHORTEST_SECONDS = 0.00005  # a list as given takes no time worth a line


@dataclass(frozen=True, slots=True)
class Card:
    """A component in the diagram.

    :param label: its short name.
    :param title: its class.
    :param facts: what it did, a line each.
    :param trouble: `LOST`, `FAILED`, `BLOCKED`, `UNREACHED` or empty.
    """

    label: str
    title: str
    facts: tuple[str, ...]
    trouble: str


def cards(listed: Sequence[Node], trace: Trace | None, blocked: Sequence[str] = ()) -> list[tuple[Card, ...]]:
    """Make the columns of the diagram, in the order the documents pass through.

    :param listed: the nodes of a plan.
    :param trace: its run, or None before one.
    :param blocked: the names of the components that cannot run on this server.
    :returns: the columns: two lists for a joiner share one.
    """
    names = frames.labels(listed)
    runs = {run.name: run for run in trace.stages} if trace else {}
    made: dict[str, Card] = {}
    for node in listed:
        run = runs.get(node.name)
        facts: tuple[str, ...] = ()
        if run is not None:
            given, gave = sum(map(len, run.inputs)), len(run.outputs)
            same = given == gave
            counts = plural(gave, "document") if same else f"{given:,} → {plural(gave, 'document')}"
            order = "changes the order" if frames.changes_order(run) else ""
            facts = tuple(filter(None, (counts, order, _time(run.seconds) if run.seconds >= SHORTEST_SECONDS else "")))
        trouble = BLOCKED if node.name in blocked else ""
        if trace is not None:
            if trace.verdict.lost_at == node.name:
                trouble = LOST
            elif trace.failure is not None and trace.failure.name == node.name:
                trouble = "stopped here" if trace.failure.cancelled else FAILED
            elif run is None:
                trouble = UNREACHED
        made[node.name] = Card(names[node.name], node.stage.title, facts, trouble)
    sources = tuple(made[node.name] for node in listed if node.slot is Slot.RETRIEVE)
    return [sources, *((made[node.name],) for node in listed if node.slot is not Slot.RETRIEVE)]


def _time(seconds: float) -> str:
    return (
        f"{seconds:.1f} s"
        if seconds >= 1
        else f"{1000 * seconds:.0f} ms"
        if seconds >= 0.01
        else f"{1000 * seconds:.1f} ms"
    )


def draw(columns: Sequence[Sequence[Card]], colours: Palette) -> str:
    """Put the diagram into HTML; it wraps where the screen is narrow.

    :param columns: as of `cards`.
    :param colours: the theme's colours.
    :returns: HTML, all text escaped.
    """
    arrow = f'<span aria-hidden="true" style="align-self:center;color:{colours.faint};font-size:1.2rem">→</span>'
    parts = []
    for index, column in enumerate(columns):
        stacked = "".join(_card(card, colours) for card in column)
        parts.append(
            '<li style="display:flex;gap:.4rem;flex:1 1 auto;min-width:0;max-width:15rem;list-style:none;margin:0">'
            f'{arrow if index else ""}<div style="display:flex;flex-direction:column;gap:.4rem;flex:1">'
            f"{stacked}</div></li>"
        )
    return (
        '<ol aria-label="The pipeline" style="display:flex;flex-wrap:wrap;gap:.4rem;margin:0 0 .5rem;padding:0">'
        f"{''.join(parts)}</ol>"
    )


def _card(card: Card, colours: Palette) -> str:
    faded = card.trouble == UNREACHED
    ink = colours.faint if faded else colours.ink
    loud = bool(card.trouble) and not faded
    border = f"2px solid {colours.ink}" if loud else f"1px {'dashed' if faded else 'solid'} {colours.faint}"
    title = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "<wbr>", html.escape(card.title))
    lines = "".join(f'<div style="color:{colours.faint}">{html.escape(fact)}</div>' for fact in card.facts)
    if card.trouble:
        lines += f'<div style="font-weight:700;color:{ink}">{"" if faded else "⚠ "}{html.escape(card.trouble)}</div>'
    return (
        f'<div style="border:{border};border-radius:.5rem;padding:.4rem .6rem;flex:1;font-size:.8rem;line-height:1.35">'
        f'<div style="font-weight:700;color:{ink}">{html.escape(card.label)}</div>'
        f'<div style="color:{ink};overflow-wrap:break-word">{title}</div>{lines}</div>'
    )
