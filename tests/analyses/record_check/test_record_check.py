"""Record check: planted alterations, hostile texts, and runs in which none can be found."""

import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.analyses.record_check.effects import NO_SOURCE, CheckedRecord, check_statements
from moot.analyses.record_check.passages import (
    AUTHORITY,
    FIGURE,
    QUOTATION,
    find_passages,
    statement_text,
)
from moot.analyses.record_check.record import ALTERED, NOT_LOCATABLE, VERBATIM, Record
from moot.analyses.record_check.tables import (
    EVERYTHING,
    NO_PASSAGE,
    record_check,
)
from moot.core.errors import CannotTellError
from moot.core.text_words import split_words
from moot.scores.case_metrics import CASE_METRICS
from results_on_disk import case, prediction, study_of, utterance, write_results

SOURCE = (
    "The defendant left the house at nine. A neighbour saw him near the river, and the officer"
    " wrote that the door had been forced. The court awarded $1,250.50 on 12 May 1998, although"
    " two of the five witnesses could not say who drove the car."
)


def result_of(statement: str, source: str = SOURCE) -> list[str]:
    record = Record([source])
    return [
        record.check(passage, split_words(statement)).result for passage in find_passages(statement)
    ]


@pytest.mark.parametrize(
    "marks", ["“{}”", '"{}"', "«{}»", "“{},”", '"{}."', "‘x’ “{}”", "“‘{}’”", "“{}” and “a b”"]
)
@pytest.mark.parametrize(
    "words",
    [
        "A neighbour saw him near the river",
        "a NEIGHBOUR saw him, near the river",
        "the door   had been\nforced",
        "[T]he officer wrote ... the door had been forced",
    ],
)
def test_quotations_are_verbatim_in_any_typography(marks: str, words: str) -> None:
    words = words.replace("[T]he", "[The]")
    assert result_of(marks.format(words)) == [VERBATIM]


@pytest.mark.parametrize(
    ("figure", "result"),
    [
        ("1250.5", VERBATIM),
        ("1,250.50", VERBATIM),
        ("5", VERBATIM),
        ("1,250", NOT_LOCATABLE),
        ("125050", NOT_LOCATABLE),
        ("$1,250.50", VERBATIM),
        ("€1,250.50", NOT_LOCATABLE),
        ("12 %", NOT_LOCATABLE),
        ("1250.5 dollars", VERBATIM),
        ("1.2505 thousand", VERBATIM),
        ("May 1998", VERBATIM),
        ("May 1999", NOT_LOCATABLE),
    ],
)
def test_figures_are_compared_by_value(figure: str, result: str) -> None:
    assert result_of(f"They speak of {figure} here.") == [result]


@pytest.mark.parametrize(
    ("figure", "kind"),
    [
        ("3 million", FIGURE),
        ("3万", FIGURE),
        ("17", FIGURE),
        ("Lee v. Hall", AUTHORITY),
        ("12 F.3d 345", AUTHORITY),
        ("2013-NMSC-022", AUTHORITY),
        ("§ 1983", AUTHORITY),
        ("Rule 404(b)", AUTHORITY),
        ("第二百六十四条", AUTHORITY),
    ],
)
@pytest.mark.parametrize("record", ["As {} says.", "It was {}, they say", "“{}”"])
def test_kinds_of_passages_are_read_and_located(figure: str, kind: str, record: str) -> None:
    [passage] = find_passages(f"See {figure} on that.")
    assert (passage.kind, passage.text) == (kind, figure)
    match = Record([SOURCE, record.format(figure)]).check(
        passage, split_words(f"See {figure} on that.")
    )
    assert (match.result, match.text_number) == (VERBATIM, 1)
    assert (
        Record([SOURCE]).check(passage, split_words(f"See {figure} on that.")).result
        == NOT_LOCATABLE
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [("$3 million", "3,000,000 dollars"), ("30,000元", "3万元"), ("15%", "15 per cent")],
)
def test_amounts_are_equal_in_other_units_of_writing(left: str, right: str) -> None:
    assert result_of(f"Pay {left} now.", f"He owed {right} then.") == [VERBATIM]


