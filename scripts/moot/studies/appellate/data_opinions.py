"""Appellate opinions: five paraphrased federal cases, or full texts that are de-identified here.

The task is the appellate study's: is the decision under review upheld? Whether the court affirmed,
reversed, did both or dismissed, and who dissented, are attributes for scoring alone.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import Field

from moot.core.cases import Case, Split, Task, stratified_splits
from moot.core.errors import UserError
from moot.core.input_files import quoted, read_text
from moot.core.yaml_text import load_yaml
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset

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
            "for local: a file or folder below data_root (.jsonl of texts or of CAP records, .json,"
            " .txt)"
        ),
    )
    max_characters: int = Field(
        2000,
        ge=500,
        description=(
            "most characters of facts that a case keeps, in whole sentences; longer ones tell the"
            " outcome"
        ),
    )
    ner: bool | Literal["auto"] = Field(
        "auto",
        description=(
            "look for names with Presidio and spaCy, too (the extra `ner`): auto is where they are"
            " installed"
        ),
    )
    failed_cases: Literal["exclude", "error"] = Field(
        "exclude",
        description=(
            "what becomes of a case that does not pass the gates; excluded cases are counted"
        ),
    )

    def own_files(self, data_root: Path) -> tuple[Path, ...]:
        """The file or folder of opinions."""
        return (data_root / self.path,)


def target_from_outcome(outcome: str) -> str:
    """Whether the decision is upheld: affirmed, or the appeal dismissed; after a mixed outcome it
    does not.
    """
    return AFFIRM if outcome in ("affirm", "dismiss") else NOT_AFFIRM


@dataset("opinions", OpinionsOptions, labels=TASK.labels)
def load(options: OpinionsOptions, context: LoadContext) -> Loaded:
    """Cases of the sample, or of local opinions, de-identified.

    Raises:
        UserError: for a missing or malformed file, an empty or oversized opinion, an outcome that
            is none, and, with `failed_cases: error`, for a case that did not pass the gates.
    """
    if options.source == "sample":
        return _sample(context)
    if options.source == "local":
        return _local(options, context)
    raise UserError(
        f"data set '{context.name}': source '{options.source}' is not known to opinions; expected"
        " sample or local. Download opinions from static.case.law, put them below data_root and"
        " use local."
    )


def _sample(context: LoadContext) -> Loaded:
    cases = []
    for record in load_yaml((context.shipped / SAMPLE).read_text(encoding="utf-8")):
        attributes = {
            name: str(record[name]) for name in ("number", "outcome", "votes", "dissent", "source")
        }
        told, target = record["facts"], target_from_outcome(record["outcome"])
        case_id, number = record["case_id"], record["number"]
        cases.append(
            Case(case_id, context.name, "test", told, target, TASK.labels, attributes, number)
        )
    notes = (
        (
            "five cases paraphrased by us after the study and the public record; with five cases no"
            " interval over cases is narrow"
        ),
    )
    return Loaded(cases, replace(TASK, notes=notes), sources=[context.shipped / SAMPLE])


def _local(options: OpinionsOptions, context: LoadContext) -> Loaded:
    from moot.studies.appellate.deidentify import deidentify
    from moot.studies.appellate.deidentify.reading import (
        list_opinion_files,
        read_opinions,
    )  # slow: patterns are compiled

    cleaning: Counter[str] = Counter()
    cases: list[Case] = []
    path = context.data_root / options.path
    opinions = list(read_opinions(path))
    recognise = recogniser_for(options)
    finished = [
        (opinion, deidentify(opinion, options.max_characters, recognise)) for opinion in opinions
    ]
    passed = [opinion for opinion, done in finished if done.report.passed and opinion.outcome]
    splits = stratified_splits(
        {o.opinion_id: target_from_outcome(o.outcome) for o in passed}, context.seed
    )
    for opinion, done in finished:
        cleaning["opinions read"] += 1
        cleaning["opinions read by the trained recogniser"] += recognise is not None
        _count(cleaning, opinion, done)
        if not done.report.passed and options.failed_cases == "error":
            raise UserError(
                f"data set '{context.name}', record {opinion.source_row}: {describe_problems(done)}"
                " Use failed_cases: exclude."
            )
        if opinion.opinion_id in splits:
            cases.append(_case(opinion, done, context.name, splits[opinion.opinion_id]))
    if not cases:
        raise UserError(f"{path}: no opinion passed the gates; found {dict(cleaning)}.")
    how = (
        "by rule and by a trained recogniser"
        if recognise
        else "by rule (the extra `ner` is not used)"
    )
    notes = (
        (
            f"names and outcome sentences were taken out {how}; cases that did not pass the gates"
            " are left out"
        ),
    )
    courts = {case.attributes.get("court", "") for case in cases}
    task = replace(TASK, notes=notes, cluster="court" if len(courts) > 1 and all(courts) else "")
    return Loaded(cases, task, cleaning=dict(cleaning), sources=sorted(list_opinion_files(path)))


def _count(cleaning: Counter[str], opinion: "Opinion", done: "DeidentifiedOpinion") -> None:
    report = done.report
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


def describe_problems(done: "DeidentifiedOpinion") -> str:
    """What the gates found, in one line, with no more of the text than shows it."""
    found = [f"name {quoted(name)}" for name in done.report.names[:3]]
    found += [
        f"{survivor.reason} {quoted(survivor.words)}" for survivor in done.report.survivors[:3]
    ]
    found += [f"outcome sentence {quoted(sentence)}" for sentence in done.report.outcomes[:3]]
    return f"the case did not pass the gates: {'; '.join([*found, *done.report.problems])}."


def _case(opinion: "Opinion", done: "DeidentifiedOpinion", name: str, split: Split) -> Case:
    attributes, target = (
        {"outcome": opinion.outcome, **opinion.attributes},
        target_from_outcome(opinion.outcome),
    )
    return Case(
        opinion.opinion_id,
        name,
        split,
        done.facts,
        target,
        TASK.labels,
        attributes,
        opinion.source_row,
    )


def recogniser_for(options: OpinionsOptions) -> "Recogniser | None":
    """The trained recogniser that the options ask for; for `auto` the one that is installed, if
    any.

        Raises:
            UserError: `ner: true` without the extra.
    """
    from moot.studies.appellate.deidentify.recogniser import is_installed, recognise_names

    if options.ner == "auto" and not is_installed():
        return None
    return recognise_names if options.ner else None


# The human's statements


@cache
def human_statements(case_id: str, bank: str = "") -> Mapping[str, list[str]]:
    """The human judge's statements on a case, by stance (`affirm`, `not affirm`), one a round.

    Args:
        case_id: the case.
        bank: a YAML file of the user's own, a list of records with `case_id` and `statements`; ""
            for the sample's.

    Raises:
        UserError: no such file or case, or a stance without statements.
    """
    path = Path(bank) if bank else Path(__file__).resolve().parents[4] / SAMPLE
    try:
        records = load_yaml(
            read_text(path, get="put the bank of statements there, or use `human: ask`.")
        )
        found = next(
            (record["statements"] for record in records if record["case_id"] == case_id), None
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as fault:
        raise UserError(
            f"{path}: not a bank of statements ({fault}); expected a list of records with case_id"
            " and statements."
        ) from None
    if found is None:
        raise UserError(
            f"{path}: no statements for case '{case_id}'; add them, or use `human: ask`."
        )
    empty = [stance for stance in (AFFIRM, NOT_AFFIRM) if not found.get(stance)]
    if empty:
        raise UserError(
            f"{path}: case '{case_id}' has no statements for '{empty[0]}'; expected one a round."
        )
    return {
        stance: [str(text).strip() for text in found[stance]] for stance in (AFFIRM, NOT_AFFIRM)
    }
