"""The bodies of the lesson's steps, in the order of `lim.lesson.STEPS`."""

from lim.views.lesson.curve import curve
from lim.views.lesson.faults import blind, losses, misread
from lim.views.lesson.placing import budget, idea
from lim.views.lesson.questions import questions

BODIES = (curve, idea, budget, blind, losses, misread, questions)

__all__ = ["BODIES"]
