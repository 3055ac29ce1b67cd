"""Read opinions from JSON lines, Caselaw Access Project records or text files."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from moot.core.errors import UserError
from moot.core.input_files import quote_value, read_jsonl, read_text
from moot.core.types import Fields
from moot.studies.appellate.deidentify.lexicon import CAPITALISED, INITIALS
from moot.studies.appellate.deidentify.opinion import Opinion, find_parties
from moot.studies.appellate.deidentify.segments import extract_majority
from moot.studies.appellate.deidentify.vocabulary import COMMON_WORDS
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.rubric import OUTCOMES
from moot.studies.appellate.legal.rules import find_opinion_outcome

MAX_CHARS = 1_000_000
CLOSING_CHARS = 1_500
OPENING_CHARS = 2_500
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": (str, int), "text": str, "casebody": dict, "name": str, "label": str, "outcome": str,
    "outcome_sentences": list, "name_abbreviation": str,
        "decision_date": str, "court": (dict, str), "parties": str,
    "judges": list, "counsel": list,
}  # fmt: skip
_OUTCOME_WORDS = {
    "affirm": "affirm",
    "reverse": "reverse",
    "complex": "mixed",
    "mixed": "mixed",
    "dismiss": "dismiss",
}


def list_opinion_files(path: Path) -> list[Path]:
    """Return the files of a path: the file itself, or all text and JSON files of a folder."""
    if path.is_dir():
        files = sorted(
            file
            for file in path.iterdir()
            if file.suffix in (".jsonl", ".json", ".txt") and file.is_file()
        )
        if not files:
            raise UserError(
                f"{path}: no .jsonl, .json or .txt file in this folder; expected opinions."
            )
        return files
    if not path.exists():
        raise UserError(
            f"{path}: no such file or folder; put opinions there, or set `path` or data_root."
        )
    return [path]


def read_opinions(path: Path) -> Iterator[Opinion]:
    """Iterate over the opinions of a file or folder.

    Raises:
        UserError: for an empty or oversized text, an unknown outcome, a repeated id or a malformed
            record.
    """
    places: dict[str, str] = {}
    for file in list_opinion_files(path):
        for opinion in _read_file(file):
            place = f"{file}: record {opinion.source_row}"
            _validate_opinion(opinion, place)
            if opinion.opinion_id in places:
                raise UserError(
                    f"{place}: id {quote_value(opinion.opinion_id)} was taken by"
                    f" {places[opinion.opinion_id]}; ids are unique."
                )
            places[opinion.opinion_id] = place
            yield opinion


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


def _read_file(file: Path) -> Iterator[Opinion]:
    if file.suffix == ".txt":
        yield _parse_text_record({"id": file.stem, "text": read_text(file)}, 1)
    elif file.suffix == ".json":
        try:
            record = json.loads(read_text(file))
        except ValueError as error:
            raise UserError(
                f"{file}: not JSON ({error}); expected one Caselaw Access Project record."
            ) from None
        yield _parse_record(record, 1, file)
    else:
        records = read_jsonl(file, {}, optional=_FIELDS).to_dict("records")
        for row, record in enumerate(records, start=1):
            # A record may lack fields that other records have.
            fields = {str(name): value for name, value in record.items() if value is not None}
            yield _parse_record(fields, row, file)


def _require_fields(record: Fields, place: str, *fields: str) -> None:
    for name in fields:
        if name not in record:
            raise UserError(
                f"{place}: missing field '{name}'; found {quote_value(', '.join(record))}. Add the"
                " field."
            )


def _parse_record(record: Fields, row: int, file: Path) -> Opinion:
    place = f"{file}: record {row}"
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
    judges, counsel = (
        tuple(str(name) for name in record.get(key, ())) for key in ("judges", "counsel")
    )
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
    body = extract_majority(text)
    closing_outcome = find_opinion_outcome(body[-CLOSING_CHARS:])[0]
    opening_outcome = find_opinion_outcome(body[:OPENING_CHARS])[0]
    explicit_dispositions = {
        match.name for match in find_dispositions(body[-CLOSING_CHARS:]) if match.is_explicit
    }
    is_mixed_opening = (
        opening_outcome == "mixed"
        and closing_outcome in ("affirm", "reverse")
        and not {"affirm", "reverse"} <= explicit_dispositions
    )
    return opening_outcome if is_mixed_opening or not closing_outcome else closing_outcome


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
    return [
        run
        for run in runs
        if any(part.lower().strip(".") not in COMMON_WORDS for part in run.split())
    ]


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
