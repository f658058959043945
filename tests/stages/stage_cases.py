"""What the tests of the stages share: documents, a bare Haystack pipeline, and a fresh interpreter."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import Document
from haystack.document_stores.types import DuplicatePolicy

from lim.prompt import DEFAULT_TEMPLATE
from lim.stages import Configuration, Plan, Step, assemble, nodes, pipeline_inputs
from lim.stages.build import Chat

ROOT = Path(__file__).parents[2]
QUERY = "When does the harbour light burn?"
TOPICS = (
    "The harbour light burns from dusk to dawn, and the keeper trims it twice.",
    "Tide tables are printed once a year by the harbour office.",
    "A lighthouse keeper logs the hours at which the light is lit.",
    "Bread is baked before sunrise in the village below.",
    "The lamp of the harbour light was electrified in 1934.",
    "Fishing boats leave the harbour when the light goes out.",
    "The office closes at noon on Saturdays.",
    "Gulls nest on the cliff behind the lighthouse.",
    "When fog comes in, the light burns by day as well.",
    "A ferry crosses the bay four times a day.",
    "The light is a white flash every ten seconds.",
    "Rope, paint and lamp oil are kept in the store.",
)


def documents(count: int = 12) -> list[Document]:
    """Build documents with scores that fall, years, groups, and a field that some lack."""
    built = []
    for index in range(count):
        meta: dict[str, Any] = {
            "year": 1900 + (index * 7) % 23,
            "group": f"g{index % 3}",
            "date": f"20{index % 9}1-05-0{1 + index % 9}",
        }
        if index % 4:
            meta["rating"] = (index * 5) % 13 / 2
        text = TOPICS[index % len(TOPICS)] + (f" Note {index}." if index >= len(TOPICS) else "")
        built.append(Document(id=f"d{index + 1}", content=text, meta=meta, score=round(0.95 - index / (count + 3), 4)))
    return built


def told(found: Sequence[Document]) -> list[tuple[str, float | None]]:
    """Reduce documents to what an order is compared by."""
    return [(document.id, document.score) for document in found]


def bare(
    plan: Plan,
    given: Sequence[Document],
    query: str = QUERY,
    config: Configuration | None = None,
    others: Sequence[Document] = (),
    chat: Chat | None = None,
) -> dict[str, Any]:
    """Run a plan with Haystack's own `Pipeline.run` and the template it would have in production."""
    config = config or Configuration()
    pipeline = assemble(plan, config, chat)
    inputs = pipeline_inputs(plan, config, given, query, others)
    for node in nodes(plan, config):
        if node.stage.key == "bm25":
            store = pipeline.get_component(node.name).document_store
            store.write_documents(list(given), policy=DuplicatePolicy.SKIP)
        if node.stage.key == "prompt_builder":
            inputs[node.name]["template"] = node.settings["template"]
    result: dict[str, Any] = pipeline.run(
        inputs, include_outputs_from={node.name for node in nodes(plan, config)} & set(pipeline.graph)
    )
    return result


def alone(*ranks: Step) -> Plan:
    """Make a plan of rankers without an arrangement."""
    return Plan(ranks=ranks, arrange=None)


def fresh(code: str, *arguments: str, **environment: str) -> str:
    """Run code in a new interpreter, away from this repository, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH" and not name.startswith("LIM_")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        cwd="/",
        env={**kept, "HAYSTACK_TELEMETRY_ENABLED": "False", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOAD = """
import json, sys
from pathlib import Path
from haystack import Document, Pipeline
from haystack.document_stores.types import DuplicatePolicy

text, inputs, given, last = Path(sys.argv[1]).read_text("utf-8"), *map(json.loads, sys.argv[2:5])
given = [Document.from_dict(each) for each in given]
pipeline = Pipeline.loads(text)
for component in inputs.values():
    for socket, value in component.items():
        if value == "DOCUMENTS":
            component[socket] = given
for name in pipeline.graph:
    store = getattr(pipeline.get_component(name), "document_store", None)
    if store:
        store.write_documents(given, policy=DuplicatePolicy.SKIP)
result = pipeline.run(inputs, include_outputs_from={last, "prompt_builder"})
assert "lim" not in sys.modules
prompt = result["prompt_builder"]["prompt"]
print(json.dumps({
    "order": [(document.id, document.score) for document in result[last]["documents"]],
    "prompt": prompt if isinstance(prompt, str) else [message.text for message in prompt],
}))
"""


def load_elsewhere(
    yaml_path: Path, plan: Plan, given: Sequence[Document], last: str, config: Configuration, **environment: str
) -> Any:
    """Load exported YAML in a fresh process with Haystack alone, run it, and return its order and prompt."""
    inputs = pipeline_inputs(plan, config, given, QUERY)
    for component in inputs.values():
        for socket, value in component.items():
            if isinstance(value, list):
                component[socket] = "DOCUMENTS"
    listed = json.dumps([document.to_dict(flatten=False) for document in given])
    return json.loads(fresh(LOAD, str(yaml_path), json.dumps(inputs), listed, json.dumps(last), **environment))


__all__ = ["DEFAULT_TEMPLATE", "QUERY", "ROOT", "alone", "bare", "documents", "fresh", "load_elsewhere", "told"]
