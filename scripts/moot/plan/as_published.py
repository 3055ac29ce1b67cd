"""Which runs repeat an experiment of config/papers/: published values are shown next to these,
and to no others.

`config/papers/*.yaml` and `config/models.yaml`, as they come with moot, say what the papers ran. A
run repeats one of these experiments when its protocol, data set, parameters and models are the
same, and when it has at least as many cases and repeats. Data sets are the same when their options
are; a file of the user's own (`source: local`) counts as the published one. A model is the same
when its entry has the paper's name, the same model of the same provider and the same sampling, and
when no server said that it served another. An experiment may also be held as the lean design of an
item has it (`moot.papers.lean`). The context may differ, because no paper states one.
Prompts are the paper's words, or moot's own, which is said of the run; with prompts in other words
it repeats nothing. A run whose facts or scripts are moot's paraphrases is said to be in moot's
words too, whatever its prompts are.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.experiment_config import ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.core.read_config import merge_over_defaults, read_config
from moot.core.sections import display_only_keys
from moot.core.shipped_files import default_files, paper_files
from moot.core.types import Fields, JsonObject
from moot.llm.identity import model_asked, provider
from moot.papers.items import items_file, read_papers
from moot.papers.lean import apply_lean_settings
from moot.papers.selection import PREFIX as PAPER_PREFIX
from moot.plan.grid_expansion import expand_entry, find_rubric, templates_used
from moot.plan.plan import Plan
from moot.plan.wording import MOOT_WORDING, OTHER_WORDING, PAPER_WORDING, Wordings
from moot.protocols import PROTOCOLS
from moot.report.content import PaperMatch, PaperMatches
from moot.scores.served import versions_said

_MODEL_KEYS_SENT = (
    "structured",
    "reasoning",
    "parameters",
)  # of a model's entry: also changes its replies
_REAL_SOURCES = ("local", "download")
SAMPLING = (
    "temperature",
    "max_tokens",
)  # stated by the protocol's parameters or by a model's entry
OTHER_DATA = "other data"


@dataclass(frozen=True, slots=True)
class _ExperimentSetting:
    """All of an experiment that its values depend on, its models apart.

    Attributes:
        params: the protocol's parameters with defaults; an experiment named in them is replaced by
            its own setting.
        dataset: the data set's options with defaults, `source` being "published" wherever the files
            are the real ones.
        wording: whose words its prompts are (`moot.plan.wording`).
        departures: what of moot's own words is known to matter.
        has_our_texts: whether facts and scripts are moot's paraphrases of a paper's.
    """

    config: ExperimentConfig
    params: Fields
    dataset: Fields
    wording: str
    departures: tuple[str, ...]
    has_our_texts: bool

    @property
    def has_our_wording(self) -> bool:
        """Whether prompts, facts or scripts are in moot's words, and none in those of others."""
        is_paper_wording = self.wording == PAPER_WORDING
        return self.wording == MOOT_WORDING or (is_paper_wording and self.has_our_texts)

    def differences(
        self, paper: "_ExperimentSetting", sampling: Fields, paper_sampling: Fields
    ) -> list[str]:
        """Return how the experiment differs from the paper's, in words.

        Args:
            paper: the paper's experiment.
            sampling, paper_sampling: what `_sampling` returns for a model of each.
        """
        our_config, paper_config = self.config, paper.config
        differences = _data_differences(self.dataset, paper.dataset)
        if our_config.split != paper_config.split:
            differences.append("another split")
        if _has_fewer_cases(our_config.cases, paper_config.cases):
            differences.append("fewer cases")
        if self.wording == OTHER_WORDING:
            differences.append("another wording of prompts")
        if our_config.repeats < paper_config.repeats:
            differences.append("fewer repeats")
        settings = self._changed_settings(paper, sampling, paper_sampling)
        if settings:
            differences.append(f"other settings: {', '.join(sorted(settings))}")
        return differences

    def _changed_settings(
        self, paper: "_ExperimentSetting", sampling: Fields, paper_sampling: Fields
    ) -> set[str]:
        """Return the names of the settings that differ from the paper's."""
        settings = _changed_names(self.params, paper.params)
        settings -= {name for name in SAMPLING if sampling[name] == paper_sampling[name]}
        settings |= _changed_names(sampling, paper_sampling)
        if self.config.calibration_cases != paper.config.calibration_cases:
            settings.add("calibration_cases")
        if not set(paper.config.labelers) <= set(self.config.labelers):
            settings.add("labelers")
        return settings


