"""Appellate opinions: five paraphrased federal cases, or a user's opinions in full text.

The task is the appellate study's: should the decision under review be affirmed? Whether the court
affirmed, reversed, did both or dismissed, and who dissented, are attributes for scoring only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from pydantic import Field

from moot.core.cases import Case, Task, stratified_splits
from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.text_files import read_text
from moot.core.yaml_text import load_yaml
from moot.datasets import SOURCE_PATTERN, DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.opinion_text import collect_names, find_leaks
from moot.datasets.reading.checks import (
    LEFT_OUT,
    FaultyShare,
    RowChecker,
)
from moot.datasets.reading.records import read_jsonl
from moot.datasets.reading.tables import list_files, read_table

SAMPLE = Path("data/samples/opinions.yaml")
AFFIRM, NOT_AFFIRM = "affirm", "not affirm"

TASK = Task(
    noun="the decision under review",
    question="Should the decision of the court below be affirmed?",
    labels=(NOT_AFFIRM, AFFIRM),
    positive=AFFIRM,
    meaning={
        AFFIRM: "the decision of the court below should stand",
        NOT_AFFIRM: (
            "the decision of the court below should be reversed, vacated or sent back, in whole or"
            " in part"
        ),
    },
    background=(
        "A panel of three judges of an appellate court reviews the decision; names and places are"
        " left out."
    ),
    roles={"prosecutor": "counsel for the appellee", "defense": "counsel for the appellant"},
)


OPINION, MASKED = "opinion", "masked"
MAX_CHARS = 1_000_000
OUTCOMES = ("affirm", "reverse", "mixed", "dismiss")
_NAME_COLUMNS = ("name", "parties", "judges", "counsel")
_COLUMNS = ("id", "text", "outcome", "court", "decision_date", "problem", *_NAME_COLUMNS)


class OpinionsOptions(DatasetOptions):
    """Options of the opinions data set."""

    path: str = Field(
        "opinions",
        description=(
            "Table or folder of tables below data_root that `source: local` reads, with the columns"
            " `id` and `text`; `outcome`, `court`, `decision_date`, and `name`, `parties`, `judges`"
            " and `counsel` are read if it has them. Default: opinions."
        ),
    )
    facts: str = Field(
        MASKED,
        pattern=f"^({OPINION}|{MASKED}|{SOURCE_PATTERN})$",
        description=(
            "Text of a case: `opinion`, the column `text` as it is, either full opinions for the"
            " protocol case_summary alone, or facts that a person wrote or edited, all of them test"
            " cases;"
            " EXPERIMENT/MODEL, the summaries that this protocol wrote; `masked`, sentences of the"
            " opinion, whose names Presidio finds (the extra `ner`)."
        ),
    )
    faulty: FaultyShare = 0.01

    @property
    def is_paraphrase(self) -> bool:
        """Whether the cases are the sample's, whose facts and scripts are moot's own words."""
        return self.source == "sample"

    def own_files(self, data_root: Path) -> tuple[Path, ...]:
        """Return the file or folder of opinions."""
        return (data_root / self.path,)


def target_from_outcome(outcome: str) -> str:
    """Return the label of an outcome.

    A dismissed appeal leaves the decision standing and counts as affirmed. A mixed outcome does
    not.
    """
    return AFFIRM if outcome in ("affirm", "dismiss") else NOT_AFFIRM


def _name_summaries(options: OpinionsOptions) -> dict[str, str]:
    """Return the artifact of the summaries, if a model wrote the facts."""
    return {"facts": f"summaries/{options.facts}.jsonl"} if "/" in options.facts else {}


@dataset(
    "opinions", OpinionsOptions, labels=TASK.labels, needs=_name_summaries, shipped=(str(SAMPLE),)
)
def load(options: OpinionsOptions, context: LoadContext) -> Loaded:
    """Load the cases of the sample, or local opinions.

    Raises:
        UserError: for a missing or malformed file, an empty or oversized opinion or an unknown
            outcome; or if no opinion can be used.
    """
    if options.source == "sample":
        return _load_sample(context)
    if options.source == "local":
        return _load_local(options, context)
    raise UserError(
        f"data set '{context.name}': unknown source '{options.source}' of opinions; expected sample"
        " or local. Download opinions from static.case.law, put them below data_root and use"
        " local."
    )


def _load_sample(context: LoadContext) -> Loaded:
    cases = []
    for record in load_yaml((context.shipped / SAMPLE).read_text(encoding="utf-8")):
        names = ("number", "outcome", "votes", "dissent", "source")
        cases.append(
            Case(
                record["case_id"],
                context.name,
                "test",
                record["facts"],
                target_from_outcome(record["outcome"]),
                TASK.labels,
                {name: str(record[name]) for name in names},
                record["number"],
            )
        )
    notes = (
        "five cases, which we paraphrased from the study and the public record; with five cases no"
        " interval over cases is narrow",
    )
    return Loaded(cases, replace(TASK, notes=notes), sources=[context.shipped / SAMPLE])


class Opinion(NamedTuple):
    """One opinion in full text.

    Attributes:
        opinion_id: the id in the source.
        text: the caption, if any, and the opinion.
        names: what the record says of parties, judges and counsel, besides the text.
        outcome: one of OUTCOMES, or "" if the record does not say.
        court: the court, if the record says it.
        year: the year of the decision, if the record says it.
        problem: why a sheet of `decision` leaves it out; "" if it does not.
        source_row: the number of the record in its file, from 1.
    """

    opinion_id: str
    text: str
    names: tuple[str, ...] = ()
    outcome: str = ""
    court: str = ""
    year: str = ""
    problem: str = ""
    source_row: int = 0


def read_opinions(path: Path, max_share: float, cleaning: dict[str, int]) -> list[Opinion]:
    """Return the opinions of a file or folder without the faulty rows, if they are few.

    Raises:
        UserError: a file cannot be read, or the share of rows with a fault exceeds `max_share`.
    """
    check = RowChecker(list_files(path), max_share, "rows")
    rows = check.read(partial(read_table, columns=["id", "text"], faults=check.faults))
    rows = rows.reindex(columns=list(_COLUMNS), fill_value="").fillna("")
    rows["problem"] = rows["problem"].str.strip()
    lengths = rows["text"].str.strip().str.len()
    expected = f"the full text of one opinion, of at most {MAX_CHARS:,} characters"
    has_length = lengths.between(1, MAX_CHARS) | (rows["problem"] != "")
    check.refuse(rows["text"].str[:100], ~has_length, expected)
    rows["outcome"] = rows["outcome"].str.strip().str.casefold()
    is_unknown = ~rows["outcome"].isin(["", *OUTCOMES])
    check.refuse(rows["outcome"], is_unknown, f"one of: blank, {', '.join(OUTCOMES)}")
    check.refuse_repeated(rows["id"])
    usable_rows = check.without_faulty(rows)
    for line in check.lines:
        LOG.warning("left out: %s", line)
    if left_out := len(rows) + check.broken - len(usable_rows):
        cleaning[LEFT_OUT] = left_out
    return [
        Opinion(
            opinion_id=cells["id"].strip(),
            text=cells["text"],
            names=tuple(filter(None, map(cells.__getitem__, _NAME_COLUMNS))),
            outcome=cells["outcome"],
            court=cells["court"],
            year=cells["decision_date"][:4],
            problem=cells["problem"],
            source_row=int(row),
        )
        for (_, row), cells in zip(usable_rows.index, usable_rows.to_dict("records"), strict=True)
    ]


class PreparedOpinion(NamedTuple):
    """An opinion with the facts and the outcome of its case, or the reason why it has no case."""

    opinion: Opinion
    facts: str
    outcome: str
    problem: str = ""


def prepare_opinions(
    options: OpinionsOptions, context: LoadContext, cleaning: Counter[str]
) -> list[PreparedOpinion]:
    """Read the opinions of a data set with their facts and outcomes; count the faulty records."""
    opinions = read_opinions(context.data_root / options.path, options.faulty, cleaning)
    summaries: Mapping[str, str] = {}
    if "facts" in context.artifacts:
        rows = read_jsonl(context.artifacts["facts"], {"case_id": str, "case_background": str})
        summaries = dict(zip(rows["case_id"], rows["case_background"], strict=True))
    return [_prepare_opinion(opinion, options, summaries) for opinion in opinions]


def _prepare_opinion(
    opinion: Opinion, options: OpinionsOptions, summaries: Mapping[str, str]
) -> PreparedOpinion:
    # Importing these modules is slow: they compile many patterns.
    from moot.studies.appellate.legal.outcomes import OutcomeReading, read_outcome
    from moot.studies.appellate.masking import mask_facts

    if opinion.problem:
        return PreparedOpinion(opinion, "", "", opinion.problem)
    reading = OutcomeReading(opinion.outcome)
    if not opinion.outcome:
        reading = read_outcome(opinion.text)
    problem = f"outcome: {reading.problem}" if reading.problem else ""
    if options.facts == OPINION:
        return PreparedOpinion(opinion, opinion.text, reading.outcome, problem)
    names = collect_names(opinion.text, opinion.names)
    if options.facts == MASKED:
        facts, fault = mask_facts(opinion.text, names)
    else:
        facts = summaries.get(opinion.opinion_id, "")
        leaks = find_leaks(facts, names)
        fault = f"the summary has {', '.join(leaks[:3])}" if leaks else ""
        fault = fault if facts else "no summary without names and outcome"
    return PreparedOpinion(opinion, facts, reading.outcome, problem or fault)


def _load_local(options: OpinionsOptions, context: LoadContext) -> Loaded:
    cleaning: Counter[str] = Counter()
    prepared = prepare_opinions(options, context, cleaning)
    usable = [entry for entry in prepared if not entry.problem and entry.outcome]
    cleaning["opinions read"] = len(prepared)
    for entry in prepared:
        if entry.problem:
            cleaning[f"excluded: {entry.problem}"] += 1
        cleaning["outcome by the record"] += bool(entry.opinion.outcome)
    if not usable:
        raise UserError(
            f"{context.data_root / options.path}: no opinion can be used: {dict(cleaning)}."
        )
    targets = {entry.opinion.opinion_id: target_from_outcome(entry.outcome) for entry in usable}
    splits = stratified_splits(targets, context.seed)
    cases = []
    for entry in usable:
        opinion = entry.opinion
        attributes = {"outcome": entry.outcome, "court": opinion.court, "year": opinion.year}
        if options.facts == OPINION:
            attributes["names"] = " ".join(opinion.names)
        case_id = opinion.opinion_id
        cases.append(
            Case(
                case_id,
                context.name,
                # a model summarises all opinions, and people edit few
                "test" if options.facts == OPINION else splits[case_id],
                entry.facts,
                targets[case_id],
                TASK.labels,
                attributes,
                opinion.source_row,
            )
        )
    sources = [*list_files(context.data_root / options.path), *context.artifacts.values()]
    return Loaded(cases, _describe_task(cases, options), cleaning=dict(cleaning), sources=sources)


def write_deidentification(options: DatasetOptions, context: LoadContext, /, output: Path) -> None:
    """Write `deidentified/{dataset}.csv`: one row per opinion, as `facts: opinion` reads it.

    Raises:
        UserError: if the data set does not read local opinions.
    """
    if not isinstance(options, OpinionsOptions) or options.source != "local":
        raise UserError(
            f"datasets.{context.name}: the data set does not read local opinions, so no text was"
            " de-identified. Expected `source: local`."
        )
    rows = []
    for entry in prepare_opinions(options, context, Counter()):
        row = {"id": entry.opinion.opinion_id, "outcome": entry.outcome}
        rows.append({**row, "problem": entry.problem, "text": entry.facts})
    sheet = pd.DataFrame(rows)
    write_atomically(output, sheet.to_csv(index=False, lineterminator="\n"))
    usable_count = int((sheet["problem"] == "").sum())
    LOG.info("%s: %d of %d opinions can be used", context.name, usable_count, len(sheet))


def _describe_task(cases: Sequence[Case], options: OpinionsOptions) -> Task:
    """Return the task with a note on the facts, clustered by court if all courts are known."""
    note = f"facts by the summaries of {options.facts}"
    if options.facts == MASKED:
        note = "facts in the opinion's sentences, with pseudonyms by Presidio and spaCy"
    elif options.facts == OPINION:
        note = "texts as the table has them"
    courts = {case.attributes["court"] for case in cases}
    has_courts = len(courts) > 1 and all(courts)
    return replace(TASK, notes=(note,), cluster="court" if has_courts else "")


@cache
def load_human_statements(case_id: str) -> Mapping[str, list[str]]:
    """Load the human judge's statements on a case of the sample by stance, one per round.

    Returns:
        The statements by stance ("affirm", "not affirm").

    Raises:
        UserError: the sample has no such case.
    """
    records = load_yaml(read_text(Path(__file__).resolve().parents[4] / SAMPLE))
    by_case = {record["case_id"]: record["statements"] for record in records}
    if case_id not in by_case:
        raise UserError(
            f"the sample has no statements for case '{case_id}'; let a person speak by"
            " `seats: {human: person}`, or use the protocol panel."
        )
    statements = by_case[case_id]
    texts = dict[str, list[str]]()
    for stance in (AFFIRM, NOT_AFFIRM):
        texts[stance] = [text.strip() for text in statements[stance]]
    return texts
