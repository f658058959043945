"""The tree of errors."""

import inspect

import pytest

from lim import errors
from lim.errors import LimError

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_a_lim_error_and_a_value_error(kind):
    with pytest.raises(LimError) as caught:
        raise kind("the value, the rule, the remedy")
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == "the value, the rule, the remedy"


def test_the_docstring_draws_the_tree_as_it_is():
    def drawn(kind: type, depth: int = 0) -> list[str]:
        below = [line for child in kind.__subclasses__() if child in KINDS for line in drawn(child, depth + 1)]
        return [f"{'  ' * depth}- {kind.__name__}", *below]

    in_docstring = [line.split(":")[0] for line in str(errors.__doc__).splitlines() if line.strip().startswith("- ")]
    assert in_docstring == drawn(LimError)
    assert len(in_docstring) == len(KINDS)
