"""From a plan and the files of `results/` to the page of a paper."""

import csv
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pandas as pd

from moot.core.artifacts import file_digest, read_frame, read_frames
from moot.core.endpoint_traits import endpoint_traits
from moot.core.types import JsonObject
from moot.jobs.job_results import RESULTS, load_experiment_results
from moot.llm.identity import key_variable
from moot.papers import fill_item
from moot.papers.as_published import confirm_served
from moot.papers.items import EXAMPLE, Paper, PaperItem, items_file, read_papers
from moot.papers.page import SCORES, ItemContent, paper_files, values_in_text, write_csv, write_page
from moot.papers.parts import Design
from moot.papers.score_table import scores_frame
from moot.papers.selection import KINDS_WITHOUT_DEBATES, describe_sizes, needed_experiments
from moot.papers.wording import PUBLISHED_WORDINGS
from moot.plan.papers_of_run import compare_with_papers, designs_of, experiments_of_examples
from moot.plan.plan import Plan
from moot.protocols.experiment import Experiment
from moot.report.figures import count_phrase
from moot.report.published import published_values_of, read_findings, read_published
from moot.report.study_results import StudyResults
from moot.scores import no_scores, score_experiment
from moot.scores.results import ExperimentResults, ExperimentView

PAPERS = RESULTS / "papers"
OLD_DATE = 1.0
"""A file time in the past, in seconds since 1970."""
SAMPLE = "sample"
DATA_OF_DEPARTURES = {"source", "min_cases"}


def write_page_of_plan(plan: Plan, name: str, files: Collection[Path]) -> None:
    """Write the page of a paper and the files of its items from results that exist.

    Args:
        plan: The plan of all experiments whose results may be shown.
        name: The paper.
        files: The files of `results/` that may be read; those that do not exist are left out.
    """
    paper = read_papers(items_file(plan.shipped))[name]
    existing = frozenset(path for path in files if path.exists())
    results = {study: load_study(plan, study, existing) for study in paper.studies}
    models = {key: f"{model.model} ({model.endpoint})" for key, model in plan.config.models.items()}
    examples = experiments_of_examples(plan.shipped)
    without_examples = {study: set_aside(value, examples) for study, value in results.items()}
    findings = read_findings(plan.shipped / "data" / "published" / "findings.csv")
    contents: list[ItemContent] = []
    for item in paper.items:
        designs = tuple(find_designs(plan, paper, item))
        of_item = results if item.kind == EXAMPLE else without_examples
        contents.append(
            ItemContent(
                item=item,
                parts=fill_item(item, of_item, designs, models),
                findings=findings.get(item.name, ()),
                departures=departures(plan, item),
                untrained=[*_untrained(item, results)],
                needs=[*_needs(plan, item)],
                commands=item_commands(item, designs_of(plan)),
            )
        )
    published = pd.concat([of_study.published for of_study in results.values()])
    text = PaperItem(f"{name}/text", "facts", "In the text")
    parts = fill_item(text, results)
    text_values = tuple(values_in_text(published, parts))
    text_findings = findings.get(text.name, ())
    in_text = ItemContent(text, parts, text_findings, text_values=text_values)
    is_rehearsal = plan.config.rehearsal
    values = published_values_of(published)
    write_page(paper, contents, values, PAPERS, is_rehearsal, in_text)
    write_csv(scores_frame(results.values()), PAPERS / name / SCORES, is_rehearsal)


def write_standing_paper(plan: Plan, name: str, files: Collection[Path]) -> None:
    """Write the page of a paper outside of the rule that makes it.

    Changed files get an old date. Therefore the next run of that rule writes them again, with a
    record of their inputs.
    """
    paths = [Path(path) for path in paper_files(read_papers(items_file(plan.shipped))[name])]
    earlier_digests = [file_digest(path) if path.exists() else "" for path in paths]
    write_page_of_plan(plan, name, files)
    if earlier_digests != [file_digest(path) for path in paths]:
        for path in paths:
            os.utime(path, (OLD_DATE, OLD_DATE))


