"""The errors this package raises on purpose.

Every one is a :class:`LimError`, which is a `ValueError`, and every message says three things in one
sentence or two: the value that was given, the rule it breaks, and what to do instead.

- LimError
  - SettingError: a `word_count_threshold`, `top_k` or other setting outside its bounds
  - DocumentError: a document the ranker cannot arrange (its text is missing)
  - LoadError: a file or a paste that cannot be read as a ranked list
    - LimitError: an input larger than a named bound
    - MissingTextError: an input that ranks documents by id or index without their texts; a second file must bring them
  - TemplateError: a prompt template that does not render
"""


class LimError(ValueError):
    """What was given, the rule, and what to do. Shown to a person as it is."""


class SettingError(LimError):
    """A setting is of the wrong type or outside its bounds."""


class DocumentError(LimError):
    """A document cannot be arranged because its text is missing."""


class LoadError(LimError):
    """The input cannot be read as a ranked list of documents."""


class LimitError(LoadError):
    """The input is larger than a named bound."""


class MissingTextError(LoadError):
    """The input ranks documents by id or index but does not carry their texts: a second file must."""


class TemplateError(LimError):
    """A prompt template is wrong, too slow, or renders to too much text."""
