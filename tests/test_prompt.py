"""The prompt is what Haystack's PromptBuilder makes, and no template can hold the server up."""

import json
import os
import subprocess
import sys
import threading
import time
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from haystack import Document
from haystack.components.builders import PromptBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from lim import TemplateError, prompt, prompt_worker
from lim.prompt import DEFAULT_TEMPLATE, Rendered, Span, render

ROOT = Path(__file__).parents[1]
EACH = "{% for document in documents %}{{ document.content }}\n{% endfor %}"
SLACK_SECONDS = 3.0  # for a new process, on a busy machine


def documents_of(*texts):
    return [Document(id=str(index), content=text) for index, text in enumerate(texts)]


def places(rendered):
    """Say which document stands where, with what stands there."""
    return [(span.index, span.start, rendered.text[span.start : span.end]) for span in rendered.spans]


@pytest.fixture
def worker(monkeypatch):
    """A worker of the test's own, so that what the test does to it is nobody else's trouble."""
    own = prompt._Worker()
    monkeypatch.setattr(prompt, "_worker", own)
    yield own
    own.close()


def stand_in(monkeypatch, tmp_path, code):
    """Have another program take the worker's place."""
    script = tmp_path / "worker.py"
    script.write_text(f"import sys, time\nprint('{{}}', flush=True)\nsys.stdin.readline()\n{code}\n")
    monkeypatch.setattr(prompt_worker, "__file__", str(script))


# What comes out


def test_the_default_template_asks_before_and_after_the_numbered_documents():
    rendered = render(DEFAULT_TEMPLATE, documents_of("Paris is in France.", "Rome is in Italy."), "Where is Paris?")
    text = (
        "Answer the question using only the documents below. If they do not contain the answer, say so.\n\n"
        "Question: Where is Paris?\n\nDocuments:\n\n[1] Paris is in France.\n\n[2] Rome is in Italy.\n\n"
        "Question: Where is Paris?\nAnswer:"
    )
    assert rendered == Rendered(text, (Span(0, 139, 158), Span(1, 164, 181)), ())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=5,
)


@settings(max_examples=100)
@given(
    st.lists(
        st.builds(
            Document,
            id=st.text(min_size=1, max_size=5),
            content=st.text(st.characters(codec=None)),
            meta=st.dictionaries(st.sampled_from(["title", "page"]), json_values),
            score=st.none() | st.floats(),
        ),
        max_size=6,
    ),
    st.text(st.characters(codec=None), max_size=20),
    st.sampled_from(
        [
            DEFAULT_TEMPLATE,
            EACH,
            "{{ query }}{% for d in documents|reverse %}{{ d.content|trim }}{{ d.meta.page }}{{ d.score }}{% endfor %}",
            "{% for d in documents %}{{ d.content|upper }}{{ d.meta|tojson }}{{ d.id }}{{ d.meta }}{% endfor %}",
            "{% for d in documents|unique(attribute='content') %}{{ d.content|truncate(5) }}{% endfor %}",
        ]
    ),
)
def test_the_text_is_the_one_prompt_builder_makes_and_every_span_holds_its_document(documents, query, template):
    builder = PromptBuilder(template)
    given = {"documents": documents, "query": query, "question": query}
    expected = builder.run(**{name: given[name] for name in builder.variables})["prompt"]
    rendered = render(template, documents, query)
    assert rendered.text == expected
    assert all(rendered.text[span.start : span.end] == documents[span.index].content for span in rendered.spans)
    named = sorted([*rendered.missing, *(span.index for span in rendered.spans)])
    assert named == [index for index, document in enumerate(documents) if document.content]
    if template == EACH:
        assert rendered.missing == ()


def test_a_short_text_is_found_where_the_template_put_it_and_not_where_the_letters_occur_before():
    rendered = render("Answer: A B C.\n" + EACH, documents_of("B", "A", "C"))
    assert (places(rendered), rendered.missing) == ([(0, 15, "B"), (1, 17, "A"), (2, 19, "C")], ())


