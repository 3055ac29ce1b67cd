"""Control arms: an experiment without its debate, or with one thing about the debate changed.

`arms: [noise, alone]` in the entry of an experiment NAME adds the experiments NAME-arm=noise and
NAME-arm=alone, over the same cases and with the same models. README.md shows each arm by an
example. An arm either replaces the experiment's protocol, or runs the same protocol with an
intervention, so that some seats speak or hear differently.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moot.analyses.arms.interventions import COMMIT_TEMPLATE, CommitFirst, Consultancy, Swap
from moot.analyses.arms.noise import SOURCE_DEBATES, Noise
from moot.analyses.arms.relabelling import relabel
from moot.core.types import Fields, JsonObject
from moot.protocols import Debaters, ProtocolEntry, ProtocolParams
from moot.protocols.controls import CONTROLS, Control

CALLS_MATCHED, TOKENS_MATCHED = "matched_calls", "matched_tokens"
COMMIT = "commit_first"
RELABELLED, SWAP = "labels_swapped", "swap"
_COMMON_PARAMS = ("temperature", "max_tokens", "form_tokens", "seats")
_ANSWERS_OF_ALONE = ("generation", "likelihood")


@dataclass(frozen=True, slots=True)
class BaseExperiment:
    """The experiment that an arm is compared with.

    Attributes:
        name: Its name in the configuration.
        protocol, entry: Its protocol.
        configured_params: The parameters that its entry in the configuration states.
        params: All of its parameters, checked.
    """

    name: str
    protocol: str
    entry: ProtocolEntry
    configured_params: Fields
    params: ProtocolParams

    @property
    def debaters(self) -> Debaters:
        """The debaters; raises `ValueError` if the protocol has none."""
        if self.entry.debaters is None:
            raise ValueError(f"'{self.name}' has no debaters")  # refused by `invalid_reason`
        return self.entry.debaters

    @property
    def common_params(self) -> JsonObject:
        """The stated parameters that every protocol has."""
        return {
            name: self.configured_params[name]
            for name in _COMMON_PARAMS
            if name in self.configured_params
        }


ProtocolSubstitute = Callable[[BaseExperiment], tuple[str, JsonObject]]
"""Returns the protocol that replaces an experiment's protocol, and its parameters."""


@dataclass(frozen=True, slots=True)
class Arm(Control):
    """A control arm: a control, and to which experiments it applies.

    Attributes:
        substitute: The protocol that takes the place of the experiment's own.
        needs_debaters: Whether it requires a protocol with debaters.
        needs_sides: Whether debaters must be told what to argue for.
        needs_judge: Whether someone who does not argue must decide.
    """

    substitute: ProtocolSubstitute | None = None
    needs_debaters: bool = True
    needs_sides: bool = False
    needs_judge: bool = False


def _replace_by_lone_judge(base: BaseExperiment) -> tuple[str, JsonObject]:
    params = {
        **base.common_params,
        "source_experiment": base.name,
        "speakers": tuple(base.debaters.seats(base.params)),
        "judge": base.debaters.decider,
    }
    answer = base.params.model_dump().get("answer", "")
    if answer in _ANSWERS_OF_ALONE:
        params["answer"] = answer
    return "alone", params


def _matched_calls(base: BaseExperiment) -> tuple[str, JsonObject]:
    return "self_consistency", {
        **base.common_params,
        "k": "matched",
        "source_experiment": base.name,
    }


def _matched_tokens(base: BaseExperiment) -> tuple[str, JsonObject]:
    params = {
        **base.common_params,
        "k": "matched_tokens",
        "source_experiment": base.name,
        "single_prompt_experiment": arm_name(base.name, CALLS_MATCHED),
    }
    return "self_consistency", params


def exchange_seats(debaters: Debaters, params: ProtocolParams) -> dict[str, str]:
    """Return the parameter `seats` with the debaters' models in reversed order."""
    default = ""
    seats = dict(params.seats)
    debater_seats = list(debaters.seats(params))
    models = [seats.pop(seat, default) for seat in debater_seats]
    exchanged = zip(debater_seats, reversed(models), strict=True)
    return seats | {seat: model for seat, model in exchanged if model != default}


