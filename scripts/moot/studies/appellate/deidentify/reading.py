"""Read opinions from JSON lines, Caselaw Access Project records or text files."""

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.input_files import quote_value
from moot.core.types import Fields
from moot.datasets.debate_records import leave_out
from moot.studies.appellate.deidentify.caption import Opinion, find_parties
from moot.studies.appellate.deidentify.lexicon import CAPITALISED, INITIALS
from moot.studies.appellate.deidentify.segments import extract_majority
from moot.studies.appellate.deidentify.words import COMMON_WORDS
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.rubric import OUTCOMES
from moot.studies.appellate.legal.rules import find_opinion_outcome
from moot.studies.appellate.opinion_records import (
    OpinionRecord,
    list_opinion_files,
    read_records,
)

MAX_CHARS = 1_000_000
CLOSING_CHARS = 1_500
OPENING_CHARS = 2_500
_FIRST_FOOTNOTE = re.compile(
    r"\n\s*(?:\[?\^?(?:1|fn\.? ?1)\]?[.:)]?|\*|†|(?i:footnotes?|notes?)\s*:?\s*\n)"
    r"[ \t]*\n?\s*(?=\S)"
)
_REASONS_ON = re.compile(r"\n\s*(?:DISCUSSION|ANALYSIS|CONCLUSION|Discussion|Conclusion)\b")
_OUTCOME_WORDS = {
    "affirm": "affirm",
    "reverse": "reverse",
    "complex": "mixed",
    "mixed": "mixed",
    "dismiss": "dismiss",
}


class OpinionsRead(NamedTuple):
    """The opinions of files, and the number of records that were left out because of faults."""

    opinions: list[Opinion]
    left_out: int


def read_opinions(path: Path) -> list[Opinion]:
    """Return the opinions of a file or folder, none of which may have a fault.

    Raises:
        UserError: as `read_usable_opinions`, for a single faulty record.
    """
    return read_usable_opinions(path, 0).opinions


def read_usable_opinions(path: Path, max_share: float) -> OpinionsRead:
    """Return the opinions of a file or folder without the faulty records, if they are few.

    A file of a folder that cannot be read counts as one record.

    Raises:
        UserError: the share of records with an empty or oversized text, an unknown outcome, a
            repeated id or another fault exceeds `max_share`; or no file can be read.
    """
    places: dict[str, str] = {}
    opinions: list[Opinion] = []
    faults, record_count = Faults(), 0
    files = list_opinion_files(path)
    for file in files:
        try:
            records = list(read_records(file))
        except UserError as fault:
            if len(files) == 1:
                raise
            faults.add(str(fault))
            record_count += 1
            continue
        for record in records:
            record_count += 1
            with faults.noting():
                opinions.append(_read_opinion(record, places))
    left_out = record_count - len(opinions)
    remedy = "Correct the records, or allow more."
    leave_out(faults.messages, left_out, record_count, max_share, remedy, "opinions")
    return OpinionsRead(opinions, left_out)


def _read_opinion(record: OpinionRecord, places: dict[str, str]) -> Opinion:
    """Parse and check a record, and note the place of its id."""
    opinion = _parse_record(record)
    _validate_opinion(opinion, record.place)
    if opinion.opinion_id in places:
        raise UserError(
            f"{record.place}: id {quote_value(opinion.opinion_id)} was taken by"
            f" {places[opinion.opinion_id]}; ids are unique."
        )
    places[opinion.opinion_id] = record.place
    return opinion


def _validate_opinion(opinion: Opinion, place: str) -> None:
    if not opinion.text.strip():
        raise UserError(
            f"{place}: the opinion is empty; expected its full text. Remove the record, or fill"
            " it in."
        )
    if len(opinion.text) > MAX_CHARS:
        raise UserError(
            f"{place}: the opinion has {len(opinion.text):,} characters; expected one opinion of at"
            f" most {MAX_CHARS:,}. Is this a whole volume? Split it into opinions."
        )
    if opinion.outcome and opinion.outcome not in OUTCOMES:
        raise UserError(
            f"{place}: outcome {quote_value(opinion.outcome)}; expected one of"
            f" {', '.join(OUTCOMES)} (or"
            " Complex for mixed)."
        )


def _require_fields(record: Fields, place: str, *fields: str) -> None:
    for name in fields:
        if name not in record:
            raise UserError(
                f"{place}: missing field '{name}'; found {quote_value(', '.join(record))}. Add the"
                " field."
            )


def _parse_record(opinion_record: OpinionRecord) -> Opinion:
    record, place, row = opinion_record.fields(), opinion_record.place, opinion_record.row
    if "casebody" not in record:
        _require_fields(record, place, "id", "text")
        return _parse_text_record(record, row)
    _require_fields(record, place, "id", "name")
    body = record["casebody"].get("data", record["casebody"])
    return (
        _parse_cap_xml(record, body, row)
        if isinstance(body, str)
        else _parse_cap_json(record, body, row)
    )