def test_a_text_quoted_in_an_earlier_document_is_found_in_its_own_place():
    rendered = render(EACH, documents_of("He said: Paris. Paris.", "Paris."))
    assert places(rendered) == [(0, 0, "He said: Paris. Paris."), (1, 23, "Paris.")]


def test_spans_stand_in_the_order_of_the_prompt_when_the_template_reorders():
    rendered = render(
        "{% for d in documents|reverse %}{{ d.content }},{% endfor %}", documents_of("one", "two", "three")
    )
    assert places(rendered) == [(2, 0, "three"), (1, 6, "two"), (0, 10, "one")]


def test_equal_texts_stand_in_places_of_their_own():
    rendered = render(EACH, documents_of("same", "other", "same", "same"))
    assert places(rendered) == [(0, 0, "same"), (1, 5, "other"), (2, 11, "same"), (3, 16, "same")]


def test_equal_texts_share_the_place_of_the_one_the_template_wrote():
    rendered = render("{{ documents[1].content }}", documents_of("same", "same"))
    assert rendered == Rendered("same", (Span(0, 0, 4), Span(1, 0, 4)), ())


def test_a_document_the_template_leaves_out_or_changes_is_missing_and_one_without_text_is_not():
    documents = [*documents_of("first", "", "changed", "last"), Document(id="none", content=None)]
    rendered = render(
        "{{ documents[0].content }} {{ documents[2].content|upper }} {{ documents[1].content }}", documents
    )
    assert rendered == Rendered("first CHANGED ", (Span(0, 0, 5),), (2, 3))


def test_a_letter_of_the_instructions_is_not_taken_for_a_document_that_was_left_out():
    assert render("Answer: {{ documents[0].content }}", documents_of("B", "A")) == Rendered(
        "Answer: B", (Span(0, 8, 9),), (1,)
    )


def test_a_text_that_reaches_the_prompt_through_the_meta_is_found():
    documents = [Document(id="1", content="window", meta={"original": "window"})]
    assert places(render("window: {{ documents[0].meta.original }}", documents)) == [(0, 8, "window")]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        # each looks at the texts in a way that any mark in them would change
        ("{% for d in documents|sort(attribute='content') %}{{ d.content }} {% endfor %}", [(1, 0, "a"), (0, 2, "b")]),
        ("{% for d in documents %}{{ d.content|length }}{{ d.content }} {% endfor %}", [(0, 1, "b"), (1, 4, "a")]),
        ("{% for d in documents %}{{ d.content|tojson }}{% endfor %}", [(0, 1, "b"), (1, 4, "a")]),
    ],
)
def test_a_template_that_looks_at_the_texts_is_searched(template, expected):
    assert places(render(template, documents_of("b", "a"))) == expected


def test_texts_with_the_marks_own_characters_are_searched():
    texts = ("\U000f0000a\U00100000", "\U000f0001")
    assert places(render(EACH, documents_of(*texts))) == [(0, 0, texts[0]), (1, 4, texts[1])]


@pytest.mark.parametrize(
    ("text", "contents", "expected"),
    [
        ("a b c", ["a", "b", "c"], [(0, 1), (2, 3), (4, 5)]),
        ("c b a", ["a", "b", "c"], [(4, 5), (2, 3), (0, 1)]),
        ("a a b a", ["a", "b", "a", "a"], [(0, 1), (4, 5), (6, 7), (2, 3)]),
        ("a b", ["a", "a", "a", "b"], [(0, 1), (0, 1), (0, 1), (2, 3)]),
        ("aaaa", ["aa", "aa"], [(0, 2), (2, 4)]),
        ("ab", ["c", "", None, "b"], [None, None, None, (1, 2)]),
    ],
)
def test_searching_goes_forward_then_from_the_start(text, contents, expected):
    assert prompt_worker.searched_places(text, contents) == expected


def test_ten_thousand_documents_are_placed_within_the_bound():
    documents = documents_of(*(f"passage {number} of many" for number in range(10_000)))
    rendered = render(EACH, documents)
    assert [span.index for span in rendered.spans] == list(range(10_000))
    assert rendered.missing == ()


