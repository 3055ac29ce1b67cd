"""Which runs repeat an experiment of config/paper.yaml: published values are shown next to these,
and to no others.

`config/paper.yaml` and `config/models.yaml`, as they come with moot, say what the papers ran. A run
repeats one of these experiments when its protocol, data set, parameters and models are the same,
and when it has at least as many cases and repeats. Data sets are the same when their options are; a
file of the user's own (`source: local`) counts as the published one. A model is the same when its
entry has the paper's name, the same model of the same provider, the same context and the same
sampling, and when no server said that it served another. Prompts are the paper's words, or moot's
own, which is said of the run; with prompts in other words it repeats nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from moot.core.endpoint_traits import endpoint_traits
from moot.core.experiment_config import ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.core.places import Faults
from moot.core.read_config import read_config
from moot.core.sections import display_only_keys
from moot.core.types import Fields, JsonObject
from moot.core.yaml_text import load_yaml
from moot.llm.identity import model_asked, provider
from moot.plan.entries import expand, rubric_of, templates_used
from moot.plan.plan import Plan
from moot.plan.wording import OTHERS, OURS, Wordings
from moot.protocols import PROTOCOLS
from moot.report.content import PaperMatch, PaperMatches
from moot.scores.served import versions_said

_SENT = ("structured", "reasoning", "parameters")  # of a model's entry: also changes its replies
_REAL = ("local", "download")
SAMPLING = (
    "temperature",
    "max_tokens",
)  # stated by the protocol's parameters or by a model's entry
OTHER_DATA = "other data"


@dataclass(frozen=True, slots=True)
class _Setting:
    """All of an experiment that its values depend on, its models apart.

    Attributes:
        params: the protocol's parameters with defaults; an experiment named in them is replaced by
            its own setting.
        dataset: the data set's options with defaults, `source` being "published" wherever the files
            are the real ones.
        wording: whose words its prompts are (`moot.plan.wording`).
        departures: what of moot's own words is known to matter.
    """

    config: ExperimentConfig
    params: Fields
    dataset: Fields
    wording: str
    departures: tuple[str, ...]

    def differences(self, paper: "_Setting", sent: Fields, paper_sent: Fields) -> list[str]:
        """In what it is not the paper's experiment, in words;
        `sent` is what `_sampling` gives for a model of each.
        """
        mine, theirs = self.config, paper.config
        found = _data_differences(self.dataset, paper.dataset)
        found += ["another split"] if mine.split != theirs.split else []
        found += ["fewer cases"] if _fewer(mine.cases, theirs.cases) else []
        found += ["another wording of prompts"] if self.wording == OTHERS else []
        found += ["fewer repeats"] if mine.repeats < theirs.repeats else []
        pairs = [(self.params, paper.params), (sent, paper_sent)]
        settings = {
            name
            for one, other in pairs
            for name in {**one, **other}
            if one.get(name) != other.get(name)
        }
        settings -= {name for name in SAMPLING if sent[name] == paper_sent[name]}
        settings |= (
            {"calibration_cases"} if mine.calibration_cases != theirs.calibration_cases else set()
        )
        settings |= set() if set(theirs.labelers) <= set(mine.labelers) else {"labelers"}
        return found + ([f"other settings: {', '.join(sorted(settings))}"] if settings else [])


def _fewer(mine: int | None, theirs: int | None) -> bool:
    """Whether one number of cases is less than another; None is all that there are."""
    return mine is not None and (theirs is None or mine < theirs)


def _data_differences(mine: Fields, paper: Fields) -> list[str]:
    if mine["loader"] != paper["loader"]:
        return [OTHER_DATA]
    if mine["source"] != paper["source"]:
        kinds = {"sample": "sample data", "synthetic": "synthetic data"}
        return [kinds.get(mine["source"], OTHER_DATA)]
    changed = sorted(name for name in {**mine, **paper} if mine.get(name) != paper.get(name))
    return [f"other options of the data: {', '.join(changed)}"] if changed else []


@cache
def compare_with_papers(plan: Plan) -> PaperMatches:
    """Which runs and data sets of a plan are as published, and in what the others differ; no
    control arm ever is.
    """
    if plan.config.rehearsal:
        return _nothing_comparable(plan)
    paper = paper_plan(plan.shipped)
    mine, of_paper = _Settings(plan), _Settings(paper)
    theirs = {
        name: of_paper[name] for name, found in paper.experiments.items() if not found.config.arm
    }
    runs = {
        (name, model): _compare_run(
            mine[name], model, plan.config.models, theirs, paper.config.models
        )
        for name, experiment in plan.experiments.items()
        if not experiment.config.arm
        for model in experiment.config.models
    }
    known = {name: _dataset(paper, name) for name in paper.datasets_used}
    return PaperMatches(
        runs, {name: _compare_data(_dataset(plan, name), known) for name in plan.datasets_used}
    )


def _nothing_comparable(plan: Plan) -> PaperMatches:
    """No published value is shown next to a rehearsal."""
    simulated = PaperMatch(difference="simulated voices")
    runs = {
        (name, model): simulated
        for name, found in plan.experiments.items()
        for model in found.config.models
    }
    return PaperMatches(runs, dict.fromkeys(plan.datasets, simulated))


@cache
def paper_plan(shipped: Path) -> Plan:
    """The plan of config/paper.yaml with the catalogue of models, as shipped;
    `shipped` is the project's folder. Keys of an analysis that is not installed are left out.
    """
    raw: JsonObject = {"seed": 0}
    files = [shipped / "config" / name for name in ("models.yaml", "paper.yaml")]
    for file in files:
        raw |= load_yaml(file.read_text(encoding="utf-8"))
    return Plan(read_config(raw, files, Faults()), shipped)


_wordings = cache(Wordings)


class _Settings:
    """The settings of a plan's experiments, each worked out once."""

    def __init__(self, plan: Plan) -> None:
        self._configs = {
            expanded: config
            for entry, unexpanded in plan.config.experiments.items()
            for expanded, config in expand(entry, unexpanded)
        }
        self._plan = plan
        self._known: dict[str, _Setting] = {}

    def __getitem__(self, name: str) -> _Setting:
        if name not in self._known:
            self._known[name] = self._setting(self._configs[name])
        return self._known[name]

    def _setting(self, config: ExperimentConfig) -> _Setting:
        protocol = PROTOCOLS[config.protocol]
        params = protocol.params.model_validate(dict(config.params))
        needed = {
            part for path in protocol.needs(params).values() for part in path.split("/")
        } & set(self._configs)
        resolved = {
            name: _referenced(self[value]) if isinstance(value, str) and value in needed else value
            for name, value in params.model_dump(mode="json").items()
        }
        dataset = _dataset(self._plan, config.dataset)
        told = (config.protocol, str(dataset["loader"]))
        prompts = self._plan.templates(
            config.prompts, *templates_used(config, rubric_of(config, self._plan.config.rubrics))
        )
        wordings = _wordings(self._plan.shipped)
        wording = wordings.whose(prompts, *told, *protocol.prompts)
        return _Setting(config, resolved, dataset, wording, wordings.departures(*told))