ARMS: Mapping[str, Arm] = {
    "noise": Arm(
        "statements of another case's debate instead of the debate's own",
        intervention=Noise,
        base_artifact=SOURCE_DEBATES,
    ),
    "alone": Arm(
        "the judge thinks again as often as debaters spoke", substitute=_replace_by_lone_judge
    ),
    "consultancy": Arm("only one side speaks", intervention=Consultancy, needs_sides=True),
    SWAP: Arm(
        "debaters' seats exchanged between their models, and their order reversed",
        intervention=Swap,
        change_seats=exchange_seats,
    ),
    RELABELLED: Arm(
        "the options in reversed order and under other names",
        reword=relabel,
        needs_debaters=False,
    ),
    COMMIT: Arm(
        "the judge commits itself to criteria and an answer before it hears the debate",
        COMMIT_TEMPLATE,
        CommitFirst,
        needs_judge=True,
    ),
    CALLS_MATCHED: Arm(
        "a vote over as many single answers as the debate makes calls",
        substitute=_matched_calls,
        needs_debaters=False,
    ),
    TOKENS_MATCHED: Arm(
        "a vote over as many single answers as the debate's tokens pay for",
        substitute=_matched_tokens,
        needs_debaters=False,
    ),
}
"""Every control arm, by name."""

for _name, _arm in ARMS.items():
    CONTROLS.register(_name)(_arm)


def arm_name(experiment: str, arm: str) -> str:
    """Return the name of an experiment's arm."""
    return f"{experiment}-arm={arm}"


def invalid_reason(
    name: str, base: BaseExperiment, labels: tuple[str, ...], arms: tuple[str, ...]
) -> str:
    """Return why an arm is not applicable to an experiment, with the remedy; "" if it is.

    Args:
        name: The arm.
        base: The experiment.
        labels: Of its data, as far as they are known before the data are loaded.
        arms: All arms of the experiment.
    """
    if base.entry.options.words == "none":
        return (
            f"protocol '{base.protocol}' asks for no answer that an arm can change. Remove it "
            "from `arms`."
        )
    if name == TOKENS_MATCHED and CALLS_MATCHED not in arms:
        return (
            f"it takes the price of a sample from '{CALLS_MATCHED}'. Add '{CALLS_MATCHED}' to"
            " `arms`."
        )
    if _is_answer_of_debaters(name, base, labels):
        reason = "the debaters' agreement is the answer, so there is none without debaters"
    elif name == RELABELLED:
        reason = _relabelling_reason(base, labels)
    else:
        reason = _debaters_reason(name, base)
    return f"{ARMS[name].change}: {reason}. Remove it from `arms`." if reason else ""


def _is_answer_of_debaters(name: str, base: BaseExperiment, labels: tuple[str, ...]) -> bool:
    """Return whether an arm needs an answer by a judge, where debaters answer among themselves."""
    needs_answer = bool(ARMS[name].substitute) or ARMS[name].needs_judge
    debaters = base.entry.debaters
    return bool(needs_answer and debaters and labels and set(labels) == debaters.agreement_labels)


def _debaters_reason(name: str, base: BaseExperiment) -> str:
    arm, debaters = ARMS[name], base.entry.debaters
    if debaters is None or not debaters.seats(base.params):
        return f"protocol '{base.protocol}' has no debaters" if arm.needs_debaters else ""
    if arm.needs_sides and not debaters.assigns_sides(base.params):
        return "the debaters of this experiment have no assigned sides"
    if arm.needs_judge and debaters.are_judges:
        return "the debaters also decide, so no judge hears them"
    if name == SWAP and len(debaters.seats(base.params)) == 1:
        return "this experiment has one debater"
    return ""


def _relabelling_reason(base: BaseExperiment, labels: tuple[str, ...]) -> str:
    fixed_labels = base.entry.options.fixed_labels
    if labels and set(labels) == fixed_labels:
        return (
            f"protocol '{base.protocol}' and its rules know the options of this data by name"
            f" ({', '.join(sorted(fixed_labels))})"
        )
    if base.params.model_dump().get("assistant"):
        return "the assistant of this experiment has learnt the original names of the options"
    return ""
