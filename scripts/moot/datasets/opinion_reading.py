"""Read court opinions: JSON with `id` and `text`, Caselaw Access Project records, or text files."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.natural_order import natural_key
from moot.core.text_files import quote_value, read_text
from moot.core.types import Fields, Json
from moot.datasets.reading.checks import leave_out
from moot.datasets.reading.records import check_fields

MAX_CHARS = 1_000_000
OUTCOMES = ("affirm", "reverse", "mixed", "dismiss")
_ENDINGS = (".jsonl", ".json", ".txt")
_EXPECTED = "expected a record with `id` and `text` (or `casebody`), an array, or a record a line"
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": (str, int),
    "text": str,
    "casebody": dict,
    "name": str,
    "outcome": str,
    "label": str,
    "court": (dict, str),
    "decision_date": str,
    "parties": str,
    "judges": list,
    "counsel": list,
}


@dataclass(frozen=True, slots=True)
class Opinion:
    """One opinion in full text.

    Attributes:
        opinion_id: the id in the source.
        text: the caption, if any, and the opinion.
        names: what the record says of parties, judges and counsel, besides the text.
        outcome: one of OUTCOMES, or "" if the record does not say.
        court: the court, if the record says it.
        year: the year of the decision, if the record says it.
        source_row: the number of the record in its file, from 1.
    """

    opinion_id: str
    text: str
    names: tuple[str, ...] = ()
    outcome: str = ""
    court: str = ""
    year: str = ""
    source_row: int = 0


class OpinionsRead(NamedTuple):
    """The opinions of files, and the number of records that were left out because of faults."""

    opinions: list[Opinion]
    left_out: int


def list_opinion_files(path: Path) -> list[Path]:
    """Return the files of a path: the file itself, or all text and JSON files of a folder."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if file.suffix.casefold() in _ENDINGS]
    if not files:
        raise UserError(f"{path}: no .jsonl, .json or .txt file in this folder; expected opinions.")
    return sorted(files, key=lambda file: natural_key(file.name))


def read_opinions(path: Path, max_share: float) -> OpinionsRead:
    """Return the opinions of a file or folder without the faulty records, if they are few.

    Raises:
        UserError: a file cannot be read, or the share of records with a fault exceeds `max_share`.
    """
    opinions: dict[str, Opinion] = {}
    faults, record_count = Faults(), 0
    for file in list_opinion_files(path):
        for row, record in enumerate(_read_records(file), 1):
            record_count += 1
            with faults.noting():
                opinion = _parse_record(f"{file}: record {row}", row, record)
                if opinion.opinion_id in opinions:
                    raise UserError(
                        f"{file}: record {row}: the id {quote_value(opinion.opinion_id)} occurs"
                        " before; expected another id for each opinion. Correct it."
                    )
                opinions[opinion.opinion_id] = opinion
    left_out = record_count - len(opinions)
    remedy = "Correct the records, or allow more."
    leave_out(faults.messages, left_out, record_count, max_share, remedy, "opinions")
    return OpinionsRead(list(opinions.values()), left_out)


def _read_records(file: Path) -> Iterator[Json]:
    """Iterate over the records of a file; a line that is not JSON is a record that is its text."""
    get = "put opinions there, or set `path` or data_root."
    text = read_text(file, get=get)
    if file.suffix.casefold() == ".txt":
        yield {"id": file.stem, "text": text}
        return
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as fault:
        if text.lstrip().startswith("["):
            raise UserError(f"{file}: not JSON ({fault}); {_EXPECTED}.") from None
        for line in filter(str.strip, text.split("\n")):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                yield line
    else:
        yield from document if isinstance(document, list) else [document]


def _parse_record(place: str, row: int, record: Json) -> Opinion:
    if not isinstance(record, dict):
        raise UserError(f"{place}: found {quote_value(record)}; {_EXPECTED}.")
    fields = {name: value for name, value in record.items() if value is not None}
    check_fields(place, fields, _FIELDS)
    body = "casebody" if "casebody" in fields else "text"
    for name in ("id", body):
        if name not in fields:
            raise UserError(
                f"{place}: missing field '{name}'; found {quote_value(', '.join(fields))}; expected"
                " `id` and `text`, or a record of the Caselaw Access Project. Add the field."
            )
    text, names = _read_casebody(fields) if body == "casebody" else _read_text_fields(fields)
    if not text.strip() or len(text) > MAX_CHARS:
        raise UserError(
            f"{place}: the opinion has {len(text.strip()):,} characters; expected the full text of"
            f" one opinion, at most {MAX_CHARS:,}. Fill it in, or split a whole volume."
        )
    court = fields.get("court", "")
    return Opinion(
        opinion_id=str(fields["id"]),
        text=text,
        names=tuple(filter(None, [str(fields.get("name", "")), *names])),
        outcome=_read_outcome(place, fields),
        court=str(court.get("name_abbreviation", "") if isinstance(court, Mapping) else court),
        year=str(fields.get("decision_date", ""))[:4],
        source_row=row,
    )


def _read_outcome(place: str, fields: Fields) -> str:
    outcome = str(fields.get("outcome", fields.get("label", ""))).strip().lower()
    outcome = "mixed" if outcome == "complex" else outcome
    if outcome and outcome not in OUTCOMES:
        raise UserError(
            f"{place}: outcome {quote_value(outcome)}; expected one of {', '.join(OUTCOMES)} (or"
            " Complex for mixed)."
        )
    return outcome


def _read_text_fields(fields: Fields) -> tuple[str, list[str]]:
    """Return the text of a record with `id` and `text`, and the names beside it."""
    names = [fields.get("parties", ""), *fields.get("judges", ()), *fields.get("counsel", ())]
    return html.unescape(fields["text"]), [str(name) for name in names]


def _read_casebody(fields: Fields) -> tuple[str, list[str]]:
    """Return the first opinion of a Caselaw Access Project record, and the names beside it.

    The body is JSON or, in bulk files, XML. Patterns read its few tags, so that hostile markup
    reaches no XML parser.
    """
    body = fields["casebody"].get("data", fields["casebody"])
    if isinstance(body, str):
        names = _find_elements("parties|attorneys|judges|author", body)
        opinion = re.search(r"<opinion\b[^>]*>.*?</opinion>", body, flags=re.DOTALL)
        return _strip_markup(opinion[0] if opinion else body), names
    opinions = body.get("opinions") if isinstance(body, Mapping) else None
    first: Fields = (opinions or [{}])[0]
    names = [str(first.get("author") or "")]
    for element in ("parties", "attorneys", "judges"):
        names += map(str, body.get(element, []) if isinstance(body, Mapping) else [])
    return str(first.get("text", "")), names


def _find_elements(elements: str, markup: str) -> list[str]:
    pattern = rf"<({elements})\b[^>]*>(.*?)</\1>"
    return [_strip_markup(match[2]) for match in re.finditer(pattern, markup, flags=re.DOTALL)]


def _strip_markup(markup: str) -> str:
    markup = re.sub(r"(?s)<(page-number|footnotemark|bracketnum)\b[^>]*>.*?</\1>", "", markup)
    markup = re.sub(r"</(?:p|author|blockquote|footnote|opinion)>", "\n\n", markup)
    return re.sub(r"\n{3,}", "\n\n", html.unescape(re.sub(r"<[^>]+>", "", markup))).strip()
