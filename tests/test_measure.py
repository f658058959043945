"""Words as Haystack counts them, tokens, characters, and the texts whose words say little."""

import base64

import pytest
import toktok
from hypothesis import example, given
from hypothesis import strategies as st
from ranked_lists import LOOKS_LIKE_WHITESPACE, WHITESPACE, any_text, spaced_text

from lim import measure

ascii_text = st.text(alphabet=st.characters(max_codepoint=127))

UNSPLITTABLE = {
    "Chinese": "潮汐表每天张贴在码头入口。值班员须在开闸前核对。闸门在高水位前一小时关闭。任何人不得擅自操作。",
    "Japanese": "灯台の点検は毎月一日に行い、記録簿に署名してください。",
    "Thai": "ประตูน้ำปิดหนึ่งชั่วโมงก่อนน้ำขึ้นสูงสุด และห้ามผู้ใดเปิดโดยไม่ได้รับอนុญาตจากนายท่าเรือ",
    "Khmer": "ទ្វារទឹកត្រូវបិទមួយម៉ោងមុនពេលទឹកឡើងខ្ពស់ ហើយត្រូវកត់ត្រាក្នុងសៀវភៅ",
    "a giant URL": "https://shop.example/returns/policy?lang=en&region=eu#section-4.2_refunds-and-exchanges",
    "base64": base64.b64encode(bytes(range(256)) * 4).decode(),
    "base64 in lines": "\n".join([base64.b64encode(bytes(range(57))).decode()] * 20),
}
SPLITTABLE = {
    "English": "The gate log is signed by two people at every change of shift.",
    "German": "Die Rückgabefrist für Haushaltsgroßgeräte beträgt vierzehn Tage ab Übergabe an der Bordsteinkante.",
    "Korean": "등대 점검은 매월 첫째 날에 하고 기록부에 서명합니다.",
    "a table": "| Item | Window | Refund |\n|---|---|---|\n| Headphones | 30 days | card |\n| Gifts | 30 days | note |",
    "code": "def cut(words, limit):\n    total = 0\n    for count in words:\n        total += count\n    return total",
    "English with a link": "Refunds are described at https://shop.example/returns?lang=en and take three to five days.",
    "an empty text": "",
    "white space": " \n\u3000",
}


@given(any_text)
def test_words_are_the_pieces_of_split(text):
    assert measure.words(text) == len(text.split())


@given(spaced_text)
def test_words_are_the_pieces_of_split_around_every_kind_of_space(text):
    assert measure.words(text) == len(text.split())


@given(ascii_text)
def test_words_are_the_pieces_of_split_on_the_fast_path(text):
    assert measure.words(text) == len(text.split())


@pytest.mark.parametrize("codes", [range(0x80), range(0x110000)], ids=["ASCII", "Unicode"])
def test_every_character_divides_words_or_does_not_as_in_split(codes):
    wrong = [code for code in codes if measure.words(f"a{chr(code)}b") != len(f"a{chr(code)}b".split())]
    assert wrong == []


def test_spaces_divide_words_and_what_only_looks_like_one_does_not():
    assert {measure.words(f"a{space}b") for space in WHITESPACE} == {2}
    assert {measure.words(f"a{other}b") for other in LOOKS_LIKE_WHITESPACE} == {1}


@given(any_text)
def test_characters_are_code_points(text):
    assert measure.characters(text) == len(list(text))


@given(st.lists(st.text()))
def test_tokens_are_those_of_the_o200k_vocabulary(texts):
    assert measure.tokens(texts) == toktok.batch_count(texts, "o200k_base")


def test_tokens_of_known_texts():
    assert measure.tokens(["", "hello world", "hello world " * 100]) == [0, 2, 201]
    assert measure.tokens([]) == []


def test_a_special_token_in_a_text_is_ordinary_text():
    (count,) = measure.tokens(["<|endoftext|>"]) or [0]
    assert count > 1


@example(["a \ud83d\ud83d\ud83db", "plain"])  # as question marks they would be fewer
@given(st.lists(any_text, max_size=4))
def test_tokens_of_lone_surrogates_are_those_of_the_replacement_character(texts):
    replaced = ["".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text) for text in texts]
    assert measure.tokens(texts) == toktok.batch_count(replaced, "o200k_base")


def test_tokens_are_not_available_without_the_library(monkeypatch):
    monkeypatch.setattr(measure, "toktok", None)
    assert measure.tokens(["hello world"]) is None
    assert measure.tokens([]) is None


@pytest.mark.parametrize("name", UNSPLITTABLE)
def test_words_say_little_about(name):
    assert measure.unsplittable(UNSPLITTABLE[name]) is True


@pytest.mark.parametrize("name", SPLITTABLE)
def test_words_are_a_fair_measure_of(name):
    assert measure.unsplittable(SPLITTABLE[name]) is False


def test_the_bound_is_more_than_fifteen_characters_a_word():
    assert measure.unsplittable("x" * 15 + "  \n " + "y" * 15) is False
    assert measure.unsplittable("x" * 15 + "  \n " + "y" * 16) is True
