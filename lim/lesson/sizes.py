"""Words against tokens: the same measures the ranker and the Lab use, on texts where they part."""

from __future__ import annotations

from dataclasses import dataclass

from lim import measure


@dataclass(frozen=True, slots=True)
class Sized:
    """A text with its sizes.

    :param name: what kind of text it is.
    :param text: the text.
    :param words: words as Haystack's ranker counts them.
    :param tokens: tokens in the `o200k_base` vocabulary, or None where they are not available.
    """

    name: str
    text: str
    words: int
    tokens: int | None


_TEXTS = (
    (
        "English",
        "The sky looks blue because molecules of air scatter the blue part of sunlight far more strongly than the red.",
    ),
    (
        "German",
        "Der Himmel erscheint blau, weil Luftmoleküle den blauen Anteil des Sonnenlichts viel stärker streuen als Rot.",
    ),
    (
        "Chinese",
        "天空看起来是蓝色的，因为空气分子对阳光中蓝色部分的散射远远强于红色部分。日落时，光线穿过的空气更多，剩下的便是橙色和红色。",
    ),
    (
        "Address of a page",
        "/library/articles/2024/why-is-the-sky-blue?chapter=3&figure=12&language=en#scattering",
    ),
)


def sized() -> tuple[Sized, ...]:
    """Measure a sentence in English and in German, a paragraph in Chinese, and a web address.

    :returns: the texts with their sizes; the last two are one word each.
    """
    found = measure.tokens([text for _, text in _TEXTS])
    counts: list[int | None] = [None] * len(_TEXTS) if found is None else [*found]
    return tuple(
        Sized(name, text, measure.words(text), tokens) for (name, text), tokens in zip(_TEXTS, counts, strict=True)
    )
