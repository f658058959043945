"""Step 7: six questions on generated lists."""

from __future__ import annotations

import streamlit as st

from lim import lesson
from lim.widgets import Bench

state = st.session_state


def questions(bench: Bench | None) -> None:
    """Ask six questions and explain each answer.

    :param bench: the person's list, or None while there is none.
    """
    del bench
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = st.number_input(
            "Set of questions",
            1,
            9999,
            1,
            key="quiz",
            bind="query-params",
            width=190,
            help="The same number, the same questions",
        )
        st.button("New questions", icon=":material/refresh:", on_click=_next_set, key="new_questions")
    answers: dict[int, int] = state.setdefault("answers", {}).setdefault(seed, {})
    asked = lesson.quiz(seed)
    right = sum(answers.get(number) == question.answer for number, question in enumerate(asked))
    score = st.container()
    for number, question in enumerate(asked):
        given = answers.get(number)
        with st.container(border=True):
            st.markdown(f"**{number + 1}. {question.text}**")
            with st.container(horizontal=True):
                for index, option in enumerate(question.options):
                    st.button(
                        option,
                        key=f"answer_{seed}_{number}_{index}",
                        icon=f":material/radio_button_{'checked' if given == index else 'unchecked'}:",
                        on_click=_answer,
                        args=(seed, number, index),
                    )
            if given is not None and given == question.answer:
                st.success(f"Right. {question.explanation}", icon=":material/check:")
            elif given is not None:
                st.warning(
                    f"Not “{question.options[given]}” but “{question.options[question.answer]}”. "
                    f"{question.explanation}",
                    icon=":material/close:",
                )
    with score:
        st.progress(len(answers) / len(asked), text=f"{right} right, {len(answers)} of {len(asked)} answered")


def _answer(seed: int, number: int, index: int) -> None:
    state["answers"][seed][number] = index


def _next_set() -> None:
    state["quiz"] = state["quiz"] % 9999 + 1
