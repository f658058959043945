"""Single documents in single prompts: what is found, how closely, and what is said of it."""

import html
import json
import random
import unicodedata

import pytest
from haystack import Document
from haystack.dataclasses import ChatMessage, ImageContent, TextContent, ToolCall

from lim.audit import AuditReport, KnownOrder, Match, PromptError, Status, audit, parse

LANTERN = (
    "The keeper of the lantern room wrote every tide into the ledger, and when the ledger was full he began another. "
    "Nobody asked him why the numbers never repeated, although the moon did; the harbour master assumed an error."
)
PIPES = (
    'Copper pipes below the "old" market were replaced in spring. The invoice names three firms, of which only one '
    "still exists, & that one denies the work."
)
NIGHT = (
    "灯台守は毎晩、潮の高さを帳簿に書き込み、帳簿がいっぱいになると次の一冊を始めた。"
    "数字が決して繰り返されない理由を尋ねる者はいなかった。"
)


def documents(*texts: str | None) -> list[Document]:
    return [Document(id=f"d{number}", content=text) for number, text in enumerate(texts, 1)]


def statuses(report: AuditReport) -> list[str]:
    return [sighting.status.value for sighting in report.sightings]


def texts(report: AuditReport, number: int) -> list[str]:
    return [report.text[span.start : span.end] for span in report.sightings[number - 1].spans]


@pytest.mark.parametrize(
    ("encode", "name"),
    [
        (lambda text: text, "plain"),
        (lambda text: json.dumps(text, ensure_ascii=False), "JSON"),
        (json.dumps, "JSON"),
        (html.escape, "HTML"),
        (lambda text: html.escape(text, quote=False), "XML"),
        (lambda text: html.escape(text, quote=False).replace('"', "&#34;"), "HTML"),
    ],
)
def test_escaped_copies_are_found_exactly(encode, name: str) -> None:
    report = audit(f"Context: {encode(PIPES)}\n", documents(PIPES))
    (sighting,) = report.sightings
    assert (sighting.status, sighting.match, sighting.encoding) == (Status.FOUND, Match.EXACT, name)
    assert texts(report, 1)[0] in encode(PIPES)


def test_a_copy_escaped_otherwise_is_a_second_copy() -> None:
    report = audit(f"{PIPES}\n{json.dumps(PIPES)}", documents(PIPES, LANTERN))
    assert statuses(report) == ["repeated", "missing"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "\n   "),
        lambda text: f"  {text}  ".replace(". ", ".\r\n\u00a0"),
        lambda text: unicodedata.normalize("NFD", text),
    ],
)
def test_whitespace_and_unicode_form_do_not_matter(change) -> None:
    accented = LANTERN.replace("error", "erreur à l'étage")
    report = audit(f"Before.\n{change(accented)}\nAfter.", documents(accented))
    (sighting,) = report.sightings
    assert (sighting.status, sighting.match) == (Status.FOUND, Match.WHITESPACE)
    assert texts(report, 1)[0].split() == change(accented).split()


def test_whitespace_around_a_document_may_be_trimmed() -> None:
    report = audit(f"- {LANTERN}\n", documents(f"\n\n  {LANTERN}\t"))
    assert report.sightings[0].status is Status.FOUND


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        lambda text: text.replace("ledger", "*ledger*"),
        lambda text: text.replace("tide", "wave").replace("moon", "sun"),
        lambda text: text.replace("numbers never repeated", "figures never recurred"),
        lambda text: text.translate(str.maketrans("abc", "ａｂｃ")),
    ],
)
def test_changed_copies_are_found(change) -> None:
    report = audit(f"Context:\n{change(LANTERN)}\n\n{PIPES}", documents(LANTERN, PIPES))
    assert report.holds
    first = report.sightings[0]
    assert (first.status, first.match, first.surviving) == (Status.FOUND, Match.FUZZY, 1.0)
    assert first.similarity >= 85
    assert abs(len(texts(report, 1)[0]) - len(change(LANTERN))) <= 4


def test_another_text_is_no_changed_copy() -> None:
    other = "The reader of the lantern book drew every ship onto the wall, and when the wall was full she went home."
    report = audit(f"{other}\n{PIPES}", documents(LANTERN, PIPES))
    assert statuses(report) == ["missing", "found"]


