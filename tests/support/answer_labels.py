"""Sets of labels, and the label that a reply states."""

from moot.llm.parsing.ladder import parse_label

YES_NO = ("NO", "YES")
SIDES = ("PLAINTIFF", "DEFENDANT")
STANCES = ("PRO", "CON", "NEUTRAL")
LETTERS = ("A", "B", "C", "D")
DISPUTES = ("租赁纠纷", "借款纠纷", "买卖纠纷")
LABEL_SETS = (YES_NO, SIDES, STANCES, LETTERS)


def label_of(reply: str, labels: tuple[str, ...], *, is_cut: bool = False) -> object:
    """Return the label that a reply states; None for none."""
    return (parse_label(reply, labels, is_cut=is_cut).value or {}).get("prediction")