def load_study(plan: Plan, study: str, files: Collection[Path]) -> StudyResults:
    """Load the existing results of a study, with trial runs among its experiments.

    A run whose predictions are not in `files` is left out. Scores that no job wrote, as for trial
    runs, are computed.
    """
    experiments: dict[str, ExperimentResults] = {}
    frames = [no_scores()]
    for entry in (*plan.experiments_of(study), *plan.trials_of(study)):
        models = _existing_models(entry, files)
        if not models:
            continue
        results = load_experiment(plan, entry.name, models, files)
        score_file = RESULTS / "scores" / f"{entry.name}.parquet"
        scored_models: set[str] = set()
        if score_file in files:
            scores = read_frames([score_file])
            frames.append(scores)
            scored_models = set(scores["model"])
        # Trial runs have no scores, and neither have models of an earlier run of other items.
        unscored_models = [model for model in models if model not in scored_models]
        unscored = load_experiment_results(plan, entry.name, unscored_models, files)
        if unscored_models and len(unscored.predictions):
            frames.append(score_experiment(unscored))
        elif not scored_models:
            continue
        experiments[entry.name] = results
    frame = pd.concat([part for part in frames if len(part)] or frames[:1], ignore_index=True)
    baselines: dict[str, pd.DataFrame] = {}
    trials: dict[str, ExperimentResults] = {}
    for dataset in plan.trained_datasets_of(study):
        path = RESULTS / "baselines" / f"{dataset}.parquet"
        if path not in files or RESULTS / "cases" / f"{dataset}.parquet" not in files:
            continue
        if all(results.config.dataset != dataset for results in experiments.values()):
            # If only models were trained, an experiment without replies describes the data.
            entries = (*plan.experiments_of(study), *plan.trials_of(study))
            names = [entry.name for entry in entries if entry.config.dataset == dataset]
            if not names:
                continue
            trials[names[0]] = load_experiment(plan, names[0], [], files)
        baselines[dataset] = read_frame(path)
    values = read_published(plan.shipped / "data" / "published" / "published_results.csv")
    return StudyResults(
        study=study,
        experiments=experiments,
        scores=frame,
        trials=trials,
        baselines=baselines,
        published=values[values["study"] == study],
        paper_matches=confirm_served(compare_with_papers(plan), frame, plan.config.models),
        is_rehearsal=plan.config.rehearsal,
    )


def set_aside(results: StudyResults, names: Collection[str]) -> StudyResults:
    """Return results whose named experiments, of one case each, count as trial runs."""
    examples = {name: of_run for name, of_run in results.experiments.items() if name in names}
    others = {name: of_run for name, of_run in results.experiments.items() if name not in names}
    return replace(results, experiments=others, trials={**results.trials, **examples})


def load_experiment(
    plan: Plan, name: str, models: Sequence[str], files: Collection[Path]
) -> ExperimentResults:
    """Load an experiment; a sample that is the paper's own data is not made up."""
    results = load_experiment_results(plan, name, models, files)
    if _is_sample_of_paper(plan, results.config):
        made_up = replace(results.config.made_up, data=())
        results.config = replace(results.config, made_up=made_up)
    return results


def _existing_models(entry: Experiment, files: Collection[Path]) -> list[str]:
    """Return the models of an experiment whose predictions and cases exist."""
    if RESULTS / "cases" / f"{entry.config.dataset}.parquet" not in files:
        return []
    folder = RESULTS / "predictions" / entry.name
    return [model for model in entry.config.models if folder / f"{model}.parquet" in files]


def _untrained(item: PaperItem, results: Mapping[str, StudyResults]) -> Iterator[str]:
    """Yield the rows of trained models that stay empty, with the reasons."""
    heads = {row.key: row.heads[-1] for row in item.rows} if item.datasets else {}
    for study_results in results.values():
        for board in study_results.baselines.values():
            failed = board[board["baseline"].isin(list(heads)) & (board["status"] != "ok")]
            failed = failed[failed["accuracy"].isna()] if "accuracy" in failed else failed
            for row in failed.drop_duplicates("baseline").to_dict("records"):
                name = f"Row {heads[row['baseline']]} stays"
                name = "All rows stay" if item.is_one_system else name
                yield f"{name} empty: {row['status']}."


