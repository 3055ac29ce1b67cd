"""The page docs/claims.md: each claim with the commands that test it and their measured answers."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from moot.report import TABLES
from moot.report.markdown import markdown_table
from moot.report.published import read_published
from moot.report.published_claims import Claim, read_claims
from moot.report.study_results import StudyResults
from moot.scores import no_scores

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "data" / "measured"
QUESTIONS = "comparison/questions"


def render_page() -> str:
    """Return the page with all claims, numbered in the order of their file."""
    measured = pd.read_csv(MEASURED / "claims.csv", keep_default_na=False)
    answers = pd.read_csv(MEASURED / "claims_answers.csv", keep_default_na=False)
    parts = []
    for number, claim in enumerate(read_claims(ROOT / "data/published/claims.csv"), start=1):
        parts += [
            f"## {number}. {claim.question.replace('{votes}', 'many')}",
            _describe_claim(claim),
        ]
        tests = measured[
            (measured["question"] == claim.question) & (measured["source"] == claim.source)
        ]
        for test in tests.to_dict("records"):
            test_answers = answers[
                (answers["question"] == claim.question)
                & (answers["configuration"] == test["configuration"])
            ]
            parts += _describe_test(claim, test, test_answers)
        if tests.empty:
            parts.append("No configuration that ships tests it.")
    return "\n\n".join(parts)


def command(claim: Claim, test: Mapping[Any, Any]) -> str:
    """Return the command that tests a claim, in an empty folder or in the project's folder."""
    table = QUESTIONS if claim.statistic else claim.see
    files = f" --configfile {test['configuration']}" if test["configuration"] else ""
    return (
        f"snakemake --cores 2 results/tables/{table}.csv{files} --config"
        f' "run=[{test["run"].replace(" ", ",")}]"'
    )


@cache
def shows_published(table: str) -> bool:
    """Return whether a table shows published values next to the values of a run."""
    published = read_published(ROOT / "data/published/published_results.csv")
    empty = StudyResults(table.partition("/")[0], {}, no_scores(), {}, published)
    return any(column.name == "published" for column in TABLES[table].build(empty).columns)


def _describe_claim(claim: Claim) -> str:
    published = (
        "Nothing is published"
        if claim.source.startswith("moot")
        else f"Published answer: {claim.claim.rstrip('.')} ({claim.source})"
    )
    if not claim.statistic:
        has_published = shows_published(claim.see)
        values = "published values and values of the run" if has_published else "values of the run"
        return f"{published}. No single number judges it; the table `{claim.see}` has {values}."
    return (
        f"{published}. The claim is `supported` if this value lies {claim.support_range}:"
        f" {claim.description}."
    )


def _describe_test(claim: Claim, test: Mapping[Any, Any], answers: pd.DataFrame) -> Iterator[str]:
    yield f"```bash\n{command(claim, test)}\n```"
    data = f"Data: {test['data']}."
    if test["minutes"]:
        yield (
            f"{data} No model is asked. The command takes {float(test['minutes']):.1f} minutes of"
            " processor time. Expected answers:"
        )
        yield markdown_table(
            ("model", "answer", "this run", "95 % interval", "cases"),
            [
                (
                    row["model"],
                    row["answer"],
                    _number(row["this run"]),
                    _interval(row),
                    f"{float(row['cases']):.0f}",
                )
                for row in answers.to_dict("records")
            ],
        )
        return
    yield f"{data} Models: {', '.join(test['models'].split())}. {_cost(test)}"
    yield "The command has not been run, so its duration is unknown. " + (
        f"The published value is {claim.published:g}."
        if claim.published == claim.published
        else "No single value is published."
    )


def _cost(test: Mapping[Any, Any]) -> str:
    """Return the cost of the calls in words, from a preview of all of them."""
    if not test["calls_to_make"]:
        return (
            "The data were not available when this page was made; `snakemake preview` computes the"
            " cost."
        )
    calls, prompt_tokens, completion_tokens = (
        float(test[name]) for name in ("calls_to_make", "prompt_tokens", "completion_tokens")
    )
    note = f" {test['note']}" if test["note"] else ""
    return (
        f"By `preview` it costs at most US$ {float(test['usd']):,.2f} (models on your own server"
        f" have no price): {calls:,.0f} calls, {prompt_tokens / 1e6:,.1f} million prompt tokens,"
        f" and at most {completion_tokens / 1e6:,.1f} million generated tokens.{note}"
    )


def _number(value: object) -> str:
    return f"{float(str(value)):.3f}"


def _interval(row: Mapping[Any, Any]) -> str:
    return f"[{_number(row['95 % low'])}, {_number(row['95 % high'])}]"
