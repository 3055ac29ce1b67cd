"""Appellate opinions: five paraphrased federal cases, or full texts that are de-identified here.

The task is the appellate study's: does the decision under review stand? Whether the court affirmed, reversed, did both or
dismissed, and who dissented, are attributes for scoring alone.
"""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field

from moot.cases import Case, Split, Task, stratified_splits
from moot.datasets import DatasetOptions, Loaded, LoadContext, dataset
from moot.deidentify import Deidentified, Opinion, deidentify
from moot.deidentify.opinion import parties_of
from moot.errors import UserError
from moot.labels.rubric import OUTCOMES
from moot.labels.rules import opinion_outcome
from moot.tables_in import read_jsonl, read_text, shown

SAMPLE = Path("data/samples/opinions.yaml")
AFFIRM, NOT_AFFIRM = "affirm", "not affirm"
MOST_CHARACTERS = 1_000_000
_OUTCOME_WORDS = {"affirm": "affirm", "reverse": "reverse", "complex": "mixed", "mixed": "mixed", "dismiss": "dismiss"}

TASK = Task(
    noun="the decision under review",
    question="Should the decision of the court below be affirmed?",
    labels=(NOT_AFFIRM, AFFIRM),
    positive=AFFIRM,
    meaning={
        AFFIRM: "the decision of the court below should stand",
        NOT_AFFIRM: "the decision of the court below should be reversed, vacated or sent back, in whole or in part",
    },
    background="A panel of three judges of an appellate court reviews the decision; names and places are left out.",
    roles={"prosecutor": "counsel for the appellee", "defense": "counsel for the appellant"},
)


class OpinionsOptions(DatasetOptions):
    """Options of the opinions data set."""

    path: str = Field(
        "opinions", description="for local: a file or folder below data_root (.jsonl of texts or of CAP records, .json, .txt)"
    )
    max_characters: int = Field(6000, ge=500, description="most characters of facts that a case keeps, in whole sentences")
    ner: bool = Field(False, description="look for further names with Presidio and spaCy (the extra `ner`)")
    failed_cases: Literal["exclude", "error"] = Field(
        "exclude", description="what becomes of a case that does not pass the gates; excluded cases are counted"
    )


def target_of(outcome: str) -> str:
    """Whether the decision stands: affirmed, or the appeal dismissed; a mixed outcome leaves it not standing as it was."""
    return AFFIRM if outcome in ("affirm", "dismiss") else NOT_AFFIRM


@dataset("opinions", OpinionsOptions)
def load(options: OpinionsOptions, context: LoadContext) -> Loaded:
    """Cases of the sample, or of local opinions, de-identified.

    Raises:
        UserError: for a missing or malformed file, an empty or oversized opinion, an outcome that is none, and, with
            `failed_cases: error`, for a case that did not pass the gates.
    """
    if options.source == "sample":
        return _sample(context)
    if options.source == "local":
        return _local(options, context)
    raise UserError(
        f"data set '{context.name}': source '{options.source}' is not known to opinions; expected sample or local. "
        "Download opinions from static.case.law, put them below data_root and use local."
    )


def read_sample(shipped: Path) -> list[dict[str, Any]]:
    """The five cases as they stand in the sample file."""
    records: list[dict[str, Any]] = yaml.safe_load((shipped / SAMPLE).read_text(encoding="utf-8"))
    return records


def _sample(context: LoadContext) -> Loaded:
    cases = [
        Case(
            case_id=record["case_id"],
            dataset=context.name,
            split="test",
            text=record["facts"],
            target=target_of(record["outcome"]),
            labels=TASK.labels,
            attributes={name: str(record[name]) for name in ("number", "outcome", "votes", "dissent", "source")},
            source_row=record["number"],
        )
        for record in read_sample(context.shipped)
    ]
    notes = ("five cases paraphrased by us after the study and the public record; with five cases no interval over cases is narrow",)
    return Loaded(cases, _with_notes(notes), sources=[context.shipped / SAMPLE])


def _with_notes(notes: tuple[str, ...]) -> Task:
    fields = {name: getattr(TASK, name) for name in Task.__dataclass_fields__}
    return Task(**{**fields, "notes": notes})


def _local(options: OpinionsOptions, context: LoadContext) -> Loaded:
    account: Counter[str] = Counter()
    cases: list[Case] = []
    opinions = list(read_opinions(context.data_root / options.path))
    finished = [(opinion, deidentify_one(opinion, options)) for opinion in opinions]
    passed = {opinion.opinion_id: opinion.outcome for opinion, done in finished if done.report.passed and opinion.outcome}
    splits = stratified_splits({key: target_of(outcome) for key, outcome in passed.items()}, context.seed)
    for opinion, done in finished:
        account["opinions read"] += 1
        _count(account, opinion, done)
        if not done.report.passed and options.failed_cases == "error":
            raise UserError(f"data set '{context.name}', record {opinion.source_row}: {problems_of(done)} Use failed_cases: exclude.")
        if opinion.opinion_id in splits:
            cases.append(_case(opinion, done, context.name, splits[opinion.opinion_id]))
    if not cases:
        raise UserError(f"{context.data_root / options.path}: no opinion passed the gates; found {dict(account)}.")
    notes = ("names and outcome sentences were taken out by rule; cases that did not pass both gates are left out",)
    return Loaded(cases, _with_notes(notes), account=dict(account), sources=sorted(files_of(context.data_root / options.path)))