@pytest.mark.parametrize(
    ("figure", "bare_figure", "other_figure"),
    [
        ("$5", "5", "€5"),
        ("5 %", "5", "$5"),
        ("12 May", "12", "12 June"),
        ("May 12", "12", "June 12"),
        ("Sept. 12", "12", "12 December"),
    ],
)
def test_a_figure_in_another_unit_is_another_figure(
    figure: str, bare_figure: str, other_figure: str
) -> None:
    statement = f"They speak of {figure} here."
    assert result_of(statement, f"It was {other_figure}, he wrote.") == [NOT_LOCATABLE]
    assert result_of(statement, f"It was {other_figure}, then {figure}.") == [VERBATIM]
    assert result_of(statement, f"It was {bare_figure}, he wrote.") == [VERBATIM]
    assert result_of(statement, f"It was {bare_figure} Decided, or Marked {bare_figure}.") == [
        VERBATIM
    ]
    bare_statement = f"They speak of {bare_figure} here."
    assert result_of(bare_statement, f"It was {other_figure}, he wrote.") == [VERBATIM]


def test_a_marker_after_a_sign_is_no_figure() -> None:
    assert [passage.text for passage in find_passages("It fell by 5 %\n2. in May")] == ["5"]


@pytest.mark.parametrize("figure", ["1,350.50", "9,250.50"])
def test_a_wrong_figure_within_the_words_of_the_record_is_altered(figure: str) -> None:
    record = Record([SOURCE])
    statement = f"Then the court awarded ${figure} on 12 May 1998, although it doubted."
    amount, day, year = find_passages(statement)
    match = record.check(amount, split_words(statement))
    assert match.result == ALTERED and "1,250.50" in match.words
    assert record.check(day, split_words(statement)).result == VERBATIM
    assert record.check(year, split_words(statement)).result == VERBATIM


def test_markers_of_lists_and_citations_of_evidence_are_no_figures() -> None:
    assert not find_passages("1. He left.\n2) She stayed, as [3] shows.")


def test_the_fields_of_a_structured_reply_are_its_statement() -> None:
    reply = '{"statement": "He said “the door was open”.", "confidence": 80}'
    assert statement_text(reply, reply) == "He said “the door was open”."
    assert statement_text("{braces} in words", "") == "{braces} in words"


def test_words_spoken_of_and_parts_of_names_are_no_passages() -> None:
    assert not find_passages('The “so-called” "river" is an A4 page of v2.0.1 by 3M.')


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("8,9,A,Z", ["8", "9"]),
        ("cards 8,10,12", ["8", "10", "12"]),
        ("1,250 and 1,250,000", ["1,250", "1,250,000"]),
        ("1,25,000", ["1", "25,000"]),
        ("2019年3月4日", ["2019", "3", "4"]),
        ("v1.2.3 of [3,4] or [12, 13]", []),
        ("9,1234", ["9", "1234"]),
    ],
)
def test_numbers_of_a_list_without_blanks_are_read(text: str, figures: list[str]) -> None:
    assert [passage.text for passage in find_passages(text)] == figures


@pytest.mark.parametrize("quotation", ["aren't enough stones", "AREN’T enough stones"])
def test_contractions_that_a_text_writes_apart_are_verbatim(quotation: str) -> None:
    assert result_of(f"“{quotation} to go around”", "There are n't enough stones to go around") == [
        VERBATIM
    ]


def test_a_quotation_with_an_ellipsis_is_located_by_its_longest_part() -> None:
    [passage] = find_passages("“The ... near the river, and the officer”")
    assert Record([SOURCE]).check(passage, []).words == "near the river, and the officer"


def test_numbers_within_quotations_belong_to_them() -> None:
    kinds = [passage.kind for passage in find_passages("“awarded $1,250.50 on 12 May” and 7")]
    assert kinds == [QUOTATION, FIGURE]