def _changed_names(values: Fields, paper_values: Fields) -> set[str]:
    """Return the names whose values differ, or that only one of both has."""
    return {
        name for name in {**values, **paper_values} if values.get(name) != paper_values.get(name)
    }


def _has_fewer_cases(mine: int | None, theirs: int | None) -> bool:
    """Return whether one number of cases is less than another; None is all that there are."""
    return mine is not None and (theirs is None or mine < theirs)


def _data_differences(mine: Fields, paper: Fields) -> list[str]:
    if mine["loader"] != paper["loader"]:
        return [OTHER_DATA]
    if mine["source"] != paper["source"]:
        kinds = {"sample": "sample data", "synthetic": "synthetic data"}
        return [kinds.get(mine["source"], OTHER_DATA)]
    changed = sorted(_changed_names(mine, paper))
    return [f"other options of the data: {', '.join(changed)}"] if changed else []


def has_own_experiments(plan: Plan) -> bool:
    """Return whether a run has an experiment that is neither in the default configuration nor in a
    paper's, nor derived from one of them.
    """
    shipped = merge_over_defaults({}, default_files(plan.shipped))["experiments"]
    beginnings = (PAPER_PREFIX, *(f"{name}-" for name in shipped))
    return any(name not in shipped and not name.startswith(beginnings) for name in plan.experiments)


def compare_with_papers(plan: Plan) -> PaperMatches:
    """Which runs and data sets of a plan are as published, and in what the others differ; no
    control ever is.

    The plan keeps the result, which its jobs then need not work out again.
    """
    if plan.paper_matches is None:
        plan.paper_matches = _match_papers(plan)
    return plan.paper_matches


def _match_papers(plan: Plan) -> PaperMatches:
    if plan.config.rehearsal:
        return _match_none(plan)
    paper = paper_plan(plan.shipped)
    our_settings, full_settings = _SettingsOfPlan(plan), _SettingsOfPlan(paper)
    lean_settings = _SettingsOfPlan(_lean_paper_plan(plan.shipped))
    paper_settings = {
        name: (full_settings[name], lean_settings[name])
        for name, experiment in paper.experiments.items()
        if not experiment.config.control
    }
    runs: dict[tuple[str, str], PaperMatch] = {}
    for name, experiment in plan.experiments.items():
        if experiment.config.control:
            continue
        for model in experiment.config.models:
            runs[name, model] = _compare_run(
                our_settings[name], model, plan.config.models, paper_settings, paper.config.models
            )
    paper_datasets = {name: _dataset_values(paper, name) for name in paper.datasets_used}
    datasets = {
        name: _compare_data(_dataset_values(plan, name), paper_datasets)
        for name in plan.datasets_used
    }
    return PaperMatches(runs, datasets)


def _match_none(plan: Plan) -> PaperMatches:
    """No published value is shown next to a rehearsal."""
    rehearsal_match = PaperMatch(difference="simulated voices")
    runs: dict[tuple[str, str], PaperMatch] = {}
    for name, experiment in plan.experiments.items():
        runs |= {(name, model): rehearsal_match for model in experiment.config.models}
    return PaperMatches(runs, dict.fromkeys(plan.datasets, rehearsal_match))


@cache
def paper_plan(shipped: Path) -> Plan:
    """The plan of the papers' designs with the catalogue of models, as shipped; `shipped` is the
    project's folder.
    """
    return _plan_of_designs(shipped, is_lean=False)