@pytest.mark.parametrize("text", [LANTERN, PIPES, NIGHT])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("side", ["head", "tail"])
def test_what_survives_of_a_truncated_document_is_measured(text: str, share: float, side: str) -> None:
    kept = round(len(text) * share)
    piece = text[:kept] if side == "head" else text[len(text) - kept :]
    report = audit(f"Use this:\n\n{piece}\n\n[end]", documents(text, "Another document, not truncated."))
    first = report.sightings[0]
    assert first.status is Status.TRUNCATED
    assert first.surviving == pytest.approx(kept / len(text), abs=0.02)
    assert texts(report, 1)[0].strip() == piece.strip()


def test_a_cut_in_the_middle_keeps_both_ends() -> None:
    text = f"{LANTERN} {PIPES} {LANTERN[::-1]} {PIPES[::-1]}"
    report = audit(f"{text[:300]} […] {text[-250:]}", documents(text))
    assert report.sightings[0].surviving == pytest.approx(550 / len(text), abs=0.02)


def test_templates_that_truncate_keep_the_order() -> None:
    given = documents(LANTERN, PIPES, NIGHT)
    report = audit("\n".join(f"{d.content[:60]}..." for d in given), given)
    assert report.holds
    assert statuses(report) == ["truncated"] * 3
    assert "keeps about 60 characters of each" in report.culprit


def test_a_prompt_cut_at_its_end() -> None:
    given = documents(LANTERN, PIPES, NIGHT + LANTERN[::-1], "The last of the documents, which is gone altogether.")
    report = audit("\n".join(d.content for d in given)[: len(LANTERN) + len(PIPES) + 80], given)
    assert statuses(report) == ["found", "found", "truncated", "missing"]
    assert "cut" in report.culprit


def test_a_quotation_is_no_truncated_document() -> None:
    report = audit(f"{PIPES}\nQuestion: why did the keeper of the lantern room do it?", documents(PIPES, LANTERN))
    assert statuses(report) == ["found", "missing"]


def test_overlapping_chunks_are_told_apart() -> None:
    whole = LANTERN + " " + PIPES
    given = documents(whole[:200], whole[120:320], whole[240:])
    report = audit("\n\n".join(d.content for d in reversed(given)), given)
    assert statuses(report) == ["found"] * 3
    assert report.actual == (3, 2, 1)
    # The head of the second chunk also stands at the end of the first: that is not a truncated second chunk.
    assert statuses(audit(given[0].content, given[:2])) == ["found", "missing"]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
def test_documents_that_contain_each_other(order: tuple[int, ...]) -> None:
    given = documents(
        "the old harbour", f"Beyond the old harbour: {LANTERN}", f"{PIPES} Beyond the old harbour: {LANTERN}"
    )
    report = audit("\n---\n".join(given[number - 1].content for number in order), given)
    assert report.actual == order
    assert statuses(report) == ["found"] * 3


def test_a_contained_document_that_is_not_there_is_missing() -> None:
    given = documents(f"Beyond the old harbour: {LANTERN}", "the old harbour")
    assert statuses(audit(f"1. {given[0].content}", given)) == ["found", "missing"]
    reformatted = given[0].content.replace(" ", "  ")
    assert statuses(audit(f"1. {reformatted}", given)) == ["found", "missing"]
    assert statuses(audit(f"1. {reformatted}\n2. the old harbour", given)) == ["found", "found"]


def test_a_short_text_that_the_instructions_mention_is_found_among_the_documents() -> None:
    given = documents("harbour", "lantern", "market")
    prompt = "Say which document names a harbour, or a market.\n[1] market\n[2] harbour\n[3] lantern\n"
    report = audit(prompt, given)
    assert report.actual == (3, 1, 2)
    assert statuses(report) == ["found"] * 3


def test_repeated_documents() -> None:
    report = audit(f"- {LANTERN}\n- {PIPES}\n- {LANTERN}\n", documents(LANTERN, PIPES))
    assert statuses(report) == ["repeated", "found"]
    assert report.sightings[0].copies == 2
    assert not report.holds
    assert report.order is KnownOrder.INTENDED
    assert "more than once" in report.culprit


def test_empty_documents_count_neither_way() -> None:
    report = audit(f"{LANTERN}\n\n{PIPES}", documents("", LANTERN, " \n", PIPES, None))
    assert statuses(report) == ["empty", "found", "empty", "found", "empty"]
    assert report.holds
    assert report.intended == (2, 4)