def test_meta_goes_to_the_template_as_plain_values():
    loop: list = []
    loop.append(loop)
    meta = {"day": date(2024, 2, 29), "pair": (1, 2), "n": np.float64(0.5), "k": np.int64(3), 7: "seven", "loop": loop}
    template = (
        "{% set m = documents[0].meta %}{{ m.day }} {{ m.pair }} {{ m.n + m.k }} {{ m['7'] }} {{ m.loop[0][0]|length }}"
    )
    assert render(template, [Document(id="1", content="x", meta=meta)]).text == "2024-02-29 [1, 2] 3.5 seven 1"


def test_a_template_that_changes_the_documents_leaves_the_callers_alone():
    documents = [Document(id="1", content="x", meta={"a": [1]})]
    assert render(
        "{{ documents[0].meta.a.append(2) }}{{ documents[0].meta.a }}{{ documents.pop().id }}", documents
    ).text == ("None[1, 2]1")
    assert (len(documents), documents[0].meta) == (1, {"a": [1]})


# What does not


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "more than 2 seconds"),
        ("{{ 9 ** (9 ** 9) }}", "more than 2 seconds"),
        ("{{ lipsum(n=99999) }}", "more than 2 seconds"),
        ("{{ 'a' * 10 ** 10 }}", "more than 512 MiB"),
        ("{{ '%0999999999d'|format(1) }}", "more than 512 MiB"),
        ("{{ [0] * 10 ** 9 }}", "more than 512 MiB"),
        ("{{ 'a'|center(10 ** 9) }}", "more than 512 MiB"),
        (
            "{% set n = namespace(x='a') %}{% for i in range(9) %}{% set n.x = n.x * 64 %}{% endfor %}",
            "more than 512 MiB",
        ),
        ("{{ 'a' * 1000001 }}", "The prompt has 1,000,001 characters, but at most 1,000,000"),
        ("{{ (range(99999)|list|string) * 2 }}", "at most 1,000,000"),
        ("{{ range(10 ** 9) }}", "line 1 ({{ range(10 ** 9) }}) failed while it ran: OverflowError: Range too big"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "too deep"),
        ("{{ " + "(" * 9000 + "1" + ")" * 9000 + " }}", "too deep"),
        ("{{ " + "-" * 15000 + "1 }}", "too deep"),
        ("{{ documents.__class__.__mro__[1].__subclasses__() }}", "forbids: access to attribute '__class__'"),
        (
            "a\n{{ cycler.__init__.__globals__.os.environ }}",
            "line 2 ({{ cycler.__init__.__globals__.os.environ }}) reaches",
        ),
        ("{{ documents[0].from_dict.__func__.__globals__ }}", "forbids: access to attribute '__func__'"),
        ("{% include '/etc/passwd' %}", "failed while it ran: TypeError: no loader"),
        ("\n{{ 1 / 0 }}", "line 2 ({{ 1 / 0 }}) failed while it ran: ZeroDivisionError: division by zero"),
        ("{{ documents[9].content }}", "UndefinedError: list object has no element 9"),
        ("a\nb {{ c.d", "line 2 (b {{ c.d) is not valid Jinja: unexpected end of template"),
        ("{% if %}", "line 1 ({% if %}) is not valid Jinja: Expected an expression"),
        ("{{ query|shout }}", "is not valid Jinja: No filter named 'shout'"),
        ("{% for d in documents %}", "is not valid Jinja: Unexpected end of template"),
        ("context:\n{{ context }}", "line 2 ({{ context }}) uses context, but only documents, query and question"),
        ("{{ b }}{{ a.x }}", "uses a, b, but only"),
        ("{{ template }}", "cannot override the parameters"),
        ("{{ query }" + " " * 20_000, "The template has 20,010 characters, but at most 20,000"),
    ],
)
def test_a_hostile_or_wrong_template_ends_in_time_with_a_reason_and_the_next_one_renders(template, says):
    documents = documents_of("one")
    render("", documents)  # the process is up: what is timed is the template
    began = time.monotonic()
    with pytest.raises(TemplateError) as raised:
        render(template, documents, "?")
    assert time.monotonic() - began < prompt.MAX_SECONDS + SLACK_SECONDS
    assert says in str(raised.value)
    assert render(EACH, documents) == Rendered("one\n", (Span(0, 0, 3),), ())


