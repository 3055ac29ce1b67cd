"""Rubrics: the labels of statements, their meanings, and which of them are one position.

A rubric is in a configuration (`rubrics`), or in a file of a study's folder, which `read_rubric`
reads.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, PrivateAttr

from moot.core.errors import unknown_name
from moot.core.registry import Registry
from moot.core.spelling import plain_spelling
from moot.core.strict_model import StrictModel, as_list
from moot.core.yaml_text import load_yaml

ByRule = Callable[..., tuple[str, str]]
"""Returns the label of a statement and the words that show it, with `reads_facts` also from the
facts.
"""
RubricProblem = tuple[tuple[str, ...], str]
"""The faulty key of a rubric, with the found and expected value."""
_LABEL = re.compile(r"[^\W_](?:[^;=\x00-\x1f]{0,58}[^;=\s])?")
_Texts = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Rubric(StrictModel):
    """The labels of statements, by which people, models and rules label."""

    labels: Mapping[str, str] = Field(
        min_length=2,
        description="each label with its meaning, in the order in which people see them",
    )
    neutral: str = Field(
        description=(
            "the label of a statement that takes no position; a statement without words also "
            "gets it"
        )
    )
    groups: Mapping[str, _Texts] = Field(
        default_factory=dict,
        description=(
            "groups of labels that are one position; a label without a group is a separate group"
        ),
    )
    question: str = Field(
        "Which label fits this statement?",
        description="the question to people and models about each statement",
    )
    rules: Mapping[str, _Texts] = Field(
        default_factory=dict,
        description=(
            "regular expressions by label, for the labeler `rules`: the first label with a match "
            "counts"
        ),
    )
    utterance_kinds: _Texts = Field(
        (),
        description=(
            "kinds of utterances that are labelled; default: all public utterances that are not "
            "answers"
        ),
    )
    prompt: str = Field(
        "labels/label", description="template of the prompt for a model that labels"
    )
    codes: Mapping[str, int] = Field(
        default_factory=dict,
        description="number of each group in the column `code`; default: 0, 1, ... in their order",
    )
    _by_rule: ByRule | None = PrivateAttr(None)
    _reads_facts: bool = PrivateAttr(False)
    _sentences: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def with_rules(
        self, by_rule: ByRule, sentences: Mapping[str, str], *, reads_facts: bool = False
    ) -> "Rubric":
        """Return the rubric with rules in code.

        Args:
            by_rule: returns the label of a statement, and the words that show it.
            sentences: for each group a sentence that argues for it, for rehearsals.
            reads_facts: whether `by_rule` takes the facts of the case as its second argument.
        """
        rubric = self.model_copy()
        rubric._by_rule, rubric._sentences = by_rule, sentences
        rubric._reads_facts = reads_facts
        return rubric

    @property
    def has_rules(self) -> bool:
        """Whether the labeler `rules` can use it."""
        return bool(self.rules or self._by_rule)

    @cached_property
    def group_of(self) -> Mapping[str, str]:
        """The group of each label."""
        groups_by_label = {label: label for label in self.labels}
        for group, labels in self.groups.items():
            groups_by_label |= dict.fromkeys(labels, group)
        return {label: groups_by_label[label] for label in self.labels}

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each label's group. Labels with equal numbers are one position."""
        codes = self.codes or {
            group: number for number, group in enumerate(dict.fromkeys(self.group_of.values()))
        }
        return {label: codes[group] for label, group in self.group_of.items()}

    @property
    def no_position(self) -> int:
        """The number of a statement that takes no position."""
        return self.numbers[self.neutral]

    @property
    def positions(self) -> tuple[str, ...]:
        """The groups that are a position."""
        return tuple(
            group
            for group in dict.fromkeys(self.group_of.values())
            if group != self.group_of[self.neutral]
        )

    def describe(self) -> str:
        """Return the rubric as lines of text, for the prompt of a model that labels."""
        return "\n".join(f"{label}: {definition}" for label, definition in self.labels.items())

    def apply_rules(self, statement: str, facts: str = "") -> tuple[str, str]:
        """Return the label of a statement by rules, and the words that show it.

        `facts` are the facts of the case.
        """
        if self._by_rule:
            return self._by_rule(statement, *([facts] if self._reads_facts else []))
        for label in self.labels:
            for pattern in self.rules.get(label, ()):
                if match := re.search(pattern, statement, re.IGNORECASE):
                    return label, match[0]
        return self.neutral, ""

    def sentence_for(self, answer: str) -> str:
        """Return a sentence that argues for a label of the case."""
        return self._sentences[answer]

    def problems(self) -> Iterator[RubricProblem]:
        """Yield the faults: the key, with the found and expected value."""
        yield from self._problems_of_names()
        yield from self._problems_of_references()
        yield from self._problems_of_groups()
        yield from self._problems_of_codes()
        yield from self._problems_of_rules()

    def _problems_of_names(self) -> Iterator[RubricProblem]:
        """Yield labels and groups with invalid names, and labels with equal spellings."""
        names = [("labels", label) for label in self.labels]
        names += [("groups", group) for group in self.groups]
        for key in names:
            if not _LABEL.fullmatch(key[1]):
                yield (
                    key,
                    "cannot be a name; expected 60 characters at most, a letter or digit first,"
                    " no ; and no =.",
                )
        spellings: dict[str, str] = {}
        for label in self.labels:
            if (first := spellings.setdefault(normalize_label(label), label)) != label:
                problem = f"'{first}' differs from it only by case and spaces. Rename one."
                yield ("labels", label), problem

    def _problems_of_references(self) -> Iterator[RubricProblem]:
        """Yield names of labels that do not exist."""
        references: list[tuple[tuple[str, ...], str]] = [(("neutral",), self.neutral)]
        for group, labels in self.groups.items():
            references += [(("groups", group), label) for label in labels]
        references += [(("rules", label), label) for label in self.rules]
        for key, label in references:
            if label not in self.labels:
                yield key, str(unknown_name("label", label, self.labels))

    def _problems_of_groups(self) -> Iterator[RubricProblem]:
        """Yield labels in two groups, and groups with the name of another group's label."""
        for group, labels in self.groups.items():
            for label in labels:
                if label in self.labels and self.group_of[label] != group:
                    problem = f"'{label}' is also in the group '{self.group_of[label]}'; keep one."
                    yield ("groups", group), problem
            if group in self.labels and group not in labels:
                problem = (
                    f"found the name of a label that is not in it; add '{group}', or rename it."
                )
                yield ("groups", group), problem

    def _problems_of_codes(self) -> Iterator[RubricProblem]:
        """Yield a fault if `codes` does not number each group differently."""
        groups = set(self.group_of.values())
        has_number_for_each = set(self.codes) == groups
        if self.codes and not (has_number_for_each and len({*self.codes.values()}) == len(groups)):
            names = ", ".join(sorted(groups))
            yield ("codes",), f"expected a different number for each of these: {names}."

    def _problems_of_rules(self) -> Iterator[RubricProblem]:
        """Yield patterns that are not regular expressions, and labels without a pattern."""
        for label, patterns in self.rules.items():
            for pattern in patterns:
                try:
                    re.compile(pattern)
                except re.error as fault:
                    yield (
                        ("rules", label),
                        f"found '{pattern}', which is not a regular expression ({fault}). Correct "
                        "it.",
                    )
        labels_without_rules = [
            label for label in self.labels if label != self.neutral and not self.rules.get(label)
        ]
        if self.rules and labels_without_rules:
            yield (
                ("rules",),
                f"no pattern for {', '.join(labels_without_rules)}; expected one at least for"
                " every label but `neutral`.",
            )


def normalize_label(label: object) -> str:
    """Return a label in the form in which it is compared with typed labels."""
    return plain_spelling(str(label)).casefold()


def read_rubric(file: Path) -> Rubric:
    """Return the rubric in a file of a study's folder."""
    return Rubric.model_validate(load_yaml(file.read_text(encoding="utf-8")))


RUBRICS: Registry[Rubric] = Registry("rubric", "rubric")


def rubric_for(labels: frozenset[str]) -> Rubric | None:
    """Return the rubric whose positions are the labels of a case; None if there is none."""
    return next(
        (RUBRICS[name] for name in RUBRICS if frozenset(RUBRICS[name].positions) == labels), None
    )
