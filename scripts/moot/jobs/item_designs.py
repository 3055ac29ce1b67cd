"""What the papers' designs of items need, and the commands that fill the items."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from moot.core.endpoint_traits import endpoint_traits
from moot.core.experiment_config import ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.llm.identity import key_variable
from moot.papers.items import EXAMPLE, PaperItem
from moot.papers.parts import Design
from moot.papers.selection import KINDS_WITHOUT_DEBATES, needed_experiments
from moot.plan.papers_of_run import SAMPLE, PaperRun
from moot.report.figures import count_phrase

SIZES = (("cases", "case", "all"), ("calibration_cases", "calibration case", 0))
"""Keys of an experiment's size with what they count and the paper's size where it has no key."""


def describe_needs_of_run(item: PaperItem, run: PaperRun) -> Iterator[str]:
    """Yield the needs of the paper's design of an item, and what the run has fewer of."""
    if item.kind in KINDS_WITHOUT_DEBATES:
        return
    designs = run.designs.values()
    yield from describe_needs(item, designs)
    names = needed_experiments([item], designs)
    entries = {design.view.entry: design.setting.config for design in run.experiments.values()}
    of_item = {name: entries[name] for name in names if name in entries}
    for size in describe_sizes(of_item, designs):
        yield f"This run: {size}"


def describe_sizes(
    experiments: Mapping[str, ExperimentConfig], designs: Iterable[Design]
) -> Iterator[str]:
    """Yield how many of the papers' cases some experiments have, a line for each size."""
    of_papers = {design.view.entry: design.setting.config for design in designs}
    names_by_size: dict[str, list[str]] = {}
    for name in experiments.keys() & of_papers.keys():
        sizes = []
        for key, noun, default in SIZES:
            count = getattr(experiments[name], key)
            count_of_paper = getattr(of_papers[name], key) or default
            if count and count != count_of_paper:
                sizes.append(f"{count_phrase(count, noun)} (the paper: {count_of_paper})")
        if sizes:
            names_by_size.setdefault(", ".join(sizes), []).append(f"`{name}`")
    for size in sorted(names_by_size):
        yield f"{size}: {', '.join(sorted(names_by_size[size]))}."


def describe_needs(item: PaperItem, designs: Collection[Design]) -> Iterator[str]:
    """Yield the debates that fill an item, its servers and keys, and the data of trained models."""
    for name in needed_experiments([item], designs):
        entries = [design for design in designs if design.view.entry == name]
        config = entries[0].setting.config
        settings = f"{len(entries)} settings, " if len(entries) > 1 else ""
        models = count_phrase(len(_models_shown(item, config.models) or config.models), "model")
        cases = "all cases" if config.cases is None else count_phrase(config.cases, "case")
        repeats = f", {config.repeats} times each" if config.repeats > 1 else ""
        yield f"`{name}`: {settings}{models}, {cases}{repeats}, on `{config.dataset}`."
    if item.kind not in KINDS_WITHOUT_DEBATES:
        yield from describe_servers(item, designs)
    if item.datasets:
        yield f"Models trained on {', '.join(f'`{name}`' for name in item.datasets)}."


def _models_shown(item: PaperItem, models: Sequence[str]) -> list[str]:
    return [name for name in models if not item.models or name in item.models]


def models_of_item(item: PaperItem, designs: Iterable[Design]) -> dict[str, ModelConfig]:
    """Return the models that an item needs in the paper's design; models of seats come last."""
    models: dict[str, ModelConfig] = {}
    seats: dict[str, ModelConfig] = {}
    for design in designs:
        if design.view.entry in item.experiments:
            own = design.view.models
            models |= {name: design.models[name] for name in _models_shown(item, own)}
            seats |= {name: model for name, model in design.models.items() if name not in own}
    return models | seats


def describe_servers(item: PaperItem, designs: Iterable[Design]) -> Iterator[str]:
    """Yield the models that a server of one's own must have, and the API keys."""
    tags_by_server: dict[str, list[str]] = {}
    names_by_key: dict[str, list[str]] = {}
    for name, model in models_of_item(item, designs).items():
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


def item_commands(item: PaperItem, designs: Collection[Design]) -> list[str]:
    """Return the commands that fill an item: as the paper did, and by other models.

    The others are those that need only an API key, and one's own model. An item that is quoted
    from the paper has no command.
    """
    if item.is_quoted:
        return []
    if item.kind in KINDS_WITHOUT_DEBATES and not item.datasets:
        return ["snakemake --cores 2 papers"]
    commands = [_command(item)]
    models = models_of_item(item, designs)
    by_key = [
        name for name, model in models.items() if not endpoint_traits(model.endpoint).setup_commands
    ]
    if 0 < len(by_key) < len(models):
        selection = f", models: [{', '.join(by_key)}]"
        commands.append(f"# with an API key alone\n{_command(item, selection)}")
    if models:
        selection = ", models: [mine]" + ("" if _has_few_cases(item, designs) else ", cases: 20")
        commands.append(f"# with your own model\n{_command(item, selection)}")
    return commands


def _has_few_cases(item: PaperItem, designs: Iterable[Design]) -> bool:
    """Return whether an item is of one case, or of the few that the paper has and moot brings."""
    of_item = [design for design in designs if design.view.entry in item.experiments]
    sources = {design.setting.dataset["source"] for design in of_item}
    return item.kind == EXAMPLE or sources <= {SAMPLE}


def _command(item: PaperItem, choice: str = "") -> str:
    return f'snakemake --cores 4 papers --config "papers={{items: [{item.name}]{choice}}}"'
