"""Test the lines of printed opinions, and the names in them."""

from moot.datasets.opinion_text import collect_names, find_leaks, join_lines
from opinion_texts import opinion


def test_printed_lines_become_paragraphs_without_footnotes() -> None:
    page = (
        "He fell on\n\nthe stair. He\n\nsued.\n\n1 See the rule of\n\nthe court.\n\nI\n\nShe left."
    )
    assert join_lines(page) == "He fell on the stair. He sued.\n\nI\n\nShe left."


def test_a_line_of_a_text_that_is_not_wrapped_is_a_paragraph() -> None:
    lines = [f"He fell on the stair {'and fell again ' * 10}.", "He sued.", "Affirmed."]
    assert join_lines("\n".join(lines)).split("\n\n") == lines


def test_pages_lose_their_feet_and_their_marks() -> None:
    """A note, a number and a quotation stand between two lines of one sentence."""
    first = "     *\n         Of another court, sitting by designation\n\f"
    second = (
        "          DORN, Judge. In the spring Berg and the\n\nmill signed in May of the year with "
        'the firm Lind, Inc.\n\n("LI") a contract that said,\n\n     Terms of Sale. The mill\n'
        "     sells.\n\nThe mill *74 paid.1 It sent the\n\n\n     1\n      The price was low.\n\n"
        "      -2-\n\f"
    )
    third = "goods in June.2\n\n     2\n      See Roe.\n  -3-\n\f"
    page = first + second + third
    assert join_lines(page).split("\n\n") == [
        "DORN, Judge. In the spring Berg and the mill signed in May of the year with the firm Lind,"
        ' Inc. ("LI") a contract that said,',
        "Terms of Sale. The mill sells.",
        "The mill paid. It sent the goods in June.",
    ]


def test_names_of_caption_counsel_and_bench_are_searched() -> None:
    names = collect_names(opinion("Affirmed."), ["Greta Lind, for appellant"])
    assert {"anna", "berg", "dorn", "ilse", "korn", "vogel", "lind"} <= names.rare
    assert "mill" in names.ordinary
    assert find_leaks("The plaintiff fell at the mill, and Ms. Berg's sister saw it.", names) == [
        "Berg's"
    ]
    assert find_leaks("The jury was told that the award was set aside.", names) == ["set aside"]
    assert not find_leaks("The plaintiff fell\n- Mill work hurts her", names)
    dated = collect_names(
        opinion("Affirmed.").replace("Hans Vogel", "April 3, 2010\n\nMay Vogel"), ()
    )
    assert not find_leaks("In April of that year she fell.", dated)
    assert find_leaks("She told May Vogel so.", dated) == ["May", "Vogel"]
    assert find_leaks("Ms. Berg fell.", collect_names("ANNA BERG, v. MILL. She fell.", ())) == [
        "Berg"
    ]
