"""Frozen plans, and whether a run follows the newest one.

Each plan contains the digest of its content, which shows that it was edited later. To prove its
date to others, send or register it when it is frozen.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from moot.core.artifacts import read_cases
from moot.core.code_digest import digest_of as digest_of_code
from moot.core.errors import UserError
from moot.core.experiment_config import fields_marked
from moot.core.types import Fields, Json, JsonObject
from moot.plan.debated_cases import choose_debated_cases
from moot.plan.plan import Plan
from moot.workflow.dependencies import (
    analysis_code_digest,
    debate_code,
    debate_prompts,
    reply_options,
)
from moot.workflow.user_files import frozen_files

NOT_FROZEN = (
    "No plan was frozen (`snakemake freeze`): nothing shows that these comparisons were chosen"
    " before the debates."
)
ANALYSIS_DIGEST = "digest of the analysis"
# Keys of a frozen plan that messages also use:
CASES, CASES_DIGEST = "debated cases", "digest of cases"
PROMPTS_DIGEST, CODE_DIGEST = "digest of prompts", "digest of code"
FIELDS_OF_LABELS = {"labelers", "rubric"}
"""Fields that do not change debates, although a contrast may compare the labels."""


@dataclass(frozen=True)
class FrozenPlan:
    """A frozen plan.

    Attributes:
        path: its file.
        number: from 1, in the order of freezing.
        content: of the file.
        is_as_written: whether the digest in the file matches its content.
    """

    path: Path
    number: int
    content: Fields
    is_as_written: bool

    @property
    def plan(self) -> Fields:
        """The frozen content, as `describe_plan` returns it."""
        return dict(self.content["plan"])

    @property
    def frozen_at(self) -> str:
        """The time at which the plan was frozen, ISO 8601."""
        return str(self.content["frozen_at"])

    def replies_before(self, study: str | None = None) -> str:
        """Describe how many replies the ledger held when a plan was frozen.

        The text also gives the number of replies to calls of the plan's runs.
        """
        names = plan_part(self.plan, study)["experiments"]
        runs = {
            run: reply_counts
            for run, reply_counts in self.content["replies_of_runs"].items()
            if run.partition("/")[0] in names
        }
        reply_counts = {run: count for run, count in runs.items() if count}
        uncounted_runs = [run for run, count in runs.items() if count is None]
        recorded = [name for name in self.content["recorded"] if name in names]
        replies = self.content["replies"]
        parts = [f"when the ledger held {replies} replies"]
        if reply_counts:
            of_runs = ", ".join(f"{count} of {run}" for run, count in reply_counts.items())
            parts[0] += (
                f", {sum(reply_counts.values())} of them to calls of this plan's runs ({of_runs})"
            )
        elif replies and len(uncounted_runs) < len(runs):
            parts[0] += ", none of them to calls of this plan's runs"
        if replies and uncounted_runs:
            parts.append(
                f"calls of {', '.join(uncounted_runs)} cannot be counted before the debates that "
                "they depend on"
            )
        if recorded:
            parts.append(f"the debates of {', '.join(recorded)} were recorded earlier")
        return "; ".join(parts)


def digest_of(content: Fields) -> str:
    """Return the sha256 of a frozen plan without its own digest."""
    digested_content = {name: value for name, value in content.items() if name != "digest"}
    return hashlib.sha256(
        json.dumps(digested_content, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()


def read_frozen(path: Path) -> FrozenPlan:
    """Return a frozen plan from its file.

    Raises:
        UserError: `snakemake freeze` did not write the file.
    """
    try:
        content = yaml.safe_load(path.read_bytes())
        frozen = FrozenPlan(
            path,
            int(path.stem.removeprefix("plan-")),
            content,
            content["digest"] == digest_of(content),
        )
        frozen.replies_before()
        _ = frozen.frozen_at, list(differences(frozen.plan, frozen.plan))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError) as error:
        raise UserError(
            f"{path}: not a frozen plan ({type(error).__name__}: {error}); expected the file that"
            " `snakemake freeze` wrote. Restore it, or move it away."
        ) from None
    return frozen


def last_frozen() -> FrozenPlan | None:
    """Return the plan of the working directory that was frozen last, or None."""
    files = frozen_files()
    return read_frozen(files[-1]) if files else None


def compare_with_frozen(plan: Plan, results: Path, study: str | None = None) -> tuple[str, ...]:
    """Return whether a run follows the plan that was frozen last, in sentences.

    A rehearsal has none.

    Args:
        plan: the checked configuration.
        results: the folder with `cases/`.
        study: the study whose contrasts are compared; "" for all.
    """
    if plan.config.rehearsal:
        return ()
    last = last_frozen()
    if last is None:
        return (NOT_FROZEN,)
    description = describe_plan(plan, results, study)
    frozen_part = plan_part(last.plan, study, description["models"])
    differing_parts = list(differences(frozen_part, description))
    end = (
        f" It differs: {'; '.join(differing_parts)}. {_reason(plan.config.deviation)}"
        if differing_parts
        else ""
    )
    is_plan = "is not the plan" if differing_parts else "is the plan"
    sentences = [
        f"This run {is_plan} that was frozen last, at {last.frozen_at} ({last.path}), "
        f"{last.replies_before(study)}.{end}"
    ]
    if last.number > 1:
        sentences.append(f"Earlier plans: {last.number - 1}, in {last.path.parent}.")
    if not last.is_as_written:
        sentences.append(f"{last.path} was changed by hand after it was frozen.")
    return tuple(sentences)


def _reason(deviation: str) -> str:
    return (
        f"Reason given: {deviation}" if deviation else "Unexplained: `deviation` gives no reason."
    )


def planned_experiments(plan: Plan, study: str | None = None) -> list[str]:
    """Return the experiments that the run's contrasts compare, of one study or of all."""
    names = set[str]()
    for contrast in plan.contrasts:
        if not contrast.missing and study in (None, contrast.family):
            names.update(side.experiment for side in contrast.sides)
    return sorted(names)


