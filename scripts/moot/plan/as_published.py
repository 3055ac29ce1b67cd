"""Which runs repeat an experiment of config/papers/.

Published values are shown only next to these runs.

The shipped `config/papers/*.yaml` and `config/models.yaml` describe the papers' experiments. A run
repeats one of them if its protocol, data set, parameters and models are the same, and if it has at
least as many cases and repeats. Data sets are the same if their options are the same; a user's file
(`source: local`) counts as the published one. A model is the same if its entry has the paper's
name, the same model of the same provider and the same sampling, and if no server stated that it
served another model. The context may differ, because no paper states one.

Prompts are in the paper's words or in moot's, which the run states. A run with prompts in other
words repeats nothing. A run whose facts or scripts are moot's paraphrases also counts as in moot's
words, whatever its prompts are.
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
from moot.core.shipped_files import paper_files
from moot.core.types import Fields, JsonObject
from moot.llm.identity import model_asked, provider
from moot.papers.items import items_file, read_papers
from moot.plan.grid_expansion import expand_grid, find_rubric, templates_used
from moot.plan.plan import Plan
from moot.plan.wording import MOOT_WORDING, OTHER_WORDING, PUBLISHED_WORDINGS, Wordings
from moot.protocols import PROTOCOLS
from moot.report.paper_matches import PaperMatch, PaperMatches
from moot.scores.served import versions_said

_MODEL_KEYS_SENT = ("structured", "reasoning", "parameters")
"""Fields of a model's entry that also change its replies."""
_REAL_SOURCES = ("local", "download")
SAMPLING = ("temperature", "max_tokens")
"""Fields that the protocol's parameters or a model's entry state."""
OTHER_DATA = "other data"


@dataclass(frozen=True, slots=True)
class _ExperimentSetting:
    """All settings of an experiment that its values depend on, except its models.

    Attributes:
        params: the protocol's parameters with defaults; an experiment named in them is replaced by
            its own setting.
        dataset: the data set's options with defaults, with the `source` "published" for all real
            files.
        wording: the author of its prompts' words (`moot.plan.wording`).
        has_our_texts: whether facts and scripts are moot's paraphrases of a paper's.
    """

    config: ExperimentConfig
    params: Fields
    dataset: Fields
    wording: str
    has_our_texts: bool

    @property
    def has_our_wording(self) -> bool:
        """Whether some prompts, facts or scripts are in moot's words, and none in a third
        party's.
        """
        is_published = self.wording in PUBLISHED_WORDINGS
        return self.wording == MOOT_WORDING or (is_published and self.has_our_texts)

    @property
    def wording_note(self) -> str:
        """Whose words its prompts and facts have, for readers; "" if no model was asked."""
        if not PROTOCOLS[self.config.protocol].prompts:
            return ""
        is_published = self.wording in PUBLISHED_WORDINGS
        return (
            f"{self.wording}, moot's facts" if is_published and self.has_our_texts else self.wording
        )

    def differences(
        self, paper: "_ExperimentSetting", sampling: Fields, paper_sampling: Fields
    ) -> list[str]:
        """Return how the experiment differs from the paper's, in words.

        Args:
            paper: the paper's experiment.
            sampling, paper_sampling: the result of `_sampling` for a model of each.
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
    """Return the names whose values differ, and those that only one of both has."""
    return {
        name for name in {**values, **paper_values} if values.get(name) != paper_values.get(name)
    }


def _has_fewer_cases(mine: int | None, theirs: int | None) -> bool:
    """Return whether one number of cases is less than another; None stands for all cases."""
    return mine is not None and (theirs is None or mine < theirs)


def _data_differences(mine: Fields, paper: Fields) -> list[str]:
    if mine["loader"] != paper["loader"]:
        return [OTHER_DATA]
    if mine["source"] != paper["source"]:
        kinds = {"sample": "sample data", "synthetic": "synthetic data"}
        return [kinds.get(mine["source"], OTHER_DATA)]
    changed = sorted(_changed_names(mine, paper))
    return [f"other options of the data: {', '.join(changed)}"] if changed else []


def compare_with_papers(plan: Plan) -> PaperMatches:
    """Compare the runs and data sets of a plan with the papers' designs.

    The result tells which are as published, and how the others differ. A control is never as
    published.

    The plan stores the result, so that its jobs do not compute it again.
    """
    if plan.paper_matches is None:
        plan.paper_matches = _match_papers(plan)
    return plan.paper_matches


def _match_papers(plan: Plan) -> PaperMatches:
    if plan.config.rehearsal:
        return _match_none(plan)
    paper = paper_plan(plan.shipped)
    our_settings, settings_of_paper = _SettingsOfPlan(plan), _SettingsOfPlan(paper)
    examples = _experiments_of_examples(plan.shipped)
    paper_settings = {
        name: settings_of_paper[name] for name in paper.experiments if name not in examples
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


def _experiments_of_examples(shipped: Path) -> set[str]:
    """Return the experiments of single cases, which repeat no published value."""
    names: set[str] = set()
    for paper in read_papers(items_file(shipped)).values():
        for item in paper.items:
            names.update(item.experiments if item.kind == "example" else ())
    return names


def _match_none(plan: Plan) -> PaperMatches:
    """Return no matches, as no published value is shown next to a rehearsal."""
    rehearsal_match = PaperMatch(difference="a stand-in for the model")
    runs: dict[tuple[str, str], PaperMatch] = {}
    for name, experiment in plan.experiments.items():
        runs |= {(name, model): rehearsal_match for model in experiment.config.models}
    return PaperMatches(runs, dict.fromkeys(plan.datasets, rehearsal_match))


@cache
def paper_plan(shipped: Path) -> Plan:
    """Return the plan of the papers' designs with the shipped catalogue of models.

    `shipped` is the project's folder.
    """
    files = [shipped / "config" / "models.yaml", *paper_files(shipped)]
    raw = merge_over_defaults({"seed": 0}, files)
    return Plan(read_config(raw, files, Faults()), shipped)


_wordings = cache(Wordings)


class _SettingsOfPlan:
    """The settings of a plan's experiments, each computed once."""

    def __init__(self, plan: Plan) -> None:
        self._configs: dict[str, ExperimentConfig] = {}
        for entry, config in plan.config.experiments.items():
            self._configs |= expand_grid(entry, config)
        self._plan = plan
        self._settings: dict[str, _ExperimentSetting] = {}

    def __getitem__(self, name: str) -> _ExperimentSetting:
        if name not in self._settings:
            self._settings[name] = self._setting(self._configs[name])
        return self._settings[name]

    def _setting(self, config: ExperimentConfig) -> _ExperimentSetting:
        protocol = PROTOCOLS[config.protocol]
        params = protocol.params.model_validate(dict(config.params))
        source_names = self._configs.keys() & protocol.params.named_experiments(dict(params))
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
        has_our_texts = self._plan.datasets[config.dataset].is_paraphrase
        return _ExperimentSetting(config, resolved, dataset, wording, has_our_texts)


