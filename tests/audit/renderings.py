"""Documents and templates for the tests of the audit."""

import html
import json
from collections.abc import Callable, Sequence

from haystack import Document
from haystack.components.builders import PromptBuilder
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

HEADER = "You are a careful assistant. Use only the following documents (ordered by a retrieval system):\n\n"
FOOTER = "\n\nQuestion: Which of them names a harbour?\nAnswer:"

JINJA = {
    "plain": "{% for d in documents %}{{ d.content }}\n\n{% endfor %}",
    "numbered": "{% for d in documents %}[{{ loop.index }}] {{ d.content }}\n{% endfor %}",
    "titles": "{% for d in documents %}### {{ d.meta.title or 'Untitled' }}\n{{ d.content }}\n---\n{% endfor %}",
    "xml": '{% for d in documents %}<document id="{{ loop.index }}">\n{{ d.content }}\n</document>\n{% endfor %}',
    "escaped": "{% for d in documents %}<p>{{ d.content | e }}</p>\n{% endfor %}",
    "tojson": "[{% for d in documents %}{{ {'content': d.content} | tojson }}{{ ',' if not loop.last }}{% endfor %}]",
}


def jinja(template: str) -> Callable[[Sequence[Document]], str]:
    builder = PromptBuilder(template=template, required_variables="*")

    def render(documents: Sequence[Document]) -> str:
        prompt: str = builder.run(documents=list(documents))["prompt"]
        return prompt

    return render


RENDERINGS: dict[str, Callable[[Sequence[Document]], str]] = {
    **{name: jinja(template) for name, template in JINJA.items()},
    "header and footer": jinja(HEADER + JINJA["plain"] + FOOTER),
    "numbered within header and footer": jinja(HEADER + JINJA["numbered"] + FOOTER),
    "json": lambda documents: json.dumps([{"text": d.content} for d in documents]),
    "json as written": lambda documents: json.dumps([d.content for d in documents], ensure_ascii=False, indent=1),
    "html": lambda documents: "<hr>".join(f"<p>{html.escape(d.content or '')}</p>" for d in documents),
    "xml text": lambda documents: "".join(f"<d>{html.escape(d.content or '', quote=False)}</d>" for d in documents),
    "python": lambda documents: "\n".join(repr(d.content) for d in documents),
}

SENTENCES = (
    "The harbour master opened the gate before the tide turned.",
    'He wrote "closed" on the slate & went home <early>.',
    "Copper pipes were laid below the market in spring;\nnobody signed for them.",
    "灯台守は毎晩、潮の高さを帳簿に書き込んだ。",
    "سجّل حارس المنارة ارتفاع المدّ كل مساء.",
    "Der Pegel stieg um 3 cm – höher als je zuvor.",
    "C:\\temp\\new 'files' are deleted every night.",
    "ปลาในแม่น้ำเริ่มวางไข่ในเดือนพฤษภาคม",
    "🌊 came in, 🌊 went out; the gauge showed 4.2 m.",
    "x = {'a': 1}\n\n\tprint(x)",
)


@st.composite
def document_lists(draw: DrawFn, *, contained: bool = True) -> list[Document]:
    """Lists in which texts may be equal, empty, of any script, and contain each other."""
    alphabet = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=2, max_size=40)
    # One letter cannot be told from a letter of the template.
    alphabet = alphabet.filter(lambda text: len(text.strip()) != 1)
    text = st.one_of(st.sampled_from(SENTENCES), alphabet, st.just(""), st.just(" \n"))
    texts = draw(st.lists(text, min_size=1, max_size=8))
    if contained:
        for _ in range(draw(st.integers(0, 3))):
            outer = draw(st.sampled_from(texts))
            if len(outer) >= 8:
                start = draw(st.integers(0, len(outer) - 6))
                texts.append(outer[start : draw(st.integers(start + 6, len(outer)))])
            texts.append(f"{draw(st.sampled_from(SENTENCES))} {outer}")
    texts = draw(st.permutations(texts))
    return [Document(id=str(number), content=text) for number, text in enumerate(texts)]
