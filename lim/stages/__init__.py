"""The Haystack stages before and after the ranker: choose, build, run and trace a real pipeline, take it home.

- :data:`STAGES`: every stage with its component, its parameters and their bounds; :func:`availability` tells whether
  one can run here.
- :class:`Plan`, :class:`Step`: a pipeline as data.
- :class:`Configuration`: what the server offers, from its environment.
- :func:`run`: a plan on documents, with what every stage did; :class:`Models` keeps loaded models between runs.
- :func:`assemble`: the plan as a `Pipeline`; :func:`to_yaml`, :func:`to_python`: the same as files.
"""

from lim.stages.build import assemble, chat_generator, connections, nodes, pipeline_inputs
from lim.stages.config import VARIABLES, Configuration, Variable
from lim.stages.export import to_python, to_yaml
from lim.stages.model import Kind, Parameter, Plan, Slot, Stage, Step, check_settings
from lim.stages.registry import (
    SORTING_TEMPLATE,
    STAGES,
    Availability,
    availability,
    stage_of,
    stages_for,
)
from lim.stages.removed import REMOVED, Removed, from_transformers_similarity
from lim.stages.runner import Models, Progress, run
from lim.stages.trace import Failure, StageRun, Trace, Verdict

__all__ = [
    "REMOVED",
    "SORTING_TEMPLATE",
    "STAGES",
    "VARIABLES",
    "Availability",
    "Configuration",
    "Failure",
    "Kind",
    "Models",
    "Parameter",
    "Plan",
    "Progress",
    "Removed",
    "Slot",
    "Stage",
    "StageRun",
    "Step",
    "Trace",
    "Variable",
    "Verdict",
    "assemble",
    "availability",
    "chat_generator",
    "check_settings",
    "connections",
    "from_transformers_similarity",
    "nodes",
    "pipeline_inputs",
    "run",
    "stage_of",
    "stages_for",
    "to_python",
    "to_yaml",
]
