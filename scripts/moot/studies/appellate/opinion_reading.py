"""Read opinions from JSON lines, Caselaw Access Project records or text files."""

import html
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.core.types import Fields
from moot.datasets.debate_records import leave_out
from moot.studies.appellate.deidentify.caption import Opinion, find_parties
from moot.studies.appellate.deidentify.lexicon import CAPITALISED, INITIALS
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.rubric import OUTCOMES
from moot.studies.appellate.legal.rules import find_opinion_outcome
from moot.studies.appellate.legal.segments import extract_majority
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
_TITLE = re.compile(
    r"\b(?:MR|CHIEF|PRESIDING|Mr|Chief|Presiding)?\.?"
    r" ?(?:JUSTICES?|JUDGES?|Justices?|Judges?|J\.|C\.J\.)\W*"
)
_NAME_RUN = re.compile(rf"(?:{INITIALS}|{CAPITALISED})(?: (?:{INITIALS}|{CAPITALISED}))*")
"""A name, a law firm or a town in a line of counsel."""


class OpinionsRead(NamedTuple):
    """The opinions of files, and the number of records that were left out because of faults."""

    opinions: list[Opinion]
    left_out: int


def read_opinions(path: Path) -> list[Opinion]:
    """Return the opinions of a file or folder; a fault in one of them is an error.

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
    length = len(opinion.text)
    if not opinion.text.strip():
        raise UserError(
            f"{place}: the opinion is empty; expected its full text. Remove the record, or fill"
            " it in."
        )
    if length > MAX_CHARS:
        raise UserError(
            f"{place}: the opinion has {length:,} characters; expected one opinion of at most"
            f" {MAX_CHARS:,}. Is this a whole volume? Split it into opinions."
        )
    if opinion.outcome and opinion.outcome not in OUTCOMES:
        raise UserError(
            f"{place}: outcome {quote_value(opinion.outcome)}; expected one of"
            f" {', '.join(OUTCOMES)} (or Complex for mixed)."
        )


def _parse_record(opinion_record: OpinionRecord) -> Opinion:
    record = opinion_record.fields()
    is_cap = "casebody" in record
    for name in ("id", "name") if is_cap else ("id", "text"):
        if name not in record:
            raise UserError(
                f"{opinion_record.place}: missing field '{name}'; found"
                f" {quote_value(', '.join(record))}. Add the field."
            )
    opinion = _parse_cap_record(record) if is_cap else _parse_text_record(record)
    source = "source" if opinion.outcome else "rules"
    return replace(
        opinion,
        outcome=opinion.outcome or find_announced_outcome(opinion.text),
        attributes={**opinion.attributes, "outcome_from": source},
        source_row=opinion_record.row,
    )


def _parse_text_record(record: Fields) -> Opinion:
    outcome = str(record.get("outcome", record.get("label", ""))).strip().lower()
    marked_sentences = record.get("outcome_sentences", ())
    return Opinion(
        str(record["id"]),
        html.unescape(str(record["text"])),
        find_parties(str(record.get("parties") or "")),
        [str(name) for name in record.get("judges", ())],
        [str(name) for name in record.get("counsel", ())],
        "mixed" if outcome == "complex" else outcome,
        [html.unescape(str(sentence)) for sentence in marked_sentences],
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
    if not closing_outcome:
        return opening_outcome
    names = {match.name for match in find_dispositions(closing) if match.is_explicit}
    is_half = closing_outcome in ("affirm", "reverse") and not {"affirm", "reverse"} <= names
    return "mixed" if is_half and opening_outcome == "mixed" else closing_outcome


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


def _parse_cap_record(record: Fields) -> Opinion:
    """Parse a record of the Caselaw Access Project, whose body is JSON or, in bulk files, XML.

    Patterns read the few tags of the XML, so that hostile markup reaches no XML parser.
    """
    body = record["casebody"].get("data", record["casebody"])
    if isinstance(body, str):
        element = re.search(r"<opinion\b[^>]*>.*?</opinion>", body, flags=re.DOTALL)
        markup = element[0] if element else body
        text = _strip_markup(markup)
        judges = _find_elements("author", markup) + _find_elements("judges", body)
        parties, attorneys = _find_elements("parties", body), _find_elements("attorneys", body)
    else:
        majority: Fields = (body.get("opinions") or [{}])[0]
        text = str(majority.get("text", ""))
        judges = [str(majority.get("author") or ""), *body.get("judges", [])]
        parties, attorneys = body.get("parties", []), body.get("attorneys", [])
    style = " ".join(parties) or str(record["name"])
    court = record.get("court") or ""
    if isinstance(court, Mapping):
        court = court.get("name_abbreviation", "")
    judge_names = [_TITLE.sub("", name).strip(" :,.") for name in judges]
    return Opinion(
        str(record["id"]),
        text,
        find_parties(style) + find_parties(str(record.get("name_abbreviation", ""))),
        [name for name in judge_names if name],
        _NAME_RUN.findall("\n".join(attorneys)),
        attributes={"court": str(court), "year": str(record.get("decision_date", ""))[:4]},
    )