@cache
def _lean_paper_plan(shipped: Path) -> Plan:
    """The same with every debate as the lean designs of items have it."""
    return _plan_of_designs(shipped, is_lean=True)


def _plan_of_designs(shipped: Path, *, is_lean: bool) -> Plan:
    files = [shipped / "config" / "models.yaml", *paper_files(shipped)]
    raw = merge_over_defaults({"seed": 0}, files)
    if is_lean:
        for paper in read_papers(items_file(shipped)).values():
            apply_lean_settings(raw, paper.items)
    return Plan(read_config(raw, files, Faults()), shipped)


_wordings = cache(Wordings)


class _SettingsOfPlan:
    """The settings of a plan's experiments, each worked out once."""

    def __init__(self, plan: Plan) -> None:
        self._configs: dict[str, ExperimentConfig] = {}
        for entry, config in plan.config.experiments.items():
            self._configs |= expand_entry(entry, config)
        self._plan = plan
        self._settings: dict[str, _ExperimentSetting] = {}

    def __getitem__(self, name: str) -> _ExperimentSetting:
        if name not in self._settings:
            self._settings[name] = self._setting(self._configs[name])
        return self._settings[name]

    def _setting(self, config: ExperimentConfig) -> _ExperimentSetting:
        protocol = PROTOCOLS[config.protocol]
        params = protocol.params.model_validate(dict(config.params))
        source_names = set[str]()
        for path in protocol.needs(params).values():
            source_names.update(path.split("/"))
        source_names &= self._configs.keys()
        resolved: JsonObject = {}
        for name, value in params.model_dump(mode="json").items():
            is_source = isinstance(value, str) and value in source_names
            resolved[name] = _dump_setting(self[value]) if is_source else value
        dataset = _dataset_values(self._plan, config.dataset)
        wording_key = (config.protocol, str(dataset["loader"]))
        prompts = self._plan.templates(
            config.prompts, *templates_used(config, find_rubric(config, self._plan.config.rubrics))
        )
        wordings = _wordings(self._plan.shipped)
        wording = wordings.classify(prompts, *wording_key, *protocol.prompts)
        departures = wordings.departures(*wording_key, wording)
        has_our_texts = self._plan.datasets[config.dataset].is_paraphrase
        return _ExperimentSetting(config, resolved, dataset, wording, departures, has_our_texts)


def _dump_setting(setting: _ExperimentSetting) -> JsonObject:
    """Return the values of an experiment whose debates another one reads, without its name."""
    fields = {"protocol", "split", "cases", "repeats", "calibration_cases"}
    values = setting.config.model_dump(mode="json", include=fields)
    return {**values, "params": dict(setting.params), "dataset": dict(setting.dataset)}


def _dataset_values(plan: Plan, name: str) -> JsonObject:
    options = plan.datasets[name]
    values = options.model_dump(mode="json", exclude={"baselines", *display_only_keys("dataset")})
    source = "published" if options.source in _REAL_SOURCES else options.source
    return {**values, "loader": options.loader or name, "source": source}


def _compare_run(
    setting: _ExperimentSetting,
    name: str,
    models: Mapping[str, ModelConfig],
    paper_settings: Mapping[str, tuple[_ExperimentSetting, ...]],
    paper_models: Mapping[str, ModelConfig],
) -> PaperMatch:
    # A model that the paper does not have is compared with the paper's parameters alone.
    paper_model = paper_models.get(name, models[name])
    sampling = _sampling(setting, models[name])
    differences: dict[str, list[str]] = {}
    for paper_name, variants in paper_settings.items():
        if variants[0].config.protocol == setting.config.protocol:
            reasons_of_variants = [
                setting.differences(variant, sampling, _sampling(variant, paper_model))
                for variant in variants
            ]
            differences[paper_name] = min(reasons_of_variants, key=_distance)
    similar_names = _names_without_reasons(differences)
    for paper_name, reasons in differences.items():
        paper = paper_settings[paper_name][0]
        if name not in paper.config.models:
            reasons.append("another model")
        model_reasons = _model_differences(_voices(paper, name), models, paper_models)
        reasons.extend(dict.fromkeys(model_reasons))
    nearest = min(
        differences.values(),
        key=_distance,
        default=["an experiment that the papers do not have"],
    )
    return PaperMatch(
        _names_without_reasons(differences),
        similar_names,
        "; ".join(nearest),
        setting.has_our_wording,
        setting.departures if setting.has_our_wording else (),
    )