def _count(account: Counter[str], opinion: Opinion, done: Deidentified) -> None:
    report = done.report
    account["name words checked"] += report.tokens
    account["name words surviving"] += len(report.names)
    account["outcome sentences marked in the source"] += len(opinion.marked)
    account["outcome sentences surviving"] += len(report.outcomes)
    account["excluded: a gate failed"] += not report.passed
    account["excluded: no outcome known"] += not opinion.outcome


def problems_of(done: Deidentified) -> str:
    """What the gates found, in one line, with no more of the text than shows it."""
    found = [f"name {shown(name)}" for name in done.report.names[:3]]
    found += [f"outcome sentence {shown(sentence)}" for sentence in done.report.outcomes[:3]]
    return f"the case did not pass the gates: {'; '.join([*found, *done.report.problems])}."


def _case(opinion: Opinion, done: Deidentified, name: str, split: Split) -> Case:
    attributes = {"outcome": opinion.outcome, **opinion.attributes}
    return Case(
        opinion.opinion_id, name, split, done.facts, target_of(opinion.outcome), TASK.labels, attributes, opinion.source_row
    )


def deidentify_one(opinion: Opinion, options: OpinionsOptions) -> Deidentified:
    """De-identify an opinion, with a recogniser's names where the options ask for it."""
    extra: list[tuple[str, str]] = []
    if options.ner:
        from moot.deidentify.recogniser import recognised_names  # noqa: PLC0415 - the extra `ner`

        extra = recognised_names(opinion.text)
    return deidentify(opinion, options.max_characters, extra)


# Reading


def files_of(path: Path) -> list[Path]:
    """The files that a path means: itself, or every text and JSON file of a folder."""
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix in (".jsonl", ".json", ".txt") and file.is_file())
        if not found:
            raise UserError(f"{path}: no .jsonl, .json or .txt file in this folder; expected opinions.")
        return found
    if not path.exists():
        raise UserError(f"{path}: no such file or folder; put opinions there, or set `path` or data_root.")
    return [path]


def read_opinions(path: Path) -> Iterator[Opinion]:
    """The opinions of a file or folder: JSON lines with `id` and `text`, Caselaw Access Project records, plain text.

    Raises:
        UserError: for an empty or oversized text, an unknown outcome, a repeated id, a malformed record.
    """
    seen: dict[str, str] = {}
    for file in files_of(path):
        for opinion in _read_file(file):
            place = f"{file}: record {opinion.source_row}"
            _check(opinion, place)
            if opinion.opinion_id in seen:
                raise UserError(f"{place}: id {shown(opinion.opinion_id)} was taken by {seen[opinion.opinion_id]}; ids are unique.")
            seen[opinion.opinion_id] = place
            yield opinion


def _check(opinion: Opinion, place: str) -> None:
    if not opinion.text.strip():
        raise UserError(f"{place}: the opinion is empty; expected its full text. Remove the record, or fill it in.")
    if len(opinion.text) > MOST_CHARACTERS:
        raise UserError(
            f"{place}: the opinion has {len(opinion.text):,} characters; expected one opinion of at most {MOST_CHARACTERS:,}. "
            "Is this a whole volume? Split it into opinions."
        )
    if opinion.outcome and opinion.outcome not in OUTCOMES:
        raise UserError(
            f"{place}: outcome {shown(opinion.outcome)}; expected one of {', '.join(OUTCOMES)} (or Complex for mixed)."
        )


def _read_file(file: Path) -> Iterator[Opinion]:
    if file.suffix == ".txt":
        text = read_text(file)
        yield _of_text({"id": file.stem, "text": text}, 1)
    elif file.suffix == ".json":
        text = read_text(file)
        try:
            record = json.loads(text)
        except ValueError as fault:
            raise UserError(f"{file}: not JSON ({fault}); expected one Caselaw Access Project record.") from None
        yield _of_record(record, 1, file)
    else:
        first = next((line for line in read_text(file).split("\n") if line.strip()), "")
        fields: dict[str, type | tuple[type, ...]] = {"id": (str, int)}
        plain = '"casebody"' not in first
        fields |= {"text": str} if plain else {"casebody": dict, "name": str}
        optional = _optional_fields(first)
        for row, record in read_jsonl(file, {**fields, **optional}).iterrows():
            yield _of_record(dict(record), int(str(row)), file)


