"""Appellate opinions: five paraphrased federal cases, or full texts that this module de-identifies.

The task is the appellate study's: should the decision under review be affirmed? Whether the court
affirmed, reversed, did both or dismissed, and who dissented, are attributes for scoring only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import Field

from moot.core.cases import Case, SplitName, Task, stratified_splits
from moot.core.errors import UserError
from moot.core.text_files import quote_value, read_text
from moot.core.yaml_text import load_yaml
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.debate_records import FaultyShare

if TYPE_CHECKING:
    from moot.studies.appellate.deidentify import DeidentifiedOpinion, Opinion, Recogniser

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


class OpinionsOptions(DatasetOptions):
    """Options of the opinions data set."""

    path: str = Field(
        "opinions",
        description=(
            "File or folder below data_root that `source: local` reads: .jsonl or .json with"
            " records (id and text, or Caselaw Access Project), or .txt. Default: opinions."
        ),
    )
    max_characters: int = Field(
        2000,
        ge=500,
        description=(
            "Maximum characters of facts per case, in whole sentences. Longer facts reveal the "
            "outcome more often."
        ),
    )
    ner: bool | Literal["auto"] = Field(
        "auto",
        description=(
            "Whether to find further names with Presidio and spaCy (the extra `ner`). Default:"
            " auto,"
            " if they are installed."
        ),
    )
    failed_cases: Literal["exclude", "error"] = Field(
        "exclude",
        description=(
            "Whether a case that does not pass the gates is excluded and counted, or an error."
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


@dataset("opinions", OpinionsOptions, labels=TASK.labels)
def load(options: OpinionsOptions, context: LoadContext) -> Loaded:
    """Load the cases of the sample, or local opinions, which are de-identified.

    Raises:
        UserError: for a missing or malformed file, an empty or oversized opinion or an unknown
            outcome; with `failed_cases: error` also for a case that did not pass the gates.
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


def _load_local(options: OpinionsOptions, context: LoadContext) -> Loaded:
    # Importing these modules is slow: they compile many patterns.
    from moot.studies.appellate.deidentify import deidentify
    from moot.studies.appellate.opinion_reading import read_usable_opinions
    from moot.studies.appellate.opinion_records import list_opinion_files

    cleaning: Counter[str] = Counter()
    cases: list[Case] = []
    path = context.data_root / options.path
    opinions, left_out = read_usable_opinions(path, options.faulty)
    if left_out:
        cleaning["opinions left out because of faults"] = left_out
    recogniser = select_recogniser(options)
    deidentified_opinions = [
        (opinion, deidentify(opinion, options.max_characters, recogniser)) for opinion in opinions
    ]
    targets = {}
    for opinion, deidentified in deidentified_opinions:
        if deidentified.report.passed and opinion.outcome:
            targets[opinion.opinion_id] = target_from_outcome(opinion.outcome)
    splits = stratified_splits(targets, context.seed)
    for opinion, deidentified in deidentified_opinions:
        cleaning["opinions read"] += 1
        cleaning["opinions read by the trained recogniser"] += recogniser is not None
        _count_findings(cleaning, opinion, deidentified)
        if not deidentified.report.passed and options.failed_cases == "error":
            raise UserError(
                f"data set '{context.name}', record {opinion.source_row}:"
                f" {describe_problems(deidentified)} Use failed_cases: exclude."
            )
        if opinion.opinion_id in splits:
            split = splits[opinion.opinion_id]
            cases.append(_build_case(opinion, deidentified, context.name, split))
    if not cases:
        raise UserError(f"{path}: no opinion passed the gates; found {dict(cleaning)}.")
    sources = sorted(list_opinion_files(path))
    task = _describe_task(cases, has_recogniser=recogniser is not None)
    return Loaded(cases, task, cleaning=dict(cleaning), sources=sources)