def _referenced(setting: _Setting) -> JsonObject:
    """An experiment that another rests on, under any name."""
    kept = {"protocol", "split", "cases", "repeats", "calibration_cases"}
    stated = setting.config.model_dump(mode="json", include=kept)
    return {**stated, "params": dict(setting.params), "dataset": dict(setting.dataset)}


def _dataset(plan: Plan, name: str) -> JsonObject:
    options = plan.datasets[name]
    stated = options.model_dump(mode="json", exclude={"baselines", *display_only_keys("dataset")})
    source = "published" if options.source in _REAL else options.source
    return {**stated, "loader": options.loader or name, "source": source}


def _compare_run(
    mine: _Setting,
    name: str,
    models: Mapping[str, ModelConfig],
    theirs: Mapping[str, _Setting],
    of_paper: Mapping[str, ModelConfig],
) -> PaperMatch:
    same_protocol = {
        other: paper
        for other, paper in theirs.items()
        if paper.config.protocol == mine.config.protocol
    }
    # A model that the paper does not have is compared with the paper's parameters alone.
    differences = {
        other: mine.differences(
            paper, _sampling(mine, models[name]), _sampling(paper, of_paper.get(name, models[name]))
        )
        for other, paper in same_protocol.items()
    }
    alike = tuple(other for other, found in differences.items() if not found)
    for other, found in differences.items():
        found.extend([] if name in same_protocol[other].config.models else ["another model"])
        found.extend(
            dict.fromkeys(_served_otherwise(_voices(same_protocol[other], name), models, of_paper))
        )
    repeats = tuple(other for other, found in differences.items() if not found)
    nothing = ["an experiment that the papers do not have"]
    nearest = min(
        differences.values(), key=lambda found: (OTHER_DATA in found, len(found)), default=nothing
    )
    ours = mine.wording == OURS
    return PaperMatch(repeats, alike, "; ".join(nearest), ours, mine.departures if ours else ())


