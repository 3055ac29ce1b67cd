"""A rubric: the labels that a statement may get, what each means, and its position."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moot.core.registry import Registry


@dataclass(frozen=True)
class Rubric:
    """The labels of statements, which a protocol names (`rubric=`), so that people, models and rules label by them.

    Attributes:
        definitions: each label and what it means, in the order in which people see them.
        codes: each label to its number in the column `code` of `labels/`; labels of one code are one position.
        none: the label of a statement that takes no position.
        answers: a code to the label of a case that the position argues for, in lower case; codes without one take none.
        stated: each of these labels to a sentence that takes the position, for simulated voices.
        prompt: the template by which a model is asked for a label.
        by_rule: a statement to its label as rules read it, for simulated voices.
    """

    name: str
    definitions: Mapping[str, str]
    codes: Mapping[str, int]
    none: str
    answers: Mapping[int, str]
    stated: Mapping[str, str]
    prompt: str
    by_rule: Callable[[str], str]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in their order."""
        return tuple(self.definitions)

    @property
    def no_position(self) -> int:
        """The code of a statement that takes no position."""
        return self.codes[self.none]

    def describe(self) -> str:
        """The rubric as lines of text, for the prompt of a model that labels."""
        return "\n".join(f"{label}: {definition}" for label, definition in self.definitions.items())

    def answer_of(self, statement: str) -> str:
        """The label of a case that a statement argues for, as rules read it; "" for none."""
        return self.answers.get(self.codes[self.by_rule(statement)], "")


RUBRICS: Registry[Rubric] = Registry("rubric", "rubric")


def rubric_for(labels: frozenset[str]) -> Rubric | None:
    """The rubric whose positions are the labels of a case; None where no rubric speaks of these."""
    return next((RUBRICS[name] for name in RUBRICS if frozenset(RUBRICS[name].answers.values()) == labels), None)
