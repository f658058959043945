"""The lesson as data: its steps, what each shows, and the questions at its end. Every figure in it is computed."""

from lim.lesson.blind import Feeding, feed, shuffled
from lim.lesson.deck import LETTERS, MAX_CARDS, THRESHOLD, numbered, taken
from lim.lesson.misreadings import Misreading, misreadings
from lim.lesson.placing import asked, landing_place, options, place_words, placed, placing_sentence, reveal
from lim.lesson.quiz import QUESTIONS, Question, quiz
from lim.lesson.silent import WAYS, Outcome, Way, demonstrate
from lim.lesson.sizes import Sized, sized
from lim.lesson.steps import STEPS, Step
from lim.lesson.summary import Picture, summary
from lim.lesson.walking import walk_finding, walk_sentence

__all__ = [
    "LETTERS",
    "MAX_CARDS",
    "QUESTIONS",
    "STEPS",
    "THRESHOLD",
    "WAYS",
    "Feeding",
    "Misreading",
    "Outcome",
    "Picture",
    "Question",
    "Sized",
    "Step",
    "Way",
    "asked",
    "demonstrate",
    "feed",
    "landing_place",
    "misreadings",
    "numbered",
    "options",
    "place_words",
    "placed",
    "placing_sentence",
    "quiz",
    "reveal",
    "shuffled",
    "sized",
    "summary",
    "taken",
    "walk_finding",
    "walk_sentence",
]