def test_the_place_of_a_passage_is_that_in_the_statement() -> None:
    statement = "He said “the door had been forced” in 1998."
    quotation, figure = find_passages(statement)
    assert statement[quotation.start : quotation.end] == "“the door had been forced”"
    assert statement[figure.start : figure.end] == "1998"


@pytest.mark.parametrize(
    "text",
    ["“" * 20_000, '"a ' * 20_000, "1," * 20_000, "“a b c” " * 3000, "9" * 50_000, "“a”" * 9],
)
def test_hostile_texts_take_no_long_time(text: str) -> None:
    start = time.process_time()
    record, words = Record([SOURCE * 20]), split_words(text)
    for passage in find_passages(text):
        record.check(passage, words)
    assert time.process_time() - start < 5


def time_to_check(turns: int) -> float:
    start, record = time.process_time(), Record([SOURCE])
    for number in range(turns):
        words = " ".join(f"word{number + place}" for place in range(60))
        statement = f"{words}. He “was seen near the {number} river”, and “{words[:60]}”."
        speaker, statement_words = "ab"[number % 2], split_words(statement)
        for passage in find_passages(statement):
            record.check(passage, statement_words, speaker)
        record.add(statement, speaker)
    return time.process_time() - start


def test_the_time_grows_with_the_words_and_not_with_their_square() -> None:
    assert time_to_check(400) < 8 * time_to_check(100)


@pytest.mark.parametrize("words", range(1, 4))
def test_an_altered_quotation_near_the_start_of_a_text_is_found_in_that_text(words: int) -> None:
    texts = ["The officer wrote nothing down.", SOURCE]
    extra = " ".join(["surely"] * words)
    statement = f"“{extra} the defendant left the house at nine. A neighbour saw him near”"
    [passage] = find_passages(statement)
    match = Record(texts).check(passage, split_words(statement))
    assert match.result == ALTERED
    assert match.text_number == 1
    assert match.words.startswith("The defendant left the house")


@pytest.mark.parametrize(
    ("quotation", "result"),
    [
        ("the tenant paid the rent landlord refused it", NOT_LOCATABLE),
        ("paid the rent landlord refused it on monday", NOT_LOCATABLE),
        ("the tenant paid the full rent", ALTERED),
        ("the landlord refused it on monday", ALTERED),
    ],
)
def test_only_words_of_one_text_count_as_similar(quotation: str, result: str) -> None:
    record = Record(["the tenant paid the rent", "landlord refused it on monday"])
    [passage] = find_passages(f"He wrote “{quotation}” twice.")
    assert record.check(passage, split_words(quotation)).result == result


def check_records(folder: Path, talk: list[dict[str, Any]]) -> pd.DataFrame:
    names = [f"c{number}" for number in range(12)]
    cases = [case(name, ("no", "yes")[number % 2]) for number, name in enumerate(names)]
    predictions = [prediction(name, "no", "no") for name in names]
    results = write_results(folder, cases, {"tiny": predictions}, {"tiny": talk})
    return record_check(study_of(results)).frame


def test_shares_are_by_speaker_and_an_opponents_words_are_record(tmp_path: Path) -> None:
    talk = []
    for number in range(12):
        name = f"c{number}"
        talk += [
            utterance(name, 0, "prosecutor", f"“Facts of c{number}” show 77 thefts by night."),
            utterance(name, 1, "defense", "You say “thefts by night” and “no thefts at all”."),
        ]
    frame = check_records(tmp_path, talk).set_index(["group", "passages are"])
    assert frame.loc[("prosecutor", "quotations"), VERBATIM] == 1
    assert frame.loc[("defense", "quotations"), VERBATIM] == 0.5
    assert frame.loc[(EVERYTHING, "figures"), NOT_LOCATABLE] == 1
    assert set(frame["by"]) == {EVERYTHING, "speaker"}, "there is one round"
    everyone = frame.loc[(EVERYTHING, "quotations")]
    assert everyone["passages"] == 36 and everyone["cases"] == 12