def find_designs(plan: Plan, paper: Paper, item: PaperItem) -> Iterator[Design]:
    """Yield the paper's experiments of an item, then the run's experiments with the same
    protocols.
    """
    papers = designs_of(plan)
    of_paper = [entry for entry in papers.experiments.values() if entry.entry in item.experiments]
    protocols = {entry.config.protocol for entry in of_paper}
    of_run = []
    for study in paper.studies:
        entries = (*plan.experiments_of(study), *plan.trials_of(study))
        of_run += [entry for entry in entries if entry.config.protocol in protocols]
    for owner, entry in [
        *((papers, entry) for entry in of_paper),
        *((plan, entry) for entry in of_run),
    ]:
        yield Design(
            experiment=entry.name,
            protocol=entry.config.protocol,
            params=owner.view(entry.name).params,
            is_of_run=owner is plan,
            prompts=entry.prompts,
        )


def departures(plan: Plan, item: PaperItem) -> list[str]:
    """Return how moot departs from the paper in the protocols of an item.

    An experiment of the run counts as the run configures it, another as the paper's design does.
    """
    papers = designs_of(plan)
    protocols: dict[str, dict[str, None]] = {}
    for design in papers.experiments.values():
        if design.entry not in item.experiments:
            continue
        # The papers' designs have moot's words: its shipped files hold no words of a paper.
        wording, owner = "", papers
        if design.name in plan.experiments:
            model = plan.experiments[design.name].config.models[0]
            wording, owner = compare_with_papers(plan).run(design.name, model).wording, plan
        has_published_words = wording.startswith(PUBLISHED_WORDINGS)
        experiment = owner.experiments[design.name]
        for departure in _departures_of(owner, papers, experiment, has_published_words):
            protocols.setdefault(departure, {})[f"`{design.config.protocol}`"] = None
    return [f"{', '.join(names)}: {departure}" for departure, names in protocols.items()]


def _departures_of(
    plan: Plan, papers: Plan, experiment: Experiment, has_published_words: bool
) -> Iterator[str]:
    """Yield the departures of an experiment with the values of its configuration.

    A departure of moot's wording is left out if the prompts are in published words; so is one of
    a value that the configuration does not have.
    """
    config, values = experiment.config, _values_of_departures(plan, papers, experiment)
    data = plan.datasets[config.dataset].loader or config.dataset
    path = plan.shipped / "data" / "published" / "departures.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            is_of = config.protocol in row["protocols"].split() and data in row["data"].split()
            names = [name for _, name, _, _ in Formatter().parse(row["departure"]) if name]
            has_values = all(values.get(name) not in (None, "") for name in names)
            if is_of and has_values and not (has_published_words and row["part"] == "prompts"):
                yield row["departure"].format_map(values)


def _values_of_departures(plan: Plan, papers: Plan, experiment: Experiment) -> JsonObject:
    design = papers.experiments[experiment.name].config
    values = dict(plan.view(experiment.name).params)
    data = plan.datasets[experiment.config.dataset].model_dump(include=DATA_OF_DEPARTURES)
    # The numbers of articles and cases in the sentence hold for the paper's data alone.
    if data == papers.datasets[design.dataset].model_dump(include=DATA_OF_DEPARTURES):
        values |= data
    # Of the design, since a run may have a model of one's own in place of the paper's.
    values["num_ctx"] = papers.config.models[design.models[0]].context
    values["model_count"] = len(design.models)
    if training := plan.experiments.get(str(values.get("assistant"))):
        values["training_repeats"] = f"{training.config.repeats} debates"
        values["training_cases"] = training.config.cases or "all"
    return values


def _needs(plan: Plan, item: PaperItem) -> Iterator[str]:
    """Yield the needs of the paper's design of an item, and what the run has fewer of."""
    if item.kind in KINDS_WITHOUT_DEBATES:
        return
    yield from describe_needs(item, designs_of(plan))
    names = needed_experiments([item], plan.shipped)
    experiments = plan.config.experiments
    of_item = {name: experiments[name] for name in names if name in experiments}
    for size in describe_sizes(of_item, plan.shipped):
        yield f"This run: {size}"


