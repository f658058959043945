"""What the Tune page says, draws and writes is what the figures are."""

import csv
import io
import json
import math

import pytest
from ranked_lists import of_words

from lim import RankedList, charts, export, measure
from lim.charts import tune as draw
from lim.frames import tune as frames
from lim.tuning import (
    Objective,
    Pair,
    best,
    counts,
    curve,
    gather,
    grid,
    outcome,
    ratio,
    round_thresholds,
    some_top_ks,
    told,
    top_k_curve,
    tradeoff,
)

LISTS = [
    RankedList("How?", tuple(of_words([10, 20, 30, 40])), relevant=(True, False, True, False)),
    RankedList("=What?", tuple(of_words([50, 5, 5])), relevant=(False, True, True)),
    RankedList("Why?", tuple(of_words([90])), relevant=(True,)),
    RankedList("Where?", tuple(of_words([8] * 12)), relevant=(False,) * 12),
]
POOL = gather(LISTS)
BARE = gather([RankedList(ranked.name, ranked.documents) for ranked in LISTS])


def test_the_verdict_has_its_numbers():
    assert told.verdict(outcome(POOL, 35, None, 70)) == (
        "1 of 4 queries exceeds 70 tokens, and 3 of 5 relevant documents are kept"
    )
    assert told.verdict(outcome(POOL, None, None, 20)) == (
        "4 of 4 queries exceed 20 tokens, and every relevant document is kept"
    )
    assert told.verdict(outcome(POOL, 60, None, 400)) == (
        "None of 4 queries exceeds 400 tokens, and every relevant document is kept"
    )
    assert told.verdict(outcome(BARE, 35, None, 400)) == (
        "None of 4 queries exceeds 400 tokens, and 10 documents reach the prompts"
    )
    assert (
        told.verdict(outcome(BARE, 35))
        == "Half of the queries send at most 50 words, and 10 documents reach the prompts"
    )
    one = gather(LISTS[:1])
    assert told.verdict(outcome(one, 5, None, 400)) == (
        "The query stays within 400 tokens, and 1 of 2 relevant documents is kept"
    )


@pytest.mark.parametrize(
    ("share", "written"),
    [(0, "0%"), (1, "100%"), (0.0004, "under 0.1%"), (0.9996, "over 99.9%"), (0.0344, "3.4%"), (0.999, "99.9%")],
)
def test_no_share_is_rounded_to_none_or_all(share, written):
    assert told.percent(share) == written


def test_the_sentence_for_a_pull_request_is_exact():
    said = told.sentence(outcome(POOL, 35, 8, 60), POOL.documents, 2, "runs.jsonl", "3.4.1")
    assert said == (
        "LostInTheMiddleRanker(word_count_threshold=35, top_k=8), measured on 4 ranked lists (20 documents, 2 "
        "duplicates dropped) from runs.jsonl: 2 of them (50.0%) exceed 60 tokens for documents; 3 of 5 documents "
        "marked relevant reach the prompt (60.0%), and 1 of 3 queries with one lose at least one (33.3%); the "
        "median prompt has 51 tokens (o200k_base) of documents, the 95th percentile 91, the largest 91. The "
        "document that crosses the threshold is kept: 25.0 words over it on average. Counted by the rules of "
        "haystack-ai 3.4.1."
    )
    bare = told.sentence(outcome(BARE), 20, 0, "pasted text", "3.4.1")
    assert bare.startswith(
        "LostInTheMiddleRanker(), measured on 4 ranked lists (20 documents) from pasted text: the median"
    )
    assert "relevant" not in bare


def test_the_answer_names_the_pair_and_what_was_searched():
    found = best(POOL, 60, 0.25, Objective.RELEVANT)
    said = told.answer(found, 0.25, 60, 4)
    figures = found.best
    assert said == (
        f"{told.limits(figures.word_count_threshold, figures.top_k)} keeps {figures.relevant_kept} of 5 relevant "
        f"documents with {figures.over} of 4 queries over 60 tokens (1 may be)."
    )
    assert told.searched(found) == "Searched: every threshold there is, with every top_k from 1 to 11 and without one."
    nothing = best(POOL, 5, 0, Objective.WORDS)
    assert told.answer(nothing, 0, 5, 4).startswith("No pair keeps at most 0 of 4 queries (0%) over 5 tokens")


def test_a_threshold_is_worth_its_tokens():
    ratios = ratio(POOL)
    low, middle, high = (round(100 * each) for each in (ratios.by_list.q25, ratios.whole, ratios.by_list.q75))
    assert told.worth(100, ratios) == (
        f"100 words are worth about {middle} tokens here; for the middle half of the queries {low} to {high}."
    )
    table = frames.worths(curve(POOL, frames.thresholds_of(POOL)), ratios)
    assert table["tokens"].tolist() == [round(threshold * ratios.whole) for threshold in table["threshold"]]
    for row in table.itertuples():
        sent = outcome(POOL, row.threshold).tokens
        assert (row.median, row.p95, row.most) == (sent.median, sent.p95, sent.most)