def describe_plan(plan: Plan, results: Path, study: str | None = None) -> JsonObject:
    """Return everything that the answers to a plan's contrasts depend on, as plain values.

    Args:
        plan: the checked configuration.
        results: the folder with `cases/`.
        study: the study of the contrasts; "" for all that this run tests.
    """
    names = planned_experiments(plan, study)
    contrasts = [
        contrast
        for contrast in plan.contrasts
        if not contrast.missing and study in (None, contrast.family)
    ]
    models = set[str]()
    for name in names:
        for model in plan.experiments[name].config.models:
            models.update(plan.models_in_job(name, model), plan.labelling_models(name, model))
    return {
        "seed": plan.config.seed,
        "contrasts": {
            contrast.name: {
                **plan.config.contrasts[contrast.name].model_dump(mode="json"),
                "margin": contrast.margin,
                "study": contrast.family,
            }
            for contrast in contrasts
        },
        "experiments": {name: _describe_experiment(plan, results, name) for name in names},
        "models": reply_options({name: plan.config.models[name] for name in models}),
        ANALYSIS_DIGEST: analysis_code_digest(),
    }


def _describe_experiment(plan: Plan, results: Path, name: str) -> JsonObject:
    """Return an experiment's entry, its cases, and the digests of its cases, prompts and code."""
    experiment = plan.experiments[name]
    display_fields = fields_marked(display_only=True) - FIELDS_OF_LABELS
    settings = experiment.config.model_dump(
        mode="json", exclude={"params", "prompts", "grid", *display_fields}
    )
    cases, _ = read_cases(results / "cases" / f"{experiment.config.dataset}.parquet")
    debated_cases = choose_debated_cases(experiment, cases, plan.config.seed)
    content = sorted((case.case_id, case.split, case.text, case.target) for case in debated_cases)
    digest = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
    prompts: set[str] = set()
    code: set[str] = set()
    for source in _experiments_behind(plan, name):
        prompts.add(debate_prompts(plan, source))
        for model in plan.experiments[source].config.models:
            code.add(digest_of_code(*debate_code(plan, source, model)))
    return {
        **settings,
        "params": experiment.params.model_dump(mode="json"),
        CASES: len(debated_cases),
        CASES_DIGEST: digest[:16],
        PROMPTS_DIGEST: ", ".join(sorted(prompts)),
        CODE_DIGEST: ", ".join(sorted(code)),
    }


def _experiments_behind(plan: Plan, name: str) -> list[str]:
    """Return an experiment and all experiments whose debates or trained models it depends on."""
    names = [name]
    for path in plan.experiments[name].needs.values():
        source = path.split("/")[1]
        if source in plan.experiments:
            names += _experiments_behind(plan, source)
    return names


def plan_part(plan: Fields, study: str | None, models: Fields | None = None) -> Fields:
    """Return the part of a frozen plan that one study needs.

    Contrasts of other studies, and models that only these use, are left out.
    """
    if study is None:
        return plan
    contrasts = {
        name: entry for name, entry in plan["contrasts"].items() if entry["study"] == study
    }
    experiment_names = set[str]()
    for entry in contrasts.values():
        sides = (entry["first"], entry["second"])
        experiment_names.update(side.partition("/")[0] for side in sides)
    models_of_part = {
        name: entry for name, entry in plan["models"].items() if models is None or name in models
    }
    experiments = {
        name: entry for name, entry in plan["experiments"].items() if name in experiment_names
    }
    return {**plan, "experiments": experiments, "contrasts": contrasts, "models": models_of_part}


def differences(frozen: Fields, present: Fields) -> Iterator[str]:
    """Yield how a plan differs from a frozen one, in words."""
    for kind in ("contrast", "experiment", "model"):
        yield from _changes(kind, frozen[f"{kind}s"], present[f"{kind}s"])
    for name in ("seed", ANALYSIS_DIGEST):
        if frozen[name] != present[name]:
            yield f"{name}: frozen {frozen[name]}, now {present[name]}"


def _changes(kind: str, frozen: Fields, present: Fields) -> Iterator[str]:
    yield from (f"{kind} {name}: added" for name in present if name not in frozen)
    yield from (f"{kind} {name}: left out" for name in frozen if name not in present)
    for name in (name for name in present if name in frozen):
        earlier_entry, present_entry = frozen[name], present[name]
        if kind == "contrast" and (earlier_entry["first"], earlier_entry["second"]) == (
            present_entry["second"],
            present_entry["first"],
        ):
            yield f"contrast {name}: its sides were exchanged"
            earlier_entry = {
                **earlier_entry,
                "first": earlier_entry["second"],
                "second": earlier_entry["first"],
            }
        for path, earlier, later in _changed_values(earlier_entry, present_entry):
            yield f"{kind} {name}, {path}: frozen {_words(earlier)}, now {_words(later)}"


def _changed_values(
    frozen: Json, present: Json, path: str = ""
) -> Iterator[tuple[str, Json, Json]]:
    if isinstance(frozen, dict) and isinstance(present, dict):
        for key in dict.fromkeys([*frozen, *present]):
            yield from _changed_values(
                frozen.get(key), present.get(key), f"{path}.{key}".strip(".")
            )
    elif frozen != present:
        yield path, frozen, present


def _words(value: object) -> str:
    return (
        "none" if value in (None, "", [], {}) else json.dumps(value, ensure_ascii=False).strip('"')
    )