def describe_needs(item: PaperItem, papers: Plan) -> Iterator[str]:
    """Yield the debates that fill an item, its servers and keys, and the data of trained models."""
    for name in needed_experiments([item], papers.shipped):
        entries = [entry for entry in papers.experiments.values() if entry.entry == name]
        config = entries[0].config
        settings = f"{len(entries)} settings, " if len(entries) > 1 else ""
        models = count_phrase(len(_models_shown(item, config.models) or config.models), "model")
        cases = "all cases" if config.cases is None else count_phrase(config.cases, "case")
        repeats = f", {config.repeats} times each" if config.repeats > 1 else ""
        yield f"`{name}`: {settings}{models}, {cases}{repeats}, on `{config.dataset}`."
    if item.kind not in KINDS_WITHOUT_DEBATES:
        yield from describe_servers(item, papers)
    if item.datasets:
        yield f"Models trained on {', '.join(f'`{name}`' for name in item.datasets)}."


def _models_shown(item: PaperItem, models: Sequence[str]) -> list[str]:
    return [name for name in models if not item.models or name in item.models]


def models_of_item(item: PaperItem, papers: Plan) -> list[str]:
    """Return the models that an item needs in the paper's design, those of seats last."""
    names: dict[str, None] = {}
    seats: dict[str, None] = {}
    for entry in papers.experiments.values():
        if entry.entry in item.experiments:
            names |= dict.fromkeys(_models_shown(item, entry.config.models))
            seats |= dict.fromkeys(entry.seats)
    return list(names | seats)


def describe_servers(item: PaperItem, papers: Plan) -> Iterator[str]:
    """Yield the models that a server of one's own must have, and the API keys."""
    tags_by_server: dict[str, list[str]] = {}
    names_by_key: dict[str, list[str]] = {}
    for name in models_of_item(item, papers):
        model = papers.config.models[name]
        if commands := endpoint_traits(model.endpoint).setup_commands:
            setup = "`, `".join(commands).format(model="TAG")
            server = f"{model.endpoint.capitalize()} at {model.base_url} (`{setup}`)"
            tags_by_server.setdefault(server, []).append(f"`{model.model}`")
        elif variable := key_variable(model):
            names_by_key.setdefault(variable, []).append(f"`{name}`")
    for server, tags in tags_by_server.items():
        yield f"{server} with {', '.join(tags)}."
    for variable, names in names_by_key.items():
        yield f"The API key `{variable}` for {', '.join(names)}."


def item_commands(item: PaperItem, papers: Plan) -> list[str]:
    """Return the commands that fill an item: as the paper, with API keys alone, with one's own
    model.
    """
    if item.is_quoted:
        return []
    if item.kind in KINDS_WITHOUT_DEBATES and not item.datasets:
        return ["snakemake --cores 2 papers"]
    commands = [_command(item)]
    names = models_of_item(item, papers) if item.experiments else []
    traits = {name: endpoint_traits(papers.config.models[name].endpoint) for name in names}
    by_key = [name for name in names if not traits[name].setup_commands]
    if 0 < len(by_key) < len(names):
        selection = f", models: [{', '.join(by_key)}]"
        commands.append(f"# with an API key alone\n{_command(item, selection)}")
    if names:
        selection = ", models: [mine]" + ("" if _has_few_cases(item, papers) else ", cases: 20")
        commands.append(f"# with your own model\n{_command(item, selection)}")
    return commands


def _has_few_cases(item: PaperItem, papers: Plan) -> bool:
    """Return whether an item is of one case, or of the few that the paper has and moot brings."""
    entries = [entry for entry in papers.experiments.values() if entry.entry in item.experiments]
    names = {entry.config.dataset for entry in entries}
    return item.kind == EXAMPLE or all(papers.datasets[name].source == "sample" for name in names)


def _command(item: PaperItem, choice: str = "") -> str:
    return f'snakemake --cores 4 papers --config "papers={{items: [{item.name}]{choice}}}"'


def _is_sample_of_paper(plan: Plan, config: ExperimentView) -> bool:
    """Return whether the data of an experiment are a sample that a paper's design uses."""
    if plan.datasets[config.dataset].source != SAMPLE:
        return False
    designs = designs_of(plan).datasets.values()
    return any((design.loader, design.source) == (config.loader, SAMPLE) for design in designs)