def figures_of(pool, threshold, top_k, budget):
    now = outcome(pool, threshold, top_k, budget)
    steps = frames.thresholds_of(pool)
    lines = grid(pool, steps, [top_k], budget)
    objective = Objective.RELEVANT if now.recall is not None else Objective.DOCUMENTS
    found = best(pool, budget, 0.25, objective)
    table = grid(pool, [*round_thresholds(pool), threshold], [*some_top_ks(pool.longest), top_k], budget)
    return [
        *(
            draw.sizes(frames.sizes(curve(pool, steps, top_k), unit, threshold, budget), now, unit)
            for unit in frames.UNITS
        ),
        draw.shares(frames.shares(lines, pool, threshold), now),
        draw.pairs(frames.pairs(table, pool, objective, found.allowed, now, found.best), "the goal"),
        draw.tradeoff(frames.tradeoff(tradeoff(pool, budget, objective), pool, objective, now), objective),
    ]


@pytest.mark.parametrize(
    ("pool", "limits"),
    [
        (POOL, (35, None, 60)),
        (BARE, (None, 3, 60)),
        (gather(LISTS[:1]), (10**9, None, 0)),
        (gather([RankedList("empty", tuple(of_words([0])))]), (35, None, 60)),
    ],
)
def test_every_figure_can_be_drawn(pool, limits):
    for figure in figures_of(pool, *limits):
        assert figure.title
        assert figure.alt.startswith(figure.title)
        svg = export.chart_svg(charts.standalone(figure, charts.LIGHT)).decode()
        assert "NaN" not in svg
        assert "undefined" not in svg


def test_a_new_threshold_changes_rows_and_no_chart():
    def specifications(threshold):
        return [
            json.dumps(charts.specification(figure.drawn.draw, figure.drawn.given))
            for figure in figures_of(POOL, threshold, None, 60)[:4]
        ]

    assert specifications(35) == specifications(50)


def test_the_curves_are_the_figures_at_each_threshold():
    steps = frames.thresholds_of(POOL)
    assert (steps[0], steps[-1]) == (1, 101)
    sizes = frames.sizes(curve(POOL, steps, 8), "Tokens", 35, 60)
    shares = frames.shares(grid(POOL, steps, [8], 60), POOL, 35)
    for threshold, size, share in zip(steps, sizes.itertuples(), shares.itertuples(), strict=True):
        figures = outcome(POOL, threshold, 8, 60)
        assert (size.at, share.at) == (threshold, threshold)
        assert (size.q25, size.median, size.q75, size.p95, size.most) == figures.tokens[1:6]
        assert share.kept == pytest.approx(100 * figures.recall)
        assert share.over == pytest.approx(100 * figures.share_over)
        assert share.losing == pytest.approx(100 * figures.share_losing)
    assert set(sizes["now"]) == set(shares["now"]) == {35}
    top_ks = frames.top_ks_of(POOL)
    assert top_ks == tuple(range(1, 13))
    sizes = frames.sizes(top_k_curve(POOL, top_ks, 35), "Words", 3, 60)
    shares = frames.shares(grid(POOL, [35], top_ks, 60), POOL, 3)
    for top_k, size, share in zip(top_ks, sizes.itertuples(), shares.itertuples(), strict=True):
        figures = outcome(POOL, 35, top_k, 60)
        assert (size.at, size.median, size.most, size.now) == (top_k, figures.words.median, figures.words.most, 3)
        assert (share.at, share.kept) == (top_k, pytest.approx(100 * figures.recall))
    assert math.isnan(frames.sizes(curve(POOL, steps), "Tokens", 10**6, 60)["now"].iloc[0])  # not drawn so far away


def test_the_map_marks_the_pairs_that_meet_the_goal():
    now, found = outcome(POOL, 35, None, 60), best(POOL, 60, 0.25, Objective.RELEVANT)
    starred = (found.best.word_count_threshold, found.best.top_k)
    table = grid(POOL, [20, 35, None, starred[0]], [2, None, starred[1]], 60)
    frame = frames.pairs(table, POOL, Objective.RELEVANT, found.allowed, now, found.best)
    for row in frame.itertuples():
        figures = outcome(POOL, row.threshold or None, row.top_k or None, 60)
        assert row.feasible == (figures.over <= 1)
        assert row.kept == pytest.approx(100 * figures.recall)
        assert row.label.removeprefix("★ ") == (f"{math.floor(100 * figures.recall)}" if row.feasible else "✕")
    assert [(row.threshold, row.top_k) for row in frame[frame["now"]].itertuples()] == [(35, 0)]
    assert [(row.threshold or None, row.top_k or None) for row in frame[frame["best"]].itertuples()] == [starred]