def _dump_setting(setting: _ExperimentSetting) -> JsonObject:
    """Return the values of an experiment whose debates another one reads, without its name."""
    fields = {"protocol", "split", "cases", "repeats", "calibration_cases"}
    values = setting.config.model_dump(mode="json", include=fields)
    return {**values, "params": dict(setting.params), "dataset": dict(setting.dataset)}


def _dataset_values(plan: Plan, name: str) -> JsonObject:
    options = plan.datasets[name]
    # No paper says whether it rebalances: values of both ways stand beside its own.
    other_keys = {"baselines", "rebalance", *display_only_keys("dataset")}
    values = options.model_dump(mode="json", exclude=other_keys)
    source = "published" if options.source in _REAL_SOURCES else options.source
    return {**values, "loader": options.loader or name, "source": source}


def _compare_run(
    setting: _ExperimentSetting,
    name: str,
    models: Mapping[str, ModelConfig],
    paper_settings: Mapping[str, _ExperimentSetting],
    paper_models: Mapping[str, ModelConfig],
) -> PaperMatch:
    # A model that the paper does not have is compared by the paper's parameters only.
    paper_model = paper_models.get(name, models[name])
    sampling = _sampling(setting, models[name])
    differences: dict[str, list[str]] = {}
    for paper_name, paper in paper_settings.items():
        if paper.config.protocol == setting.config.protocol:
            differences[paper_name] = setting.differences(
                paper, sampling, _sampling(paper, paper_model)
            )
    similar_names = _names_without_reasons(differences)
    for paper_name, reasons in differences.items():
        paper = paper_settings[paper_name]
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
        setting.wording_note,
    )


def _names_without_reasons(differences: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the paper's experiments or data sets without any difference."""
    return tuple(name for name, reasons in differences.items() if not reasons)


def _distance(reasons: list[str]) -> tuple[bool, int]:
    """Return the sort key of differences: other data first, then the number of reasons."""
    return OTHER_DATA in reasons, len(reasons)


def _voices(setting: _ExperimentSetting, model: str) -> list[str]:
    """Return the models that speak or label in an experiment."""
    judges = [labeler.partition(":")[2] for labeler in setting.config.labelers]
    return [model, *setting.params["seats"].values(), *filter(None, judges)]


def _model_differences(
    names: list[str], models: Mapping[str, ModelConfig], paper_models: Mapping[str, ModelConfig]
) -> Iterator[str]:
    """Yield how the entries of these names reach other models than the paper's entries do."""
    for name in names:
        our_model, paper_model = models.get(name), paper_models.get(name)
        if our_model is None or paper_model is None:
            continue
        if provider(our_model) != (paper_provider := provider(paper_model, {})):
            yield f"{name} is served by another provider than {paper_provider}"
        if model_asked(our_model) != model_asked(paper_model):
            yield f"{name} is the model {model_asked(our_model)}, not {model_asked(paper_model)}"


def confirm_served(
    comparable: PaperMatches, scores: pd.DataFrame, models: Mapping[str, ModelConfig]
) -> PaperMatches:
    """Return the matches without the runs whose servers stated that they served another model.

    Args:
        comparable: the matches by the configuration alone.
        scores: of all experiments; `debates_served` has the servers' statements.
        models: the entries of the configuration.
    """
    runs = dict(comparable.runs)
    for key, match in runs.items():
        deviations = {
            f"the server of {name} stated that it served {served_name}"
            for name, served_name in versions_said(scores, *key)
            if name in models and served_name and not _is_version(served_name, models[name].model)
        }
        if match.repeats and deviations:
            runs[key] = replace(match, repeats=(), difference="; ".join(sorted(deviations)))
    return replace(comparable, runs=runs)


def _is_version(served_name: str, requested_name: str) -> bool:
    """Return whether a server's name of a model is the requested name or a version of it.

    A version adds a date, a number or a digest.
    """
    version = r"(?:-\d[\d.-]*)?(?: digest unknown| [0-9a-f]+)?"
    return re.fullmatch(re.escape(requested_name) + version, served_name, re.IGNORECASE) is not None


def _sampling(setting: _ExperimentSetting, model: ModelConfig) -> JsonObject:
    """Return the sampling settings that each call sends.

    The temperature of a model's entry overrides the protocol's, and the protocol sets the length.
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