def _voices(setting: _Setting, model: str) -> list[str]:
    """The models that speak or label in an experiment."""
    judges = [
        name
        for kind, _, name in (labeler.partition(":") for labeler in setting.config.labelers)
        if name
    ]
    return [model, *setting.params["seats"].values(), *judges]


def _served_otherwise(
    names: list[str], models: Mapping[str, ModelConfig], of_paper: Mapping[str, ModelConfig]
) -> Iterator[str]:
    """In what the entries of these names reach other models than the paper's entries of the same
    names.
    """
    for name in names:
        mine, theirs = models.get(name), of_paper.get(name)
        if mine is None or theirs is None:
            continue
        if provider(mine) != (of_papers := provider(theirs, {})):
            yield f"{name} is served by another provider than {of_papers}"
        if model_asked(mine) != model_asked(theirs):
            yield f"{name} names the model {model_asked(mine)}, not {model_asked(theirs)}"
        if (
            "context" in endpoint_traits(mine.endpoint).request_keys
            and mine.context != theirs.context
        ):
            yield f"{name} has another context than {theirs.context} tokens"


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
    for key, found in runs.items():
        other = {
            f"the server of {name} said that it served {said}"
            for name, said in versions_said(scores, *key)
            if name in models and said and not _is_version(said, models[name].model)
        }
        if found.repeats and other:
            runs[key] = replace(found, repeats=(), difference="; ".join(sorted(other)))
    return replace(comparable, runs=runs)


def _is_version(said: str, asked: str) -> bool:
    """Whether a server's name of a model is the name asked for, or that with a date, number or
    digest of a version.
    """
    version = r"(?:-\d[\d.-]*)?(?: digest unknown| [0-9a-f]+)?"
    return re.fullmatch(re.escape(asked) + version, said, re.IGNORECASE) is not None


def _sampling(setting: _Setting, model: ModelConfig) -> JsonObject:
    """What is sent with each call: a model's entry sets the temperature over the protocol, the
    protocol the length.
    """
    params = setting.params
    temperature = params["temperature"] if model.temperature is None else model.temperature
    max_tokens = params["max_tokens"] or model.max_tokens
    return {"temperature": temperature, "max_tokens": max_tokens} | {
        name: getattr(model, name) for name in _SENT
    }


def _compare_data(mine: Fields, known: Mapping[str, Fields]) -> PaperMatch:
    differences = {name: _data_differences(mine, theirs) for name, theirs in known.items()}
    repeats = tuple(f"baselines/{name}" for name, found in differences.items() if not found)
    nearest = min(differences.values(), key=lambda found: (OTHER_DATA in found, len(found)))
    return PaperMatch(repeats, repeats, "" if repeats else "; ".join(nearest))
