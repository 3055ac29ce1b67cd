"""A frozen plan as a registered report in Markdown, written only from the content of its file."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.core.types import Fields
from moot.jobs.frozen_plans import (
    ANALYSIS_DIGEST,
    CASES,
    CASES_DIGEST,
    CODE_DIGEST,
    PROMPTS_DIGEST,
    FrozenPlan,
)
from moot.report.escaping import markdown
from moot.report.markdown import markdown_table
from moot.scores.contrasts import DIFFER, FIRST_HIGHER, FIRST_LOWER

HYPOTHESES = {
    FIRST_HIGHER: "the first is higher",
    FIRST_LOWER: "the first is lower",
    DIFFER: "they differ",
}
ANALYSIS = (
    "Each comparison has one two-sided test by cluster of cases and a 95 % interval; a case "
    "counts by the mean of its debates. Its hypothesis is supported if p is below 0.05, after "
    "Holm's correction over the comparisons of its study, and the difference lies on the "
    "expected side. If a smallest effect of interest is stated, two one-sided tests show whether "
    "the difference is smaller. All other tests are exploratory."
)
EXCLUSIONS = (
    "No case is left out because of its answers.",
    "Training and validation cases that resemble a test case are not debated.",
    (
        "An unusable answer, and a debate whose calls failed, count as wrong in accuracy and F1. "
        "The difference among usable answers is given as well."
    ),
    "A paired comparison uses the cases that both sides argued.",
)


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs, and a table, which may be empty."""

    heading: str
    paragraphs: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def write_plan_page(frozen: FrozenPlan, differing_parts: Sequence[str]) -> Path:
    """Write a frozen plan's page, `plan-1.md`, and return its path.

    Args:
        frozen: the plan.
        differing_parts: the differences from the plan before, in words.
    """
    lines = [f"# Plan {frozen.number}, frozen at {frozen.frozen_at}"]
    for section in _sections(frozen, differing_parts):
        lines += [f"## {section.heading}", *map(markdown, section.paragraphs)]
        if section.rows:
            lines.append(markdown_table(section.columns, map(_markdown_cells, section.rows)))
    path = frozen.path.with_suffix(".md")
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return path


def _markdown_cells(row: Sequence[str]) -> list[str]:
    """Return the cells of a row in Markdown; `markdown_table` itself escapes the bars."""
    return [markdown(cell).replace("\\|", "|") for cell in row]


def _sections(frozen: FrozenPlan, differing_parts: Sequence[str]) -> Iterator[Section]:
    plan, content = frozen.plan, frozen.content
    contrasts = plan["contrasts"]
    yield Section(
        "Questions",
        [f"{name}: {entry['question'] or 'not stated.'}" for name, entry in contrasts.items()],
    )
    yield Section(
        "Hypotheses and comparisons",
        (),
        (
            "comparison",
            "first",
            "second",
            "metric",
            "hypothesis",
            "cases",
            "smallest effect of interest",
            "study",
        ),
        [_comparison(name, entry) for name, entry in contrasts.items()],
    )
    yield Section(
        "Cases and debates",
        (f"Chosen by the seed {plan['seed']}.",),
        (
            "experiment",
            "data set",
            "split",
            "cases",
            "digest of cases",
            "repeats",
            "protocol",
            "models",
        ),
        [_debates(name, entry) for name, entry in plan["experiments"].items()],
    )
    keys = (PROMPTS_DIGEST, CODE_DIGEST)
    rows = []
    for name, experiment in plan["experiments"].items():
        digests = {key: experiment[key] for key in keys}
        rows.append((name, _settings(experiment["params"] | digests)))
    rows += [(name, _settings(entry)) for name, entry in plan["models"].items()]
    yield Section("Parameters of experiments and models", (), ("name", "parameters"), rows)
    yield Section("Analysis", (ANALYSIS,))
    yield Section("Exclusions", EXCLUSIONS)
    reason = (content["deviation"] or "not given (`deviation`)").rstrip(".")
    history = (
        [f"Changes since the previous plan: {'; '.join(differing_parts)}. Reason: {reason}."]
        if differing_parts
        else []
    )
    plan_digests = f"{ANALYSIS_DIGEST} {plan[ANALYSIS_DIGEST]}; of this plan {content['digest']}"
    versions = f"moot {content['moot_version']}; {plan_digests}."
    yield Section(
        "Before this plan", [f"It was frozen {frozen.replies_before()}.", *history, versions]
    )


def _comparison(name: str, contrast: Fields) -> tuple[str, ...]:
    metric = contrast["metric"] + (
        f" against {contrast['second_metric']}" if contrast["second_metric"] else ""
    )
    filters = []
    for side in ("first", "second"):
        conditions = [f"{key}={value}" for key, value in contrast[f"{side}_cases"].items()]
        if conditions:
            filters.append(f"{side}: {', '.join(conditions)}")
    cases = "; ".join(
        ["cases that both argued" if contrast["paired"] else "different cases", *filters]
    )
    margin = contrast["margin"]
    sides = contrast["first"], contrast["second"]
    return (
        name,
        *sides,
        metric,
        HYPOTHESES[contrast["direction"]],
        cases,
        f"{margin:g}" if margin else "none",
        contrast["study"],
    )


def _debates(name: str, experiment: Fields) -> tuple[str, ...]:
    cases = (
        experiment["dataset"],
        experiment["split"],
        str(experiment[CASES]),
        experiment[CASES_DIGEST],
    )
    return (
        name,
        *cases,
        str(experiment["repeats"]),
        experiment["protocol"],
        ", ".join(experiment["models"]),
    )


def _settings(entry: Fields) -> str:
    settings = {key: value for key, value in entry.items() if value not in (None, "", {}, [])}
    return json.dumps(settings, ensure_ascii=False)
