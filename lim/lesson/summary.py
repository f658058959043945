"""The lesson on one printable page: a stand-alone HTML file made from the same data as the lesson."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lim import orders
from lim.evidence import studies
from lim.lesson.misreadings import misreadings
from lim.lesson.placing import in_order
from lim.lesson.silent import WAYS
from lim.lesson.steps import STEPS

SIZES = (3, 4, 5, 6, 7, 9, 12)

_STYLE = """
@page { size: A4; margin: 9mm 11mm }
* { box-sizing: border-box }
body { font: 10pt/1.36 system-ui, sans-serif; color: #1b2733; background: #fff; max-width: 188mm; margin: 6mm auto;
       padding: 0 4mm }
h1 { font-size: 18pt; margin: 0 0 1mm }
h2 { font-size: 10.5pt; margin: 2.5mm 0 1mm; break-after: avoid }
p, ul, ol { margin: 0 0 1.5mm }
ul, ol { padding-left: 4.5mm }
.row { display: grid; grid-template-columns: repeat(auto-fit, minmax(78mm, 1fr)); gap: 0 6mm }
.row.figures { grid-template-columns: repeat(auto-fit, minmax(52mm, 1fr)) }
.row > * { min-width: 0; break-inside: avoid }
figure { margin: 0 }
figure svg { width: 100%; height: auto; display: block }
figcaption, .small { font-size: 8pt; color: #4c5763; overflow-wrap: anywhere }
table { border-collapse: collapse }
td { padding: .3mm 3mm .3mm 0; text-align: left; white-space: nowrap }
td:last-child { font-weight: 600 }
a { color: #1f5fae }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 8pt; line-height: 1.28 }
  h1 { font-size: 14pt } h2 { font-size: 9pt; margin: 1.6mm 0 .6mm } figcaption, .small { font-size: 6.6pt }
  .row { grid-template-columns: 1fr 1fr } .row.figures { grid-template-columns: 1fr 1fr 1fr }
}
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart for the page.

    :param title: the finding.
    :param svg: the drawing, made on this machine.
    :param alt: what it shows, with its numbers.
    :param caption: where its numbers come from; empty if they are the lesson's own.
    """

    title: str
    svg: str
    alt: str
    caption: str = ""


def summary(pictures: Sequence[Picture]) -> bytes:
    """Write the page.

    :param pictures: the charts, in the order in which they stand.
    :returns: HTML, UTF-8: no script, nothing fetched, printable on one sheet of A4.
    """
    figures = "".join(
        f"<figure><h2>{escape(picture.title)}</h2>"
        f'<div role="img" aria-label="{escape(picture.alt)}">{picture.svg}</div>'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
        for picture in pictures
    )
    rows = "".join(
        f"<tr><td>{count} documents</td><td>{in_order(orders.haystack(range(count)))}</td></tr>" for count in SIZES
    )
    points = "".join(f"<li><b>{escape(step.title)}.</b> {escape(step.lead)}</li>" for step in STEPS[:4])
    ways = "".join(f"<li><b>{escape(way.title)}.</b> {escape(way.remedy)}</li>" for way in WAYS)
    beliefs = "".join(f"<li>{escape(each.belief)} <b>{escape(each.answer)}</b></li>" for each in misreadings())
    said = "".join(
        f'<li><a href="{escape(study.url)}">{escape(study.name)}</a> ({escape(study.finding.value)}): '
        f"{escape(study.shows)} <span class=small>{escape(study.source)}</span></li>"
        for study in studies()
    )
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lost in the middle, on one page</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Lost in the middle, on one page</h1>
<p>What Haystack’s LostInTheMiddleRanker does to a ranked list, what it does not do, and whether it is worth it.</p>
<div class="row figures">{figures}</div>
<div class="row">
<section><h2>The idea</h2><ol>{points}</ol></section>
<section><h2>The order: odd ranks from the front, even ranks from the back</h2><table>{rows}</table></section>
<section><h2>Five ways to lose it silently</h2><ul>{ways}</ul></section>
<section><h2>What it is not</h2><ul>{beliefs}</ul></section>
</div>
<section><h2>Is it worth it?</h2><ul>{said}</ul></section>
</main>
</body>
</html>
"""
    return page.encode()
