"""Sets of labels and a form, and the label or grade that a reply states."""

from collections.abc import Iterable, Iterator

from moot.core.cases import Task
from moot.llm.parsing.ladder import parse_label, parse_reply
from moot.protocols.reply_schemas import prediction_schema
from moot.studies.conference.forms import Grade
from table_rows import check_each

YES_NO = ("NO", "YES")
SIDES = ("PLAINTIFF", "DEFENDANT")
STANCES = ("PRO", "CON", "NEUTRAL")
LETTERS = ("A", "B", "C", "D")
DISPUTES = ("租赁纠纷", "借款纠纷", "买卖纠纷")
LABEL_SETS = (YES_NO, SIDES, STANCES, LETTERS)
PAYMENT_FORM = prediction_schema(Task("case", "Did he pay?", ("no", "yes")), reasoning=False)
"""A form for a prediction and a confidence."""


def label_of(reply: str, labels: tuple[str, ...], *, is_cut: bool = False) -> object:
    """Return the label that a reply states; None for none."""
    return (parse_label(reply, labels, is_cut=is_cut).value or {}).get("prediction")


def check_labels(replies: Iterable[tuple[str, str | None]], labels: tuple[str, ...]) -> None:
    """Check that each reply states the label beside it, or no label beside None."""

    def check(row: tuple[str, str | None]) -> None:
        reply, label = row
        assert label_of(reply, labels) == label

    check_each(replies, check)


def check_no_label(replies: Iterable[str], labels: tuple[str, ...]) -> None:
    """Check that none of the replies states a label."""
    check_labels(((reply, None) for reply in replies), labels)


def fill_frames(frames: Iterable[str], labels: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each frame with each label for "{0}" and the next one for "{1}", and the label."""
    for frame in frames:
        for label, other_label in zip(labels, (*labels[1:], labels[0]), strict=True):
            yield frame.format(label, other_label), label


def grade_of(reply: str, *, is_cut: bool = False) -> object:
    """Return the grade that a reply states; None for none."""
    return (parse_reply(reply, Grade, is_cut=is_cut).value or {}).get("grade")


def check_grades(replies: Iterable[tuple[str, int | None]]) -> None:
    """Check that each reply states the grade beside it, or no grade beside None."""

    def check(row: tuple[str, int | None]) -> None:
        reply, grade = row
        assert grade_of(reply) == grade

    check_each(replies, check)