def test_shares_are_by_speaker_and_round(tmp_path: Path) -> None:
    talk = []
    for number, turn in product(range(12), range(4)):
        words = f"“Facts of c{number}”" if turn < 2 else "“words that do not exist”"
        seat = ("prosecutor", "defense", "judge_1", "judge_2")[(turn + number) % 4]
        row = utterance(f"c{number}", turn, seat, words, round=1 + turn // 2)
        talk.append(row)
    frame = check_records(tmp_path, talk).set_index(["by", "group"])
    assert {by for by, _ in frame.index} == {EVERYTHING, "speaker", "round"}
    assert frame.loc[("round", "1"), VERBATIM] == 1
    assert frame.loc[("round", "2"), VERBATIM] == 0.5, "the last speaker quotes the one before"


def test_a_passage_has_the_turn_that_holds_it(tmp_path: Path) -> None:
    talk = [
        utterance("c0", turn, seat, "It was 7.")
        for turn, seat in enumerate(("prosecutor", "defense", "judge"))
    ]
    results = write_results(
        tmp_path, [case("c0", "no")], {"tiny": [prediction("c0", "no", "no")]}, {"tiny": talk}
    )
    passages = pd.DataFrame(check_statements(results, "tiny"))
    assert passages["result"].tolist() == [NOT_LOCATABLE, VERBATIM, VERBATIM]
    assert passages["found_turn"].tolist() == [-1, 0, 0]


def test_own_earlier_words_are_no_record(tmp_path: Path) -> None:
    talk = [
        utterance("c0", 0, "prosecutor", "He robbed nine banks."),
        utterance("c0", 1, "prosecutor", "As shown, “he robbed nine banks”."),
    ]
    assert check_records(tmp_path, talk)[NOT_LOCATABLE].tolist() == [1]


@pytest.mark.parametrize(
    ("text", "parsed", "missing"),
    [
        ("", "", NO_PASSAGE),
        ("He says “the words of a story”.", '{"quoted_words": 5}', NO_SOURCE),
    ],
)
def test_a_run_says_what_is_missing(tmp_path: Path, text: str, parsed: str, missing: str) -> None:
    frame = check_records(tmp_path, [utterance("c0", 0, "prosecutor", text, parsed=parsed)])
    assert frame["what is missing"].tolist() == [missing]
    assert frame[VERBATIM].isna().all()


def test_verbatim_quotations_are_counted_by_debate_and_shown_at_their_turns(
    tmp_path: Path,
) -> None:
    cases = [case("a", "no"), case("b", "yes")]
    quoted = "You say “Facts of a” and “no thefts at all”, 7 times."
    platform = json.dumps({"quoted_words": 3})
    talk = [
        utterance("a#0", 0, "prosecutor", "Nothing to add."),
        utterance("a#0", 1, "defense", quoted),
        utterance("a#1", 1, "defense", quoted, parsed=platform),
        utterance("b#0", 1, "defense", "I read “Facts of b”."),
    ]
    silent = [utterance("a#0", 0, "prosecutor", "Nothing to add.")]
    results = write_results(
        tmp_path, cases, {"tiny": [], "mute": []}, {"tiny": talk, "mute": silent}
    )
    terms = CASE_METRICS["verbatim_quotations"](results, "tiny")
    assert terms.case_ids == ["a", "b"]
    assert (terms.tops[:, 0].tolist(), terms.bottoms[:, 0].tolist()) == ([1, 1], [2, 1])
    with pytest.raises(CannotTellError, match="no statement has a quotation to look up"):
        CASE_METRICS["verbatim_quotations"](results, "mute")
    debates = CheckedRecord().measure_study({"trial": results}).debates
    passages = debates["trial", "tiny", "a#0"].passages
    assert [(row["text"], row["result"]) for row in passages[1]] == [
        ("“Facts of a”", VERBATIM),
        ("“no thefts at all”", NOT_LOCATABLE),
        ("7", NOT_LOCATABLE),
    ]
