"""Opinions as people bring them: JSON lines with `id` and `text`, Caselaw Access Project records,
plain text.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from moot.core.errors import UserError
from moot.core.input_files import quoted, read_jsonl, read_text
from moot.core.types import Fields
from moot.studies.appellate.deidentify.lexicon import CAPITALISED, INITIALS
from moot.studies.appellate.deidentify.opinion import Opinion, find_parties
from moot.studies.appellate.deidentify.segments import majority
from moot.studies.appellate.deidentify.vocabulary import COMMON
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.rubric import OUTCOMES
from moot.studies.appellate.legal.rules import opinion_outcome

MOST_CHARACTERS = 1_000_000
CLOSING_CHARACTERS = 1_500
OPENING_CHARACTERS = 2_500
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "id": (str, int), "text": str, "casebody": dict, "name": str, "label": str, "outcome": str,
    "outcome_sentences": list, "name_abbreviation": str, "decision_date": str, "court": (dict, str), "parties": str,
    "judges": list, "counsel": list,
}  # fmt: skip
_OUTCOME_WORDS = {
    "affirm": "affirm",
    "reverse": "reverse",
    "complex": "mixed",
    "mixed": "mixed",
    "dismiss": "dismiss",
}


def opinion_files(path: Path) -> list[Path]:
    """The files that a path means: itself, or every text and JSON file of a folder."""
    if path.is_dir():
        found = sorted(
            file
            for file in path.iterdir()
            if file.suffix in (".jsonl", ".json", ".txt") and file.is_file()
        )
        if not found:
            raise UserError(
                f"{path}: no .jsonl, .json or .txt file in this folder; expected opinions."
            )
        return found
    if not path.exists():
        raise UserError(
            f"{path}: no such file or folder; put opinions there, or set `path` or data_root."
        )
    return [path]


def read_opinions(path: Path) -> Iterator[Opinion]:
    """The opinions of a file or folder: JSON lines with `id` and `text`, Caselaw Access Project
    records, plain text.

        Raises:
            UserError: for an empty or oversized text, an unknown outcome, a repeated id, a
                malformed record.
    """
    seen: dict[str, str] = {}
    for file in opinion_files(path):
        for opinion in _read_file(file):
            place = f"{file}: record {opinion.source_row}"
            _check(opinion, place)
            if opinion.opinion_id in seen:
                raise UserError(
                    f"{place}: id {quoted(opinion.opinion_id)} was taken by"
                    f" {seen[opinion.opinion_id]}; ids are unique."
                )
            seen[opinion.opinion_id] = place
            yield opinion


def _check(opinion: Opinion, place: str) -> None:
    if not opinion.text.strip():
        raise UserError(
            f"{place}: the opinion is empty; expected its full text. Remove the record, or fill"
            " it in."
        )
    if len(opinion.text) > MOST_CHARACTERS:
        raise UserError(
            f"{place}: the opinion has {len(opinion.text):,} characters; expected one opinion of at"
            f" most {MOST_CHARACTERS:,}. Is this a whole volume? Split it into opinions."
        )
    if opinion.outcome and opinion.outcome not in OUTCOMES:
        raise UserError(
            f"{place}: outcome {quoted(opinion.outcome)}; expected one of {', '.join(OUTCOMES)} (or"
            " Complex for mixed)."
        )


def _read_file(file: Path) -> Iterator[Opinion]:
    if file.suffix == ".txt":
        yield _of_text({"id": file.stem, "text": read_text(file)}, 1)
    elif file.suffix == ".json":
        try:
            record = json.loads(read_text(file))
        except ValueError as fault:
            raise UserError(
                f"{file}: not JSON ({fault}); expected one Caselaw Access Project record."
            ) from None
        yield _of_record(record, 1, file)
    else:
        # Every record is asked for its own fields: one record without a label must not hide those
        # of the others.
        for row, record in enumerate(
            read_jsonl(file, {}, optional=_FIELDS).to_dict("records"), start=1
        ):
            yield _of_record(
                {str(name): value for name, value in record.items() if value is not None}, row, file
            )


def _require(record: Fields, place: str, *fields: str) -> None:
    for name in fields:
        if name not in record:
            raise UserError(
                f"{place}: missing field '{name}'; found {quoted(', '.join(record))}. Add the"
                " field."
            )


def _of_record(record: Fields, row: int, file: Path) -> Opinion:
    place = f"{file}: record {row}"
    if "casebody" not in record:
        _require(record, place, "id", "text")
        return _of_text(record, row)
    _require(record, place, "id", "name")
    body = record["casebody"].get("data", record["casebody"])
    return (
        _of_cap_xml(record, body, row) if isinstance(body, str) else _of_cap_json(record, body, row)
    )


def _of_text(record: Fields, row: int) -> Opinion:
    given = str(record.get("outcome", record.get("label", ""))).strip()
    outcome = _OUTCOME_WORDS.get(given.lower(), given.lower())
    text = html.unescape(str(record["text"]))
    attributes = {"outcome_from": "source"} if outcome else {"outcome_from": "rules"}
    marked = tuple(html.unescape(str(sentence)) for sentence in record.get("outcome_sentences", ()))
    parties = tuple(find_parties(str(record["parties"]))) if record.get("parties") else ()
    judges, counsel = (
        tuple(str(name) for name in record.get(key, ())) for key in ("judges", "counsel")
    )
    outcome = outcome or announced_outcome(text)
    return Opinion(
        str(record["id"]), text, parties, judges, counsel, outcome, marked, attributes, row
    )


def announced_outcome(text: str) -> str:
    """The outcome that a whole opinion announces: at its end, or in its introduction where the end
    says nothing.

        An introduction that affirms in part and reverses in part outweighs an end that names but
        one of the two.
    """
    body = majority(text)
    closing = opinion_outcome(body[-CLOSING_CHARACTERS:])[0]
    opening = opinion_outcome(body[:OPENING_CHARACTERS])[0]
    named = {
        found.disposition
        for found in find_dispositions(body[-CLOSING_CHARACTERS:])
        if found.explicit
    }
    one_of_two = (
        opening == "mixed"
        and closing in ("affirm", "reverse")
        and not {"affirm", "reverse"} <= named
    )
    return opening if one_of_two or not closing else closing


def _plain(markup: str) -> str:
    markup = re.sub(r"(?s)<(page-number|footnotemark|bracketnum)\b[^>]*>.*?</\1>", "", markup)
    blocks = "p|author|parties|court|docketnumber|decisiondate|attorneys|judges|blockquote|footnote|opinion"
    markup = re.sub(rf"</(?:{blocks})>", "\n\n", markup)
    return re.sub(r"\n{3,}", "\n\n", html.unescape(re.sub(r"<[^>]+>", "", markup)))


def _all_of(element: str, markup: str) -> list[str]:
    found = re.findall(rf"<{element}\b[^>]*>(.*?)</{element}>", markup, flags=re.DOTALL)
    return [_plain(inner).strip() for inner in found]


def _of_cap_xml(record: Fields, markup: str, row: int) -> Opinion:
    """A record of the bulk format: the body as XML, read by its few tags (no parser sees hostile
    markup).
    """
    majority = next(
        iter(re.findall(r"<opinion\b[^>]*>.*?</opinion>", markup, flags=re.DOTALL)), markup
    )
    author, others = _all_of("author", majority), _all_of("judges", markup)
    return _of_cap(
        record,
        _all_of("parties", markup),
        _all_of("attorneys", markup),
        author + others,
        _plain(majority),
        row,
    )


def _of_cap_json(record: Fields, body: Fields, row: int) -> Opinion:
    opinions = body.get("opinions") or [{}]
    judges, text = (
        [str(opinions[0].get("author") or ""), *body.get("judges", [])],
        str(opinions[0].get("text", "")),
    )
    return _of_cap(record, body.get("parties", []), body.get("attorneys", []), judges, text, row)


_TITLE = re.compile(
    r"\b(?:MR|CHIEF|PRESIDING|Mr|Chief|Presiding)?\.?"
    r" ?(?:JUSTICES?|JUDGES?|Justices?|Judges?|J\.|C\.J\.)\W*"
)


def _capitalised(line: str) -> list[str]:
    """The names in an appearance line: its runs of capitalised words, law firms and their towns
    among them.
    """
    word = rf"(?:{INITIALS}|{CAPITALISED})"
    runs = re.findall(rf"{word}(?:\s+{word})*", line)
    return [
        run for run in runs if any(part.lower().strip(".") not in COMMON for part in run.split())
    ]


def _of_cap(
    record: Fields, styles: list[str], attorneys: list[str], judges: list[str], text: str, row: int
) -> Opinion:
    style = " ".join(styles) or str(record.get("name", ""))
    parties = find_parties(style) + find_parties(str(record.get("name_abbreviation", "")))
    counsel = [name for line in attorneys for name in _capitalised(line)]
    named = [bare for name in judges if (bare := _TITLE.sub("", name).strip(" :,."))]
    court = record.get("court")
    attributes = {
        "court": str(
            court.get("name_abbreviation", "") if isinstance(court, Mapping) else court or ""
        ),
        "year": str(record.get("decision_date", ""))[:4],
        "outcome_from": "rules",
    }
    opinion_id, outcome = str(record.get("id", row)), announced_outcome(text)
    return Opinion(opinion_id, text, parties, named, counsel, outcome, (), attributes, row)