def test_unexpected_documents() -> None:
    given = documents(LANTERN, PIPES, NIGHT)
    prompt = f"{LANTERN}\n{PIPES}\n{NIGHT}"
    report = audit(prompt, given, expected=given[:2])
    assert statuses(report) == ["found", "found", "unexpected"]
    assert not report.holds
    assert report.order is KnownOrder.INTENDED
    assert "connected to a list from before the ranker" in report.culprit
    assert statuses(audit(f"{LANTERN}\n{PIPES}", given, expected=given[:2])) == ["found", "found", "left out"]


def test_a_limit_behind_the_ranker_is_suspected() -> None:
    given = documents(*(f"Passage {number} on the {number * 7} lights." for number in range(1, 7)))
    report = audit("\n".join(d.content for d in (given[0], given[2], given[3], given[1])), given, expected="arranged")
    assert report.numbers(Status.MISSING) == (5, 6)
    assert "top_k" in report.culprit


def test_nothing_found() -> None:
    report = audit("What is the time?", documents(LANTERN, PIPES))
    assert report.order is KnownOrder.NONE
    assert report.tau is None
    assert not report.holds
    assert report.culprit.startswith("None of the documents is in the prompt")


def test_no_documents() -> None:
    report = audit("What is the time?", [])
    assert report.holds
    assert (report.words, report.document_words, report.document_share) == (4, 0, 0.0)


def test_words_and_tokens() -> None:
    report = audit(f"One two three.\n{PIPES}\nfour", documents(PIPES))
    assert report.words == 4 + len(PIPES.split())
    assert report.document_words == len(PIPES.split())
    assert report.document_share == pytest.approx(len(PIPES) / report.characters)
    assert report.tokens > report.document_tokens > 20
    values = json.loads(json.dumps(report.to_dict()))
    assert values["tokens"] == report.tokens
    assert PIPES not in json.dumps(values, ensure_ascii=False)
    assert report.to_dict(tokens=False)["tokens"] is None
    assert report.to_dict(log_text=True)["documents"][0]["text"] == PIPES


OPENAI = [
    {"role": "system", "content": "Answer from the documents."},
    {
        "role": "user",
        "content": [{"type": "text", "text": f"[1] {PIPES}\n"}, {"type": "text", "text": f"[2] {LANTERN}"}],
    },
]


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (OPENAI, 2),
        ({"role": "user", "content": f"{PIPES}\n{LANTERN}"}, 1),
        ([ChatMessage.from_system("Answer."), ChatMessage.from_user(f"{PIPES}\n{LANTERN}")], 2),
        (ChatMessage.from_user(f"{PIPES}\n{LANTERN}"), 1),
        ([m.to_dict() for m in (ChatMessage.from_user("Hm?"), ChatMessage.from_user(f"{PIPES}\n{LANTERN}"))], 2),
        ([{"role": "user", "parts": [{"text": f"{PIPES}\n{LANTERN}"}]}], 1),
        (
            [
                {"message": {"role": "user", "contents": [{"message_content": {"type": "text", "text": PIPES}}]}},
                LANTERN,
            ],
            1,
        ),
        ([{"message.role": "user", "message.content": f"{PIPES}\n{LANTERN}"}], 1),
        (
            [
                {"role": "user", "content": "?"},
                {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": PIPES}]}]},
                {"role": "tool", "content": LANTERN},
            ],
            2,
        ),
    ],
)
def test_messages_of_every_form(prompt: object, message: int) -> None:
    report = audit(prompt, documents(PIPES, LANTERN))  # type: ignore[arg-type] # plain dicts
    assert report.holds
    assert report.sightings[0].message == message
    swapped = audit(prompt, documents(LANTERN, PIPES))  # type: ignore[arg-type] # plain dicts
    assert swapped.actual == (2, 1)


def test_results_of_tools_and_images() -> None:
    call = ToolCall("search", {"q": "?"})
    image = ImageContent(base64_image="aGVsbG8=", mime_type="image/png", validation=False)
    prompt = [
        ChatMessage.from_user(content_parts=[TextContent(PIPES), image]),
        ChatMessage.from_tool(json.dumps({"documents": [LANTERN]}), origin=call),
    ]
    report = audit(prompt, documents(PIPES, LANTERN))
    assert report.holds
    assert [sighting.message for sighting in report.sightings] == [1, 2]
    assert [segment.role for segment in report.segments] == ["user", "tool"]


@pytest.mark.parametrize("prompt", [None, 7, b"bytes", [7], [None], object()])
def test_what_is_no_prompt_is_refused(prompt: object) -> None:
    with pytest.raises(PromptError, match="Give"):
        audit(prompt, [])  # type: ignore[arg-type] # the point of the test


