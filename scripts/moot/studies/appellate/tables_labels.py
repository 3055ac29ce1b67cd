"""Tables of the labels themselves: how often each was given, and how far those who gave them agree."""

from collections.abc import Iterator

from moot.core.types import JsonObject
from moot.labels import ADJUDICATED, kinds
from moot.labels.agreement import annotator_agreement
from moot.report import table
from moot.report.columns import Columns
from moot.report.content import StudyResults, TableContent
from moot.report.published import Measured
from moot.studies.appellate.legal.rubric import LABELS
from moot.studies.appellate.phases import STUDY, Phase, list_phases
from moot.studies.appellate.rows import BY_CASE_NOTE, CAPTION, KEYS, corrected_score, named, phase_score, with_corrected


@table(
    STUDY, "label_shares", "Shares of labels",
    "How often statements got each label of the rubric, by phase, model, round and the human's stance."
    + CAPTION.format(raw="Raw"),
)  # fmt: skip
def label_shares(results: StudyResults) -> TableContent:
    """Each label's share of the statements of the panels' rounds."""
    rows: list[JsonObject] = []
    corrected: list[Measured] = []
    for phase in list_phases(results):
        for group, of in _groups(phase):
            for label in LABELS:
                named_group = f"label={label};{group}" if group else f"label={label}"
                raw = phase_score(results, phase, "label_share", named_group)
                corrected.append(corrected_score(results, phase, "label_share", named_group))
                values = {"raw": raw.interval, "cases": (raw.n_cases, raw.n)}
                rows.append({**named(phase), "statements": of, "label": label, **values})
    columns = Columns().keys(*KEYS, "statements").plain("label").ours("raw").interval("raw", "raw interval", role="")
    notes = (BY_CASE_NOTE, "`n` counts statements; one that is missing has the label NONE.")
    columns = columns.counts("cases", "n").short_form("phase", "model", "statements", "label", "raw", "raw interval")
    content = columns.table(rows, notes)
    return with_corrected(content, corrected, raw="raw")


def _groups(phase: Phase) -> Iterator[tuple[str, str]]:
    yield "", "all"
    for number in range(1, phase.rounds + 1):
        yield f"round={number}", f"round {number}"
    for condition in sorted(set(phase.steps["condition"]) - {""}):
        yield f"condition={condition}", f"human: {condition}"


@table(
    STUDY, "agreement", "Agreement of labellers and annotators",
    "Cohen's kappa of each pair and Krippendorff's alpha over all who labelled statements, for labels and for "
    "binary codes.",
)  # fmt: skip
def agreement_of_labels(results: StudyResults) -> TableContent:
    """How far rules, models and people agree on the statements of each experiment, before anyone decides."""
    columns = (
        Columns().keys("experiment", "of").plain("measure", "labelers").ours("value").interval(role="").counts("n")
    )
    rows: list[JsonObject] = []
    for experiment in dict.fromkeys(phase.results for phase in list_phases(results)):
        labels = experiment.annotations.assign(code=experiment.annotations["code"].astype(str))
        labels = labels[kinds(labels["labeler"]) != ADJUDICATED]
        for of, column in (("label", "label"), ("code", "code")):
            found = annotator_agreement(labels, experiment.seed, column, experiment.clusters)
            for row in found.itertuples():
                values = (row.measure, row.labelers, row.value, row.ci_low, row.ci_high, row.n)
                rows.append({"experiment": (experiment.experiment, of, *values)})
    notes = ["Intervals by case. Decisions between annotators do not count here."]
    notes += (
        [] if rows else ["Only one labeller labelled each statement: add `judge` to `labelers`, or fill in a sheet."]
    )
    return columns.table(rows, notes)