def test_the_tradeoff_ends_with_the_limits_of_now():
    points = tradeoff(POOL, 60, Objective.DOCUMENTS)
    frame = frames.tradeoff(points, POOL, Objective.DOCUMENTS, outcome(POOL, 35, None, 60))
    assert frame["kind"].tolist() == ["best"] * len(points) + ["now"]
    assert [Pair(row.threshold or None, row.top_k or None) for row in frame.itertuples()][:-1] == [
        p.pair for p in points
    ]
    assert frame["limits"].iloc[-1] == "word_count_threshold=35"


def test_the_answers_stand_beside_each_other():
    found, now = best(POOL, 60, 0.25, Objective.RELEVANT), outcome(POOL, 35, None, 60)
    frame = frames.answers(found, now)
    assert frame["what"].tolist() == ["Best", "Runner-up", "Threshold alone", "top_k alone", "Your limits now"]
    for row, figures in zip(
        frame.itertuples(), [found.best, found.runner_up, found.threshold_alone, found.top_k_alone, now], strict=True
    ):
        assert (row.over, row.documents) == (figures.over, figures.documents.total)
        assert row.recall == pytest.approx(100 * figures.recall)


def rows_of(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def test_the_files_hold_every_figure():
    steps = (20, 35, 60)
    written = rows_of(export.table_csv(frames.results(curve(POOL, steps, 8), grid(POOL, steps, [8], 60), POOL, 8, 60)))
    for threshold, row in zip(steps, written, strict=True):
        figures = outcome(POOL, threshold, 8, 60)
        assert float(row.pop("mean_overshoot")) == figures.mean_overshoot
        assert {name: int(value) for name, value in row.items()} == {
            "word_count_threshold": threshold,
            "top_k": 8,
            "queries": 4,
            **{
                f"{noun}_{name}": value
                for noun in ("documents", "words", "tokens")
                for name, value in getattr(figures, noun)._asdict().items()
            },
            "budget": 60,
            "queries_over": figures.over,
            "queries_losing_relevant": figures.losing,
            "queries_with_relevant": 3,
            "relevant_kept": figures.relevant_kept,
            "relevant": 5,
        }
    written = rows_of(export.table_csv(frames.every_pair(grid(POOL, [20, None], [2, None], 60), POOL, 60)))
    assert [(row["word_count_threshold"], row["top_k"]) for row in written] == [
        ("20", "2"),
        ("20", ""),
        ("", "2"),
        ("", ""),
    ]
    for row in written:
        figures = outcome(
            POOL, *(int(row[name]) if row[name] else None for name in ("word_count_threshold", "top_k")), 60
        )
        assert (int(row["queries_over"]), int(row["relevant_kept"])) == (figures.over, figures.relevant_kept)
        assert (int(row["documents"]), int(row["words"])) == (figures.documents.total, figures.words.total)


def test_the_queries_to_look_at_first():
    counted = counts(POOL, 35)
    frame = frames.queries(LISTS, POOL, counted, 40, "tokens", 3)
    assert frame["query"].tolist() == ["Why?", "How?", "=What?"]
    assert frame["number"].tolist() == [3, 1, 2]
    tokens = [measure.tokens(["word " * n])[0] for n in (90, 50)]
    assert frame["tokens"].tolist()[0] == tokens[0]
    assert frame["over"].tolist()[2] == tokens[1] - 40
    assert frame["lost"].tolist() == [0, 0, 2]
    assert b"'=What?" in export.table_csv(frame)
    assert "lost" not in frames.queries(LISTS, BARE, counts(BARE, 35), None, "tokens", 3)


def test_without_tokens_nothing_is_made_up(monkeypatch):
    monkeypatch.setattr(measure, "toktok", None)
    pool = gather(LISTS)
    now = outcome(pool, 35, None, 60)
    assert told.verdict(now).startswith("Half of the queries send at most 50 words, and 3 of 5")
    assert "95% have at most" in frames.figures(now)
    assert frames.figures(now)["95% have at most"][0].endswith(" words")
    assert "Over the budget" not in frames.figures(now)
    shares = frames.shares(grid(pool, [20, 35], [None], 60), pool, 35)
    assert shares["over"].isna().all()
    svg = export.chart_svg(charts.standalone(draw.shares(shares, now), charts.LIGHT)).decode()
    assert "NaN" not in svg