@pytest.mark.parametrize("given", [None, "text", ["text"], [{"content": "x"}]])
def test_what_are_no_documents_is_refused(given: object) -> None:
    with pytest.raises(PromptError, match=r"Give|Make"):
        audit("x", given)  # type: ignore[arg-type] # the point of the test


def test_a_prompt_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lim.audit.prompts.MAX_PROMPT_CHARACTERS", 10)
    with pytest.raises(PromptError, match="at most 10"):
        audit("x" * 11, [])
    with pytest.raises(PromptError, match="at most 10"):
        audit([{"role": "user", "content": "x" * 6}, {"role": "user", "content": "x" * 6}], [])


def test_pasted_prompts_are_messages_if_they_are_json_of_some() -> None:
    assert parse(json.dumps(OPENAI)) == OPENAI
    assert parse(json.dumps({"model": "x", "messages": OPENAI})) == OPENAI
    assert parse(json.dumps(OPENAI[0])) == [OPENAI[0]]
    for text in ("Hello", "[1] Paris\n[2] Rome", '{"a": 1}', "[]", "[" * 100_000, ""):
        assert parse(text) == text


@pytest.mark.parametrize("text", ["a" * 200_000, "ab " * 60_000, "word " * 40_000 + "end"])
def test_monotonous_texts_are_no_trap(text: str) -> None:
    report = audit(text[: len(text) // 2] + "\n" + text[5:], documents(text, text[:-1], "a", "word"))
    assert len(report.sightings) == 4


SMALL = [
    ["The kettle is old.", "Water boils soon.", "Tea is poured last.", "Cups are warm.", "Milk is cold."],
    ["harbour", "lantern", "market", "tower", "quay"],
    ["a", "b", "c", "d", "e"],
]


def reading(prompt: str, given: list[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    report = audit(prompt, documents(*given))
    assert report.numbers(Status.MISSING) == ()
    return report.actual, report.numbers(Status.REPEATED)


@pytest.mark.parametrize("kind", ["the same again", "twice again", "some again", "another order", "one before"])
@pytest.mark.parametrize("head", ["", "Documents:\n", "Answer from these.\n\n"])
def test_the_first_complete_pass_is_the_order_and_the_rest_is_named(kind: str, head: str) -> None:
    rng = random.Random(kind + head)
    for _ in range(60):
        texts = rng.choice(SMALL)[: rng.randint(2, 5)]
        order = rng.sample(range(len(texts)), len(texts))
        before, behind = [], []
        if kind == "the same again":
            behind = order
        elif kind == "twice again":
            behind = order * 2
        elif kind == "some again":
            behind = rng.sample(order, rng.randint(1, len(order)))
        elif kind == "another order":
            behind = rng.sample(order, len(order))
        else:  # the last one before the others would be a complete pass of another order
            order.sort()
            before = [rng.choice(order[:-1])]
        join = rng.choice(["\n\n", "\n", " ", "\n- ", "\n---\n"])
        prompt = join.join(texts[index] for index in [*before, *order, *behind]) + rng.choice(["", "\n\n??"])
        plain = "" if texts[0] == "a" else head  # these letters stand in every word
        expected = tuple(index + 1 for index in order), tuple(sorted(index + 1 for index in {*before, *behind}))
        assert reading(plain + prompt, texts) == expected, plain + prompt


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2), (2, 3, 1), (1, 3, 2)])
@pytest.mark.parametrize("mention", ["Question: harbour\n", "Which market or harbour has a lantern?\n", ""])
def test_a_query_that_quotes_documents_changes_no_order(order: tuple[int, ...], mention: str) -> None:
    texts = ["harbour", "lantern", "market"]
    listed = "\n".join(f"[{place}] {texts[number - 1]}" for place, number in enumerate(order, 1))
    for prompt in (f"{mention}{listed}\n", f"{listed}\n\n{mention}"):
        assert reading(prompt, texts)[0] == order


def test_passes_may_stand_in_other_surroundings() -> None:
    texts = SMALL[0]
    again = "\n".join(f"<doc>{text}</doc>" for text in reversed(texts))
    assert reading("\n\n".join(texts) + "\n\nEarlier:\n" + again, texts) == ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5))
    assert reading("a b c a b c" * 5, ["a", "b", "c"]) == ((1, 2, 3), (1, 2, 3))
