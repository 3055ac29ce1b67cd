"""Write docs/claims.md: `python benchmarks/run.py claims.py [DATA [DELIDATA]]`.

With both folders the script measures all claims again. With DATA alone it counts the calls of
claims that have no row yet.

For each claim it takes the smallest set of experiments that judges the claim. Snakemake builds
recorded experiments in a separate folder, and the script records their answers and processor time.
For experiments that ask models, `preview` counts calls and dollars. DATA has the layout of
data/raw/README.md, DELIDATA the files of DeliData. data/measured/claims.csv has a row for each
claim and configuration that tests it, data/measured/claims_answers.csv one for each answer.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import yaml
from claims_page import MEASURED, ROOT, render_page

from moot.commands.preview import preview_rows
from moot.commands.reference import with_part
from moot.core.experiment_config import RECORDED
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.core.types import JsonObject
from moot.plan.plan import Plan
from moot.report.published_claims import Claim, Selector, read_claims

CONFIG, PAGE = ROOT / "config", ROOT / "docs" / "claims.md"
DEFAULTS = default_files(ROOT)
SHIPPED, COLLECTIONS = "", "config/collections.yaml"
PAPER = "config/papers/*.yaml config/beyond.yaml"
SIDE_BY_SIDE = {
    "courtroom/stability": (
        "paper-courtroom",
        "paper-zero-shot",
        "paper-cot",
        "paper-n-shot-cot",
    ),
    "courtroom/rankings": ("paper-courtroom", "paper-zero-shot", "paper-cot", "paper-n-shot-cot"),
    "courtroom/cost_ratios": ("paper-courtroom", "paper-cot"),
    "courtroom/calibration": ("paper-courtroom", "paper-zero-shot"),
    "courtroom/trained_and_language": ("paper-courtroom", "paper-zero-shot"),
    "courtroom/table6_commercial": (
        "paper-zero-shot-commercial",
        "paper-cot-commercial",
        "paper-n-shot-cot-commercial",
    ),
    "feedback/table5_smoothing": ("paper-feedback-single-caselaw",),
    "conference/judge_difference": ("paper-conference", "paper-conference-without-judge"),
    "conference/objective_and_grades": ("paper-agreement-pairs", "paper-conference-judges"),
    "conference/table5_agreement_detection": ("paper-conference-judges",),
    "stance/contrasts": ("paper-polarity-claims",),
    "appellate/structure": ("paper-multiagent-panel", "paper-human-ai-panel"),
}
"""The experiments behind the tables of claims that no single number judges."""
LOCAL = {
    SHIPPED: (),
    COLLECTIONS: (),
    PAPER: (
        "paper-nlsy97",
        "paper-vast-nearest",
        "paper-claim-stance",
        "paper-claim-polarity",
        "paper-agreement",
        "paper-cail18",
    ),
}
"""The data sets that are read from DATA instead of being downloaded."""
CASELAW = "caselaw/trial_prediction.jsonl"
TESTED_AT_HAND = 200
"""Cases of CaseLaw that replace its missing test file; the others are for training."""
SAMPLED = {"cases": 20, "calibration_cases": 2}
SCALES = {
    ("paper-caselaw", "train"): 850 / 22,
    ("paper-caselaw", "test"): 2000 / 20,
    ("cail18", "train"): 700 / 22,
    ("cail18", "test"): 717 / 20,
}
"""Cases in Debate-Feedback's design per counted case, by data set and split.