def test_a_long_line_is_quoted_in_short():
    with pytest.raises(TemplateError) as raised:
        render("x" * 500 + "{{ 1 / 0 }}", [])
    assert f"line 1 ({'x' * 79}…)" in str(raised.value)


def test_more_than_four_million_characters_are_refused():
    with pytest.raises(TemplateError, match="The documents have 4,000,001 characters"):
        render("{{ documents|length }}", documents_of("a" * 4_000_001))
    with pytest.raises(TemplateError, match=r"The documents have 5,000,\d+ characters with their meta"):
        render("{{ documents|length }}", [Document(id="1", content="", meta={"long": "a" * 5_000_000})])
    assert render("{{ documents|length }}", documents_of("a" * 3_900_000)).text == "1"


def test_a_number_too_long_to_write_is_a_template_error():
    with pytest.raises(TemplateError, match="meta of a document cannot be handed"):
        render("", [Document(id="1", content="", meta={"n": 10**5000})])


# The process


def test_the_worker_is_kept_between_calls_and_replaced_after_it_was_overrun(worker):
    render("a", [])
    first = worker._process.pid
    with pytest.raises(TemplateError):
        render("{{ wrong }}", [])
    assert worker._process.pid == first
    with pytest.raises(TemplateError):
        render("{{ 'a' * 10 ** 10 }}", [])
    assert render("b", []).text == "b"
    assert worker._process.pid != first


def test_a_worker_that_died_between_two_calls_is_replaced_unseen(worker):
    render("a", [])
    worker._process.kill()
    assert render("b", []).text == "b"
    worker._process.stdin.close()
    worker._process.wait()
    assert render("c", []).text == "c"


@pytest.mark.parametrize(
    "code",
    [
        "",
        "print('no json')",
        "print('[' * 100000)",
        "print('[]')",
        "print('{}')",
        """print('{"error": "another"}')""",
        """print('{"text": 1, "spans": []}')""",
        """print('{"text": "a", "spans": {}}')""",
        """print('{"text": "a", "spans": []}')""",
        """print('{"text": "a", "spans": [[0, 1], [0, 1]]}')""",
        """print('{"text": "ab", "spans": [[1, 2]]}')""",
        """print('{"text": "a", "spans": [["0", 1]]}')""",
        """print('{"text": "a", "spans": [[0]]}')""",
        """print('{"text": "' + "a" * 1000001 + '", "spans": [[0, 1]]}')""",
        """print(' ' * 20_000_000 + '{"text": "a", "spans": [[0, 1]]}')""",
    ],
)
def test_a_worker_that_dies_or_answers_nonsense_is_a_template_error(worker, monkeypatch, tmp_path, code):
    stand_in(monkeypatch, tmp_path, code)
    with pytest.raises(TemplateError, match="made it answer nonsense"):
        render("a", documents_of("a"))
    monkeypatch.undo()
    monkeypatch.setattr(prompt, "_worker", worker)
    worker.close()
    assert render("a", []).text == "a"


def test_a_worker_that_ends_while_it_is_written_to_is_a_template_error(worker, monkeypatch, tmp_path):
    (tmp_path / "deaf.py").write_text("print('{}', flush=True)\n")
    monkeypatch.setattr(prompt_worker, "__file__", str(tmp_path / "deaf.py"))
    with pytest.raises(TemplateError, match="made it answer nonsense"):
        render("a", documents_of("a" * 1_000_000))


def test_a_right_answer_of_a_stand_in_is_taken(worker, monkeypatch, tmp_path):
    stand_in(monkeypatch, tmp_path, """print('{"text": "a", "spans": [[0, 1]]}')""")
    assert render("", documents_of("a")) == Rendered("a", (Span(0, 0, 1),), ())