def _parse_text_record(record: Fields, row: int) -> Opinion:
    raw_outcome = str(record.get("outcome", record.get("label", ""))).strip()
    outcome = _OUTCOME_WORDS.get(raw_outcome.lower(), raw_outcome.lower())
    text = html.unescape(str(record["text"]))
    attributes = {"outcome_from": "source"} if outcome else {"outcome_from": "rules"}
    marked_sentences = tuple(
        html.unescape(str(sentence)) for sentence in record.get("outcome_sentences", ())
    )
    parties = tuple(find_parties(str(record["parties"]))) if record.get("parties") else ()
    judges = tuple(map(str, record.get("judges", ())))
    counsel = tuple(map(str, record.get("counsel", ())))
    outcome = outcome or find_announced_outcome(text)
    return Opinion(
        str(record["id"]),
        text,
        parties,
        judges,
        counsel,
        outcome,
        marked_sentences,
        attributes,
        row,
    )


def find_announced_outcome(text: str) -> str:
    """Return the outcome that an opinion announces at its end, or else in its introduction.

    An introduction that affirms in part and reverses in part outweighs an end that names only one
    of the two.
    """
    body = _strip_footnotes(extract_majority(text))
    closing = body[-CLOSING_CHARS:]
    closing_outcome = find_opinion_outcome(closing)[0]
    opening_outcome = find_opinion_outcome(body[:OPENING_CHARS])[0]
    explicit_dispositions = {
        match.name for match in find_dispositions(closing) if match.is_explicit
    }
    is_mixed_opening = (
        opening_outcome == "mixed"
        and closing_outcome in ("affirm", "reverse")
        and not {"affirm", "reverse"} <= explicit_dispositions
    )
    return opening_outcome if is_mixed_opening or not closing_outcome else closing_outcome


def _strip_footnotes(body: str) -> str:
    """Drop the footnotes behind the last disposition of an opinion, if notes stand there.

    Notes start on a line with the number or the sign of the first one.
    """
    for notes in _FIRST_FOOTNOTE.finditer(body, len(body) // 4):
        ending = body[max(0, notes.start() - CLOSING_CHARS) : notes.start()]
        if find_opinion_outcome(ending)[0] and not _REASONS_ON.search(body, notes.end()):
            return body[: notes.start()]
    return body


def _strip_markup(markup: str) -> str:
    markup = re.sub(r"(?s)<(page-number|footnotemark|bracketnum)\b[^>]*>.*?</\1>", "", markup)
    blocks = (
        "p|author|parties|court|docketnumber|decisiondate|attorneys|judges|blockquote|footnote|"
        "opinion"
    )
    markup = re.sub(rf"</(?:{blocks})>", "\n\n", markup)
    return re.sub(r"\n{3,}", "\n\n", html.unescape(re.sub(r"<[^>]+>", "", markup)))


def _find_elements(element: str, markup: str) -> list[str]:
    contents = re.findall(rf"<{element}\b[^>]*>(.*?)</{element}>", markup, flags=re.DOTALL)
    return [_strip_markup(inner).strip() for inner in contents]


def _parse_cap_xml(record: Fields, markup: str, row: int) -> Opinion:
    """Parse a record of the bulk format, whose body is XML.

    Patterns read its few tags, so that hostile markup reaches no XML parser.
    """
    majority = next(
        iter(re.findall(r"<opinion\b[^>]*>.*?</opinion>", markup, flags=re.DOTALL)), markup
    )
    authors, judges = _find_elements("author", majority), _find_elements("judges", markup)
    return _build_cap_opinion(
        record,
        _find_elements("parties", markup),
        _find_elements("attorneys", markup),
        authors + judges,
        _strip_markup(majority),
        row,
    )


def _parse_cap_json(record: Fields, body: Fields, row: int) -> Opinion:
    opinions = body.get("opinions") or [{}]
    judges, text = (
        [str(opinions[0].get("author") or ""), *body.get("judges", [])],
        str(opinions[0].get("text", "")),
    )
    return _build_cap_opinion(
        record, body.get("parties", []), body.get("attorneys", []), judges, text, row
    )


_TITLE = re.compile(
    r"\b(?:MR|CHIEF|PRESIDING|Mr|Chief|Presiding)?\.?"
    r" ?(?:JUSTICES?|JUDGES?|Justices?|Judges?|J\.|C\.J\.)\W*"
)


def _find_capitalised_runs(line: str) -> list[str]:
    """Return the capitalised runs of an appearance line: names, law firms and their towns."""
    word = rf"(?:{INITIALS}|{CAPITALISED})"
    runs = re.findall(rf"{word}(?:\s+{word})*", line)
    return [run for run in runs if _has_uncommon_word(run)]


def _has_uncommon_word(run: str) -> bool:
    return any(part.lower().strip(".") not in COMMON_WORDS for part in run.split())


def _build_cap_opinion(
    record: Fields, styles: list[str], attorneys: list[str], judges: list[str], text: str, row: int
) -> Opinion:
    style = " ".join(styles) or str(record.get("name", ""))
    parties = find_parties(style) + find_parties(str(record.get("name_abbreviation", "")))
    counsel = [name for line in attorneys for name in _find_capitalised_runs(line)]
    judge_names = [
        judge_name for name in judges if (judge_name := _TITLE.sub("", name).strip(" :,."))
    ]
    court = record.get("court")
    attributes = {
        "court": str(
            court.get("name_abbreviation", "") if isinstance(court, Mapping) else court or ""
        ),
        "year": str(record.get("decision_date", ""))[:4],
        "outcome_from": "rules",
    }
    opinion_id, outcome = str(record.get("id", row)), find_announced_outcome(text)
    return Opinion(opinion_id, text, parties, judge_names, counsel, outcome, (), attributes, row)