def _names_without_reasons(differences: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the paper's experiments or data sets from which nothing differs."""
    return tuple(name for name, reasons in differences.items() if not reasons)


def _distance(reasons: list[str]) -> tuple[bool, int]:
    """Sorts differences: other data are the largest, then the number of reasons counts."""
    return OTHER_DATA in reasons, len(reasons)


def _voices(setting: _ExperimentSetting, model: str) -> list[str]:
    """Return the models that speak or label in an experiment."""
    judges = [labeler.partition(":")[2] for labeler in setting.config.labelers]
    return [model, *setting.params["seats"].values(), *filter(None, judges)]


def _model_differences(
    names: list[str], models: Mapping[str, ModelConfig], paper_models: Mapping[str, ModelConfig]
) -> Iterator[str]:
    """In what the entries of these names reach other models than the paper's entries of the same
    names.
    """
    for name in names:
        our_model, paper_model = models.get(name), paper_models.get(name)
        if our_model is None or paper_model is None:
            continue
        if provider(our_model) != (paper_provider := provider(paper_model, {})):
            yield f"{name} is served by another provider than {paper_provider}"
        if model_asked(our_model) != model_asked(paper_model):
            yield f"{name} names the model {model_asked(our_model)}, not {model_asked(paper_model)}"


def confirm_served(
    comparable: PaperMatches, scores: pd.DataFrame, models: Mapping[str, ModelConfig]
) -> PaperMatches:
    """What is as published, without the runs whose servers said that they served another model than
    was asked for.

    Args:
        comparable: by the configuration alone.
        scores: of all experiments; `debates_served` says what servers said.
        models: the entries of the configuration.
    """
    runs = dict(comparable.runs)
    for key, match in runs.items():
        deviations = {
            f"the server of {name} said that it served {served_name}"
            for name, served_name in versions_said(scores, *key)
            if name in models and served_name and not _is_version(served_name, models[name].model)
        }
        if match.repeats and deviations:
            runs[key] = replace(match, repeats=(), difference="; ".join(sorted(deviations)))
    return replace(comparable, runs=runs)


def _is_version(served_name: str, requested_name: str) -> bool:
    """Return whether a server's name of a model is the name asked for, or that with a date, number
    or digest of a version.
    """
    version = r"(?:-\d[\d.-]*)?(?: digest unknown| [0-9a-f]+)?"
    return re.fullmatch(re.escape(requested_name) + version, served_name, re.IGNORECASE) is not None


def _sampling(setting: _ExperimentSetting, model: ModelConfig) -> JsonObject:
    """What is sent with each call: a model's entry sets the temperature over the protocol, the
    protocol the length.
    """
    params = setting.params
    temperature = params["temperature"] if model.temperature is None else model.temperature
    max_tokens = params["max_tokens"] or model.max_tokens
    return {"temperature": temperature, "max_tokens": max_tokens} | {
        name: getattr(model, name) for name in _MODEL_KEYS_SENT
    }


def _compare_data(our_values: Fields, paper_datasets: Mapping[str, Fields]) -> PaperMatch:
    differences = {
        name: _data_differences(our_values, paper_values)
        for name, paper_values in paper_datasets.items()
    }
    repeats = tuple(f"baselines/{name}" for name in _names_without_reasons(differences))
    nearest = min(differences.values(), key=_distance)
    return PaperMatch(repeats, repeats, "" if repeats else "; ".join(nearest))