def test_a_worker_that_cannot_start_is_a_template_error(worker, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(tmp_path / "nowhere"))
        with pytest.raises(TemplateError, match=r"could not be started .*nowhere"):
            render("a", [])
    with monkeypatch.context() as patch:
        patch.setattr(prompt_worker, "__file__", str(tmp_path / "nowhere.py"))
        with pytest.raises(TemplateError, match="could not be started within 30 seconds"):
            render("a", [])
    with monkeypatch.context() as patch:
        (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
        patch.setattr(prompt_worker, "__file__", str(tmp_path / "slow.py"))
        patch.setattr(prompt, "MAX_START_SECONDS", 0.5)
        with pytest.raises(TemplateError, match=r"could not be started within 0\.5 seconds"):
            render("a", [])
    assert render("a", []).text == "a"


def test_starting_up_is_not_counted_as_the_templates_time(worker, monkeypatch, tmp_path):
    (tmp_path / "late.py").write_text(
        'import time\ntime.sleep(0.6)\nprint(\'{}\', flush=True)\ninput()\nprint(\'{"text": "a", "spans": []}\')\n'
    )
    monkeypatch.setattr(prompt_worker, "__file__", str(tmp_path / "late.py"))
    monkeypatch.setattr(prompt, "MAX_SECONDS", 0.5)
    assert render("a", []).text == "a"


def test_a_call_waits_its_turn_and_no_longer(worker, monkeypatch):
    monkeypatch.setattr(prompt, "MAX_WAIT_SECONDS", 0.1)
    with worker._lock, pytest.raises(TemplateError, match=r"busy for 0\.1 seconds"):
        render("a", [])
    assert render("a", []).text == "a"


def test_calls_from_many_threads_get_their_own_answers(worker):
    answers = {}

    def ask(number):
        answers[number] = render("{{ query }}", [], str(number)).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: str(number) for number in range(20)}


def test_the_worker_gets_none_of_the_servers_secrets(worker, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("PATH", "/bin")
    assert set(prompt._environment()) - {"SYSTEMROOT", "LD_LIBRARY_PATH"} == {
        "PATH",
        "PYTHONPATH",
        "PYTHONUTF8",
        "HAYSTACK_TELEMETRY_ENABLED",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
    }
    assert prompt._environment()["PYTHONPATH"].split(os.pathsep) == [each for each in sys.path if each]
    render("a", [])
    environment = Path(f"/proc/{worker._process.pid}/environ")
    if environment.exists():
        assert b"secret" not in environment.read_bytes()


def alive(pid):
    """Whether a process runs; one that ended and waits for its parent to notice does not."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid, seconds):
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(pid)


on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc whether a process runs")


@on_linux
@pytest.mark.parametrize("end", ["", "; os.kill(os.getpid(), 9)"])
def test_the_worker_ends_with_the_interpreter_however_that_ends(end):
    code = "import os; from lim import prompt; prompt.render('a', []); print(prompt._worker._process.pid, flush=True)"
    output = subprocess.run(
        [sys.executable, "-c", code + end], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    ).stdout
    assert gone(int(output), 2)


@on_linux
def test_a_template_does_not_run_on_when_the_server_is_gone():
    process = subprocess.Popen(
        [sys.executable, "-P", prompt_worker.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    process.stdout.readline()
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    process.stdin.write(json.dumps({"template": endless, "query": "", "documents": []}).encode() + b"\n")
    process.stdin.close()
    try:
        assert gone(process.pid, 2 * prompt.MAX_SECONDS + SLACK_SECONDS)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_nothing_a_template_causes_is_printed_into_the_answers(worker, tmp_path):
    code = (
        "import sys; from lim import prompt_worker; real = prompt_worker._answer\n"
        "def noisy(request): print('noise', flush=True); return real(request)\n"
        "prompt_worker._answer = noisy; prompt_worker.main()"
    )
    request = json.dumps({"template": "{{ query }}", "query": "q", "documents": []})
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, input=request + "\n", capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(output.splitlines()[1]) == {"text": "q", "spans": []}
    assert "noise" not in output