Calibration cases count as training cases; the authors' script tests 2,000 cases of CaseLaw.
"""
SCALE_NOTE = "Counted on 20 cases, and scaled to all."
COSTS = ["calls_to_make", "prompt_tokens", "completion_tokens", "usd"]
ANSWERS = ["model", "answer", "this run", "95 % low", "95 % high", "cases"]


def configuration_files(patterns: str) -> list[Path]:
    """Return the files of the project that match patterns, which spaces separate."""
    files = []
    for pattern in patterns.split():
        files += sorted(ROOT.glob(pattern))
    return files


def configuration(name: str, run: list[str], over: JsonObject) -> Plan:
    """Return the plan of a file over the default configuration, with `run`."""
    files = [*DEFAULTS, *configuration_files(name)]
    return Plan.from_yaml(merge_over_defaults({**over, "run": run}, files), ROOT, files)


def matching_experiments(
    plan: Plan, claim: Claim, side: tuple[Selector, ...], candidates: Sequence[str]
) -> list[str]:
    """Return the candidates that match a side of a claim."""
    return [name for name in candidates if claim.matches_side(side, plan.view(name), "")]


def experiments_judging(plan: Plan, claim: Claim, asks: bool) -> list[str]:
    """Return the first experiments of a plan, one for each side, that judge a claim.

    With `asks` these are experiments that call models, otherwise recorded ones.
    """
    if not claim.statistic:
        names = SIDE_BY_SIDE[claim.see] if asks else ()
        return [name for name in names if name in plan.experiments]
    candidates = [
        name
        for name, experiment in plan.experiments.items()
        if (experiment.config.source != RECORDED) == asks
    ]
    sides = [
        matching_experiments(plan, claim, side, candidates)
        for side in (claim.first, claim.second)
        if side
    ]
    for names in product(*sides):
        views = [plan.view(name) for name in names]
        shared = set.intersection(*(set(view.models) for view in views))
        if shared and len({view.dataset for view in views}) == 1:
            return list(names)
    return []


def with_needed(plan: Plan, names: list[str]) -> list[str]:
    """Return experiments together with the experiments on whose debates they depend."""
    experiments = list(names)
    for name in experiments:  # the loop adds the needed names to the list
        for path in sorted(plan.experiments[name].needs.values()):
            source = Path(path).parts[1].removesuffix(".parquet")
            if source in plan.experiments and source not in experiments:
                experiments.append(source)
    return experiments


def run_snakemake(
    targets: list[str], config_files: list[Path], run: list[str], folder: Path
) -> None:
    """Build targets in a folder with some configuration files and the key `run`."""
    command: list[str | Path] = [
        sys.executable,
        *("-m", "snakemake", *targets),
        *("--snakefile", str(ROOT / "Snakefile"), "--cores", "2", "--workflow-profile", "none"),
        "--configfile",
        *config_files,
        *("--config", f"run=[{','.join(run)}]"),
    ]
    subprocess.run(command, cwd=folder, check=True)


def answer_claim(
    file: str, run: list[str], claim: Claim, place: Path, over: Path
) -> tuple[pd.DataFrame, float]:
    """Return the answers that a build of recorded experiments gives, one row per model, and the
    build's minutes of processor time.
    """
    target = "results/tables/comparison/questions.csv"
    if not (place / target).exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / "delidata").symlink_to(over.parent / "delidata")
        files = [*configuration_files(file), over]
        start_times = os.times()
        run_snakemake([target], files, run, place)
        end_times = os.times()
        minutes = (
            end_times.children_user
            + end_times.children_system
            - start_times.children_user
            - start_times.children_system
        ) / 60
        (place / "minutes").write_text(str(minutes))
    rows = pd.read_csv(place / target)
    is_claim = rows["question"].str.startswith(claim.question.partition("{")[0])
    rows = rows[is_claim & (rows["source"] == claim.source) & rows["model"].notna()]
    return rows, float((place / "minutes").read_text())


def preview_costs(run: list[str], folder: Path, over: Path) -> pd.DataFrame:
    """Return the calls and costs of the paper's experiments, one row per experiment and model."""
    plan = configuration(PAPER, run, yaml.safe_load(over.read_text()))
    targets = [f"results/cases/{name}.parquet" for name in plan.datasets_used]
    run_snakemake(targets, [*configuration_files(PAPER), over], run, folder)
    os.chdir(folder)
    rows = pd.DataFrame(preview_rows(plan, folder / "results"))
    configs = [plan.experiments[name].config for name in rows["experiment"]]
    scales = [SCALES.get((config.dataset, config.split), 1.0) for config in configs]
    for column in COSTS:
        rows[column] = rows[column] * scales
    return rows