def _describe_task(cases: Sequence[Case], *, has_recogniser: bool) -> Task:
    """Return the task with a note on the de-identification, clustered by court if all courts are
    known.
    """
    method = "by rule (the extra `ner` is not used)"
    if has_recogniser:
        method = "by rule and by a trained recogniser"
    note = (
        f"names and outcome sentences were removed {method}; cases that did not pass the gates are"
        " excluded"
    )
    courts = {case.attributes.get("court", "") for case in cases}
    has_courts = len(courts) > 1 and all(courts)
    return replace(TASK, notes=(note,), cluster="court" if has_courts else "")


def _count_findings(
    cleaning: Counter[str], opinion: "Opinion", deidentified: "DeidentifiedOpinion"
) -> None:
    report = deidentified.report
    cleaning[f"outcome from the {opinion.attributes.get('outcome_from', 'source')}"] += bool(
        opinion.outcome
    )
    for rule in report.party_rules:
        cleaning[f"parties found by {rule}"] += 1
    cleaning["name words checked"] += report.tokens
    cleaning["name words surviving"] += len(report.names)
    cleaning["outcome sentences marked in the source"] += len(opinion.marked_sentences)
    cleaning["outcome sentences surviving"] += len(report.outcomes)
    cleaning["excluded: a gate failed"] += not report.passed
    for reason in report.reasons:
        cleaning[f"excluded for: {reason}"] += 1
    cleaning["excluded: no outcome known"] += not opinion.outcome


def describe_problems(deidentified: "DeidentifiedOpinion") -> str:
    """Describe the findings of the gates in one line with short quotations of the text."""
    findings = [f"name {quote_value(name)}" for name in deidentified.report.names[:3]]
    findings += [
        f"{survivor.reason} {quote_value(survivor.words)}"
        for survivor in deidentified.report.survivors[:3]
    ]
    findings += [
        f"outcome sentence {quote_value(sentence)}" for sentence in deidentified.report.outcomes[:3]
    ]
    return (
        f"the case did not pass the gates: {'; '.join([*findings, *deidentified.report.problems])}."
    )


def _build_case(
    opinion: "Opinion", deidentified: "DeidentifiedOpinion", name: str, split: SplitName
) -> Case:
    return Case(
        opinion.opinion_id,
        name,
        split,
        deidentified.facts,
        target_from_outcome(opinion.outcome),
        TASK.labels,
        {"outcome": opinion.outcome, **opinion.attributes},
        opinion.source_row,
    )


def select_recogniser(options: OpinionsOptions) -> "Recogniser | None":
    """Return the trained recogniser that the options select, or None.

    With `auto` it is used if it is installed. `ner: true` without the extra raises a `UserError`
    when the recogniser is called.
    """
    from moot.studies.appellate.deidentify.recogniser import is_installed, recognise_names

    if options.ner == "auto" and not is_installed():
        return None
    return recognise_names if options.ner else None


@cache
def load_human_statements(case_id: str, bank: str = "") -> Mapping[str, list[str]]:
    """Load the human judge's statements on a case by stance, one per round.

    Args:
        case_id: the case.
        bank: a YAML file, a list of records with `case_id` and `statements`; "" for the sample.

    Returns:
        The statements by stance ("affirm", "not affirm").

    Raises:
        UserError: for a missing file or case, or a stance without statements.
    """
    path = Path(bank) if bank else Path(__file__).resolve().parents[4] / SAMPLE
    try:
        records = load_yaml(
            read_text(path, get="put the bank of statements there, or use `human: ask`.")
        )
        statements = next(
            (record["statements"] for record in records if record["case_id"] == case_id), None
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path}: not a bank of statements ({error}); expected a list of records with case_id"
            " and statements."
        ) from None
    if statements is None:
        raise UserError(
            f"{path}: no statements for case '{case_id}'; add them, or use `human: ask`."
        )
    empty_stances = [stance for stance in (AFFIRM, NOT_AFFIRM) if not statements.get(stance)]
    if empty_stances:
        raise UserError(
            f"{path}: case '{case_id}' has no statements for '{empty_stances[0]}'; expected one per"
            " round."
        )
    texts = dict[str, list[str]]()
    for stance in (AFFIRM, NOT_AFFIRM):
        texts[stance] = [str(text).strip() for text in statements[stance]]
    return texts
