"""Labels of an experiment's statements by its labelers, the label that counts, and sheets.

People label drawn statements on the sheets.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pandas as pd

from moot.core.artifacts import describe, read_cases, write_frame, write_rows
from moot.core.errors import UserError, unknown_name
from moot.core.log import LOG
from moot.core.rubric import Rubric
from moot.core.schemas import SCHEMAS
from moot.core.types import JsonObject
from moot.labels import ADJUDICATED, HUMAN, JUDGE, RULES, kinds
from moot.labels.sheet_names import key_file, name_sheet
from moot.labels.sheets import FAULTS, SheetContents, blinded, read_annotations, write_sheets
from moot.labels.statements import draw_statements, public_kinds, read_statements, sheet_id
from moot.plan.plan import Plan
from moot.plan.rehearsal import stand_in_endpoints

if TYPE_CHECKING:
    from moot.labels.judge import Judge

ALL_COLUMNS = SCHEMAS["annotations"].names


def labels_by_rules(
    statements: pd.DataFrame, rubric: Rubric, facts: Mapping[str, str]
) -> Iterator[JsonObject]:
    """Yield the labels of every statement by the rubric's rules.

    Args:
        statements: with the columns text and case_id.
        rubric: of the experiment.
        facts: the text of each case.

    Raises:
        UserError: a rule gives a label that is not in the rubric.
    """
    case_facts = [facts.get(case_id, "") for case_id in statements["case_id"]]
    labels = list(map(rubric.apply_rules, statements["text"], case_facts))
    for label, _ in labels:
        if label and label not in rubric.labels:
            raise unknown_name("label", label, rubric.labels, f"labeler '{RULES}'")
    return _label_rows(statements, labels, RULES)


def labels_by_judge(
    plan: Plan, labeler: str, job: "LabelJob", statements: pd.DataFrame, facts: Mapping[str, str]
) -> Iterator[JsonObject]:
    """Return a model's labels of every statement.

    `judge` is the experiment's own model, `judge:NAME` another.
    """
    from moot.labels.judge import judge_statements  # opens endpoints

    judge = make_judge(plan, labeler, job.experiment, job.model, job.threads)
    labels = judge_statements(judge, statements, facts)
    unusable = sum(not label for label, _ in labels)
    if unusable:
        LOG.info(
            "labels by %s: %d of %d replies unusable, left without a label",
            labeler,
            unusable,
            len(labels),
        )
    return _label_rows(statements, labels, labeler)


def _label_rows(
    statements: pd.DataFrame, labels: Sequence[tuple[str, str]], labeler: str
) -> Iterator[JsonObject]:
    for row, (label, evidence) in zip(_records(statements), labels, strict=True):
        if label:
            yield {**row, "label": label, "labeler": labeler, "evidence": evidence}


def make_judge(plan: Plan, labeler: str, experiment: str, model: str, threads: int = 1) -> "Judge":
    """Return the model that a labeler names: `judge:NAME`, or `judge` for the debates' own."""
    from moot.labels.judge import Judge
    from moot.llm.chat import Settings

    config, name = plan.config, labeler.partition(":")[2] or model
    return Judge(
        name,
        config.models[name],
        plan.experiments[experiment].prompts,
        rubric_of(plan, experiment),
        config.ledger,
        Settings(config.replay, config.budget, threads, stand_in_endpoints(config)),
        config.seed,
    )


def calls_of_labels(
    plan: Plan, experiment: str, model: str, cases: Path, shards: Sequence[Path]
) -> set[str]:
    """Return the call ids of all labels that models give to an experiment's statements."""
    from moot.labels.judge import label_calls

    statements = statements_of(plan, experiment, shards)
    facts = {case.case_id: case.text for case in read_cases(cases)[0]}
    judges = list_judges(plan, experiment, model)
    calls = (label_calls(judge, statements, facts) for judge in judges)
    return set[str]().union(*calls)


def list_judges(plan: Plan, experiment: str, model: str) -> list["Judge"]:
    """Return the models that label the statements of an experiment's debates by a model."""
    return [
        make_judge(plan, labeler, experiment, model)
        for labeler in plan.experiments[experiment].config.labelers
        if labeler.partition(":")[0] == JUDGE
    ]