def write_overs(data: Path, folder: Path) -> dict[str, Path]:
    """Write a file for each configuration that makes it read data from DATA."""
    lines = (data / CASELAW).read_text("utf-8").splitlines(keepends=True)
    files = {
        "train": ("train.jsonl", lines[:-TESTED_AT_HAND]),
        "test": ("test.jsonl", lines[-TESTED_AT_HAND:]),
    }
    for name, part in files.values():
        (folder / name).write_text("".join(part), "utf-8")
    caselaw = {split: str(folder.resolve() / name) for split, (name, _) in files.items()}
    overs = {file: folder / f"over{number}.yaml" for number, file in enumerate(LOCAL)}
    for file, over in overs.items():
        local: JsonObject = {name: {"source": "local"} for name in LOCAL[file]}
        content: JsonObject = {"data_root": str(data.resolve()), "datasets": local}
        if file == PAPER:
            local["paper-caselaw"] = {"source": "local", "files": caselaw}
            content["experiments"] = sampled_experiments()
        over.write_text(yaml.safe_dump(content))
    return overs


def sampled_experiments() -> JsonObject:
    """Return the experiments of which only few cases are counted, with their numbers of cases.

    They have no assistant: it would have to be trained first, and it makes no calls itself.
    """
    paper = yaml.safe_load((CONFIG / "papers" / "feedback.yaml").read_text("utf-8"))
    entries: JsonObject = {}
    for name, entry in paper["experiments"].items():
        if (entry["dataset"], entry.get("split", "test")) in SCALES:
            counts = {key: SAMPLED[key] for key in ("cases", *entry) if key in SAMPLED}
            has_assistant = "assistant" in entry.get("params", {})
            entries[name] = {**counts, **({"params": {"assistant": ""}} if has_assistant else {})}
    return entries


def describe_row(plan: Plan, claim: Claim, file: str, run: list[str]) -> JsonObject:
    """Return the cells of a row that need no measurement."""
    configs = [plan.experiments[name].config for name in run]
    sources = [f"{config.dataset} ({plan.datasets[config.dataset].source})" for config in configs]
    models = dict[str, None]()
    for config in configs:
        models |= dict.fromkeys(config.models)
    is_scaled = any((config.dataset, config.split) in SCALES for config in configs)
    return {
        "source": claim.source,
        "question": claim.question,
        "configuration": file,
        "run": " ".join(run),
        "data": ", ".join(dict.fromkeys(sources)),
        "models": " ".join(models),
        "note": SCALE_NOTE if is_scaled and file == PAPER else "",
    }


def costs_of(costs: pd.DataFrame, run: list[str]) -> JsonObject:
    """Return the total costs of some experiments.

    A preview counts a shared call only once, and experiments with an assistant share calls with
    those without one. Therefore the rows of both are added up.
    """
    twins = [name.replace("-feedback-assistant-", "-feedback-single-") for name in run]
    rows = costs[costs["experiment"].isin([*run, *twins])]
    return {column: float(rows[column].sum()) for column in COSTS}


def count_missing(data: Path, folder: Path) -> Iterator[JsonObject]:
    """Yield a row for each claim that experiments of the papers test and that has no row yet."""
    rows = pd.read_csv(MEASURED / "claims.csv", keep_default_na=False)
    known_claims = set(zip(rows["source"], rows["question"], strict=True))
    over = write_overs(data, folder)[PAPER]
    plan = configuration(PAPER, ["paper-*"], {})
    runs: list[tuple[Claim, list[str]]] = []
    for claim in read_claims(ROOT / "data/published/claims.csv"):
        if (claim.source, claim.question) not in known_claims:
            run = with_needed(plan, experiments_judging(plan, claim, asks=True))
            runs += [(claim, run)] if run else []
    names = sorted(set().union(*(run for _, run in runs)))
    costs = preview_costs(names, folder, over)
    for claim, run in runs:
        yield describe_row(plan, claim, PAPER, run) | costs_of(costs, run)