def _optional_fields(line: str) -> dict[str, type | tuple[type, ...]]:
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    known: dict[str, type | tuple[type, ...]] = {
        "label": str, "outcome": str, "outcome_sentences": list, "name_abbreviation": str, "decision_date": str, "court": (dict, str),
        "parties": str, "judges": list, "counsel": list,
    }  # fmt: skip
    return {name: kind for name, kind in known.items() if isinstance(record, dict) and name in record}


def _of_record(record: Mapping[str, Any], row: int, file: Path) -> Opinion:
    if "casebody" not in record:
        if not isinstance(record.get("text"), str):
            raise UserError(f"{file}: record {row}: neither 'text' nor 'casebody'; expected an opinion's text.")
        return _of_text(record, row)
    body = record["casebody"].get("data", record["casebody"])
    return _of_cap_xml(record, body, row) if isinstance(body, str) else _of_cap_json(record, body, row)


def _of_text(record: Mapping[str, Any], row: int) -> Opinion:
    given = str(record.get("outcome", record.get("label", ""))).strip()
    outcome = _OUTCOME_WORDS.get(given.lower(), given.lower())
    text = html.unescape(str(record["text"]))
    attributes = {"outcome_from": "source"} if outcome else {"outcome_from": "rules"}
    marked = tuple(html.unescape(str(sentence)) for sentence in record.get("outcome_sentences", ()))
    parties = tuple(parties_of(str(record["parties"]))) if record.get("parties") else ()
    judges, counsel = (tuple(str(name) for name in record.get(key, ())) for key in ("judges", "counsel"))
    return Opinion(str(record["id"]), text, parties, judges, counsel, outcome or _by_rules(text), marked, attributes, row)


def _by_rules(text: str) -> str:
    from moot.deidentify.segments import majority  # noqa: PLC0415

    return opinion_outcome(majority(text)[-1500:])[0]


def _plain(markup: str) -> str:
    markup = re.sub(r"<page-number[^>]*>.*?</page-number>|<(?:footnotemark|bracketnum)[^>]*>.*?</(?:footnotemark|bracketnum)>", "", markup, flags=re.DOTALL)
    markup = re.sub(r"</(?:p|author|parties|court|docketnumber|decisiondate|attorneys|judges|blockquote|footnote|opinion)>", "\n\n", markup)
    return re.sub(r"\n{3,}", "\n\n", html.unescape(re.sub(r"<[^>]+>", "", markup)))


def _all_of(element: str, markup: str) -> list[str]:
    found = re.findall(rf"<{element}\b[^>]*>(.*?)</{element}>", markup, flags=re.DOTALL)
    return [_plain(inner).strip() for inner in found]


def _of_cap_xml(record: Mapping[str, Any], markup: str, row: int) -> Opinion:
    """A record of the bulk format: the body as XML, read by its few tags (no parser sees hostile markup)."""
    majority = next(iter(re.findall(r"<opinion\b[^>]*>.*?</opinion>", markup, flags=re.DOTALL)), markup)
    author, others = _all_of("author", majority), _all_of("judges", markup)
    parts = {"parties": " ".join(_all_of("parties", markup)) or str(record.get("name", "")), "attorneys": _all_of("attorneys", markup)}
    return _of_cap(record, parts, author + others, _plain(majority), row)


def _of_cap_json(record: Mapping[str, Any], body: Mapping[str, Any], row: int) -> Opinion:
    opinions = body.get("opinions") or [{}]
    text = str(opinions[0].get("text", ""))
    parts = {"parties": " ".join(body.get("parties", [])) or str(record.get("name", "")), "attorneys": body.get("attorneys", [])}
    return _of_cap(record, parts, [str(opinions[0].get("author") or ""), *body.get("judges", [])], text, row)


def _of_cap(record: Mapping[str, Any], parts: Mapping[str, Any], judges: list[str], text: str, row: int) -> Opinion:
    from moot.deidentify.opinion import counsel_of  # noqa: PLC0415

    parties = parties_of(parts["parties"]) + parties_of(str(record.get("name_abbreviation", "")))
    counsel = [name for line in parts["attorneys"] for name in counsel_of(f"{line}\n") or [line]]
    bare = [re.sub(r"\b(?:MR|CHIEF|PRESIDING|Mr|Chief|Presiding)?\.? ?(?:JUSTICES?|JUDGES?|Justices?|Judges?|J\.|C\.J\.)\W*", "", name).strip(" :,.") for name in judges]
    court = record.get("court")
    attributes = {
        "court": str(court.get("name_abbreviation", "") if isinstance(court, Mapping) else court or ""),
        "year": str(record.get("decision_date", ""))[:4],
        "outcome_from": "rules",
    }
    named = [name for name in bare if name]
    return Opinion(str(record.get("id", row)), text, parties, named, counsel, _by_rules(text), (), attributes, row)