def labels_by_people(statements: pd.DataFrame, annotations: pd.DataFrame) -> Iterator[JsonObject]:
    """Yield the labels of annotators and of those who decide between them, one row each."""
    by_item = statements.set_index("item", drop=False)
    for row in _records(annotations):
        if row["item"] in by_item.index:
            evidence = f"{Path(row['file']).name}, row {row['row']}"
            statement = {str(name): value for name, value in by_item.loc[row["item"]].items()}
            labeler = f"{row['kind']}:{row['annotator']}"
            yield {**statement, "label": row["label"], "labeler": labeler, "evidence": evidence}


def effective_labels(labels: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Return one label for each statement, by the first kind of labeler in `order` that has one.

    Several annotators decide by majority; if they are split, the alphabetically first label counts.
    A person who decided between them has priority.
    """
    rank = {kind: float(number) for number, kind in enumerate(order)}
    rank[ADJUDICATED] = rank.get(HUMAN, float(len(rank))) - 0.5
    labels = labels.assign(rank=kinds(labels["labeler"]).map(rank).fillna(len(rank)))
    preferred_labels = labels[
        labels["rank"] == labels.groupby(["debate_id", "turn"])["rank"].transform("min")
    ]
    votes = preferred_labels.groupby(["debate_id", "turn", "label"])["labeler"].transform("size")
    ordered = preferred_labels.assign(votes=votes).sort_values(
        ["debate_id", "turn", "votes", "labeler"], ascending=[True, True, False, True]
    )
    return ordered.drop_duplicates(["debate_id", "turn"]).drop(columns=["rank", "votes"])


def rubric_of(plan: Plan, experiment: str) -> Rubric:
    """Return the rubric for an experiment's statements.

    Raises:
        UserError: the experiment has no labelers.
    """
    if rubric := plan.rubric(experiment):
        return rubric
    raise UserError(
        f"experiments.{experiment}: no labeler is named for its statements; add `labelers`."
    )


def statements_of(plan: Plan, experiment: str, shards: Sequence[Path]) -> pd.DataFrame:
    """Return the statements of an experiment's transcripts that are labelled.

    Raises:
        UserError: there are utterances, but none of the kinds that the rubric covers.
    """
    rubric = rubric_of(plan, experiment)
    statements = read_statements(shards, rubric.utterance_kinds)
    if statements.empty and (kinds := public_kinds(shards)):
        about = (
            f"the kinds {', '.join(rubric.utterance_kinds)}"
            if rubric.utterance_kinds
            else "a kind that gives no answer"
        )
        raise UserError(
            f"experiments.{experiment}.rubric: found no utterances of {about}; found: "
            f"{', '.join(kinds)}. Name those to be labelled under `utterance_kinds` of the "
            "rubric, or leave `labelers` out."
        )
    return statements


def known_items(
    plan: Plan, shards_of: Mapping[tuple[str, str], Sequence[Path]]
) -> dict[str, SheetContents]:
    """Return the possible contents of the run's sheets, by the first part of blind ids.

    Experiments without transcripts have no ids.
    """
    return {
        sheet_id(experiment, model): SheetContents(
            set(read_statements(shards, rubric.utterance_kinds)["item"]) if shards else set(),
            tuple(rubric.labels),
        )
        for (experiment, model), shards in shards_of.items()
        if (rubric := plan.rubric(experiment))
    }


@dataclass(frozen=True)
class LabelJob:
    """The task and the inputs of one labelling job.

    Attributes:
        experiment, model: names in the configuration.
        cases: `cases/{dataset}.parquet`.
        shards: the transcripts of every labelled experiment and model, since an annotation file may
            cover all of them.
        annotations: files that people filled in.
        threads: for an embedded model that judges.
    """

    experiment: str
    model: str
    cases: Path
    shards: Mapping[tuple[str, str], Sequence[Path]]
    annotations: Sequence[Path] = ()
    threads: int = 1


def label_all(plan: Plan, job: LabelJob) -> tuple[pd.DataFrame, list[str]]:
    """Return the labels of every labeler: one row per statement and labeler.

    The columns are `ALL_COLUMNS`.

    Returns:
        The labels, and the faults in the annotation files. A faulty row does not affect other rows.

    Raises:
        UserError: an unknown labeler, or no label at all.
    """
    rubric = rubric_of(plan, job.experiment)
    statements = statements_of(plan, job.experiment, job.shards[job.experiment, job.model])
    facts = {case.case_id: case.text for case in read_cases(job.cases)[0]}
    rows: list[JsonObject] = []
    for labeler in plan.experiments[job.experiment].config.labelers:
        kind = labeler.partition(":")[0]
        if kind == JUDGE:
            rows += labels_by_judge(plan, labeler, job, statements, facts)
        elif kind != HUMAN:
            rows += labels_by_rules(statements, rubric, facts)
    annotations, faults = read_annotations(job.annotations, known_items(plan, job.shards))
    rows += labels_by_people(statements, annotations)
    if not rows and len(statements):
        raise UserError(
            "\n".join(
                [
                    (
                        f"experiments.{job.experiment}.labelers: no statement got a label; name"
                        " `rules` or `judge`, or fill in a sheet (`snakemake annotation_sheets`"
                        " writes it)."
                    ),
                    *faults,
                ]
            )
        )
    labels = pd.DataFrame(rows, columns=ALL_COLUMNS)
    labels["code"] = labels["label"].map(rubric.numbers)
    return labels.sort_values(["debate_id", "turn", "labeler"], ignore_index=True), faults


def label_statements(
    plan: Plan, job: LabelJob, output: Path, all_labels: Path, **digests: str
) -> None:
    """Label an experiment's statements; write the labels that count and every labeler's labels.

    Args:
        plan: the checked configuration.
        job: the job.
        output: `labels/{experiment}/{model}.parquet`; the faults in annotation files are in its
            metadata as `FAULTS`.
        all_labels: `annotations/{experiment}/{model}.parquet`, one row per labeler and statement.
        digests: the job's digests, for the artifacts' metadata.
    """
    labels, faults = label_all(plan, job)
    if faults:
        LOG.warning(
            "annotations: %d faults, which are listed at the end of the run; the other rows count",
            len(faults),
        )
    sources = [
        job.cases,
        *chain.from_iterable(job.shards.values()),
        *job.annotations,
    ]
    described = describe(job.experiment, sources, **{FAULTS: json.dumps(faults)}, **digests)
    write_frame(all_labels, "annotations", labels, described)
    label_rows = effective_labels(labels, plan.config.annotations)
    write_rows(output, "labels", _records(label_rows), described)


def _records(frame: pd.DataFrame) -> list[JsonObject]:
    rows_with_none = frame.astype(object).where(frame.notna(), None)
    return cast("list[JsonObject]", rows_with_none.to_dict("records"))


def write_drawn_sheet(
    plan: Plan, experiment: str, model: str, cases: Path, shards: Sequence[Path], folder: Path
) -> list[Path]:
    """Draw `annotation_sample` statements, and write a sheet of those that no sheet has yet.

    Args:
        plan: the checked configuration.
        experiment, model: names in it.
        cases: `cases/{dataset}.parquet`.
        shards: the transcripts.
        folder: of the sheets, which outlast `results/`.

    Returns:
        The sheet and its tasks.
    """
    config = plan.config
    statements = statements_of(plan, experiment, shards)
    drawn = draw_statements(statements, config.annotation_sample, config.seed)
    facts = {case.case_id: case.text for case in read_cases(cases)[0]}
    name = name_sheet(folder, plan.experiments[experiment].study, experiment, model)
    paths = write_sheets(
        blinded(drawn, facts, config.seed),
        folder,
        sheet_id(experiment, model),
        rubric_of(plan, experiment),
    )
    LOG.info(
        "%d of %d statements drawn; sheets: %s; for labelers: %s; which experiment it is: %s",
        len(drawn),
        len(statements),
        folder,
        name,
        key_file(folder),
    )
    return paths