def measure(
    data: Path, delidata: Path, folder: Path
) -> Iterator[tuple[JsonObject, list[JsonObject]]]:
    """Yield a row for each claim and configuration that tests it, with its answers."""
    (folder / "delidata").symlink_to(delidata.resolve())
    overs = write_overs(data, folder)
    plans = {
        name: configuration(name, ["paper-*" if name == PAPER else "*"], {})
        for name in (SHIPPED, COLLECTIONS, PAPER)
    }
    claims = list(read_claims(ROOT / "data/published/claims.csv"))
    experiments_by_claim = {}
    previewed_names = set[str]()
    for (number, claim), (name, plan) in product(enumerate(claims), plans.items()):
        run = with_needed(plan, experiments_judging(plan, claim, name == PAPER))
        experiments_by_claim[number, name] = run
        if name == PAPER:
            previewed_names |= set(run)
    costs = preview_costs(sorted(previewed_names), folder, overs[PAPER])
    for number, claim in enumerate(claims):
        for file in (SHIPPED, COLLECTIONS, PAPER):
            run = experiments_by_claim[number, file]
            if not run or (file == COLLECTIONS and experiments_by_claim[number, SHIPPED]):
                continue
            row = describe_row(plans[file], claim, file, run)
            if file == PAPER:
                yield row | costs_of(costs, run), []
                continue
            answer_rows, minutes = answer_claim(
                file, run, claim, folder / "-".join(run), overs[file]
            )
            row |= {
                "calls_to_make": 0,
                "prompt_tokens": 0,
                "completion_tokens": 0,
                "usd": 0,
                "minutes": minutes,
            }
            shared = {"question": claim.question, "configuration": file}
            answered = answer_rows[ANSWERS].rename(columns=str)
            entries: list[JsonObject] = [
                dict(zip([*shared, *ANSWERS], [*shared.values(), *cells], strict=True))
                for cells in answered.itertuples(index=False, name=None)
            ]
            yield row, entries


def main() -> None:
    """Measure, if data are given, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("delidata", type=Path, nargs="?")
    arguments = parser.parse_args()
    if arguments.data and arguments.delidata:
        write_measured(arguments.data, arguments.delidata)
    elif arguments.data:
        write_missing(arguments.data)
    PAGE.write_text(with_part(PAGE.read_text("utf-8"), "claims", render_page()), "utf-8")


def write_missing(data: Path) -> None:
    """Add rows for claims without a row to the file of measurements."""
    with TemporaryDirectory() as folder:
        rows = list(count_missing(data, Path(folder)))
    today = datetime.now(UTC).date().isoformat()
    added = pd.DataFrame(rows).assign(date=today).round(3)
    path = MEASURED / "claims.csv"
    pd.concat([pd.read_csv(path), added], ignore_index=True).to_csv(path, index=False)


def write_measured(data: Path, delidata: Path) -> None:
    """Write both files of measurements."""
    with TemporaryDirectory() as folder:
        rows, answers_by_row = zip(*measure(data, delidata, Path(folder)), strict=True)
    today = datetime.now(UTC).date().isoformat()
    pd.DataFrame(rows).assign(date=today).round(3).to_csv(MEASURED / "claims.csv", index=False)
    answers = pd.DataFrame(list(chain.from_iterable(answers_by_row)))
    answers.round(4).to_csv(MEASURED / "claims_answers.csv", index=False)


if __name__ == "__main__":
    main()
