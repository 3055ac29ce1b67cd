"""Control arms: what an experiment would come to without its debate, or with one thing about the
debate changed.

`arms: [noise, alone]` in the entry of an experiment NAME makes further experiments NAME-arm=noise
and NAME-arm=alone, each over the same cases with the same models. docs/controls.md shows each arm
by an example. An arm is one of two
things: another protocol in place of the experiment's own, or a debate in which some seats speak or
    hear differently.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moot.core.errors import unknown_name
from moot.core.types import Fields, JsonObject
from moot.protocols import Debaters, ProtocolEntry, ProtocolParams
from moot.protocols.arm_debates import (
    ArmDebate,
    Authority,
    Certainty,
    ChallengeDebate,
    CommitFirstDebate,
    ConsultancyDebate,
    FalseCitation,
    Names,
    NoiseDebate,
    Padding,
    PlantDebate,
    SwapDebate,
)
from moot.protocols.people import is_person

ATTRIBUTION = "attribution"
CALLS_MATCHED, TOKENS_MATCHED, RELABELLED, SWAP = (
    "matched_calls",
    "matched_tokens",
    "labels_swapped",
    "swap",
)
COMMIT, CHALLENGED = "commit_first", "challenge"
_COMMON = ("temperature", "max_tokens", "form_tokens", "seats")
_GENERATED = ("generation", "likelihood")


@dataclass(frozen=True, slots=True)
class Full:
    """The experiment that an arm is compared with.

    Attributes:
        attribution: how the arm of that name is held, as its entry states it.
        stated: the parameters that its entry in the configuration states.
        params: all of them, checked.
    """

    name: str
    protocol: str
    entry: ProtocolEntry
    stated: Fields
    params: ProtocolParams
    attribution: Fields


@dataclass(frozen=True, slots=True)
class Arm:
    """A control arm.

    Attributes:
        what: what is changed, a clause for tables and messages.
        debate: how its debates are held; None for as the protocol holds them.
        instead: the protocol that takes the place of the experiment's own, and its parameters.
        held: whether it rests on the transcripts of the full experiment.
        needs_debaters: whether it means nothing without debaters.
        needs_sides: whether debaters must be told what to argue for.
        needs_judge: whether one must decide who does not argue.
    """

    what: str
    debate: type[ArmDebate] | None = None
    instead: Callable[[Full], tuple[str, JsonObject]] | None = None
    held: bool = False
    needs_debaters: bool = True
    needs_sides: bool = False
    needs_judge: bool = False

    @property
    def templates(self) -> tuple[str, ...]:
        """Prefixes of the templates that the arm itself uses."""
        return (f"{self.debate.template}",) if self.debate and self.debate.template else ()


def _alone(full: Full) -> tuple[str, JsonObject]:
    debaters = _debaters(full)
    answer = full.params.model_dump().get("answer", "")
    chosen = {"answer": answer} if answer in _GENERATED else {}
    speakers = tuple(debaters.seats(full.params))
    return "alone", {
        **_common(full),
        **chosen,
        "beside": full.name,
        "speakers": speakers,
        "judge": debaters.judge,
    }


def _samples(k: str) -> Callable[[Full], tuple[str, JsonObject]]:
    def instead(full: Full) -> tuple[str, JsonObject]:
        named = {"k": k, "beside": full.name}
        if k == "matched_tokens":
            named["single"] = arm_name(full.name, CALLS_MATCHED)
        return "self_consistency", {**_common(full), **named}

    return instead


def _attribution(full: Full) -> tuple[str, JsonObject]:
    judge = _debaters(full).judge
    goes_on = full.attribution.get("rerun_from")
    seats = {seat: voice for seat, voice in full.params.seats.items() if goes_on or seat == judge}
    judged = {
        "judged_as": full.protocol,
        "judged_with": full.stated,
        "judge": judge,
        "seats": seats,
    }
    return ATTRIBUTION, {**full.attribution, **judged, "beside": full.name}


def _common(full: Full) -> JsonObject:
    return {name: full.stated[name] for name in _COMMON if name in full.stated}


def _debaters(full: Full) -> Debaters:
    if full.entry.debaters is None:
        raise ValueError(f"'{full.name}' has no debaters")  # refused by `problem`
    return full.entry.debaters


ARMS: Mapping[str, Arm] = {
    "noise": Arm("statements of another case's debate in place of its own", NoiseDebate, held=True),
    "alone": Arm("the judge thinks again as often as debaters spoke", instead=_alone),
    "consultancy": Arm("one side alone speaks", ConsultancyDebate, needs_sides=True),
    SWAP: Arm(
        "debaters' seats exchanged between their models, and their order reversed", SwapDebate
    ),
    RELABELLED: Arm("the options in reversed order and under other names", needs_debaters=False),
    "plant_citation": Arm("a citation of nothing in one debater's first statement", FalseCitation),
    "plant_authority": Arm("an appeal to authority in one debater's first statement", Authority),
    "plant_certainty": Arm("one debater says to be sure beyond any doubt", Certainty),
    "plant_names": Arm("debaters sign their first statements with names of two groups", Names),
    "plant_padding": Arm("one debater's statements padded to twice their length", Padding),
    COMMIT: Arm(
        "the judge commits itself to criteria and an answer before it hears the debate",
        CommitFirstDebate,
        needs_judge=True,
    ),
    CHALLENGED: Arm(
        "the judge is told up to six times, without a reason, that its answer is wrong",
        ChallengeDebate,
        needs_judge=True,
    ),
    CALLS_MATCHED: Arm(
        "a vote over as many single answers as the debate makes calls",
        instead=_samples("matched"),
        needs_debaters=False,
    ),
    TOKENS_MATCHED: Arm(
        "a vote over as many single answers as the debate's tokens pay for",
        instead=_samples("matched_tokens"),
        needs_debaters=False,
    ),
    ATTRIBUTION: Arm(
        "one turn taken out or replaced, the judge alone asked again", instead=_attribution
    ),
}
"""Every control arm, by name."""


def arm_name(experiment: str, arm: str) -> str:
    """The name of an experiment's arm."""
    return f"{experiment}-arm={arm}"


def find_arm(name: str, where: str) -> Arm:
    """An arm by name; `UserError` for an unknown one."""
    if name not in ARMS:
        raise unknown_name("control arm", name, ARMS, where)
    return ARMS[name]


def problem(
    name: str, protocol: str, full: Full, labels: tuple[str, ...], beside: tuple[str, ...]
) -> str:
    """Why an arm means nothing for an experiment, and what to do; "" where it has a meaning.

    Args:
        name, protocol: of the arm, and of the experiment.
        labels: of its data, as far as they are known before the data are loaded.
        beside: all arms of the experiment.
    """
    if name == ATTRIBUTION:
        return _judge_problem(protocol, full)
    if full.entry.options.words == "none":
        return (
            f"protocol '{protocol}' asks for no answer that an arm could change. Remove it from"
            " `arms`."
        )
    if name == TOKENS_MATCHED and CALLS_MATCHED not in beside:
        return (
            f"it takes the price of a sample from '{CALLS_MATCHED}'. Add '{CALLS_MATCHED}' to"
            " `arms`."
        )
    decided = ARMS[name].instead or ARMS[name].needs_judge
    if decided and full.entry.debaters and labels and set(labels) == full.entry.debaters.among_them:
        found = "the answer is what debaters come to, so that without them there is none"
        return f"{ARMS[name].what}: {found}. Remove it from `arms`."
    found = (
        _options_problem(protocol, full, labels)
        if name == RELABELLED
        else _debaters_problem(name, protocol, full)
    )
    return f"{ARMS[name].what}: {found}. Remove it from `arms`." if found else ""


def _debaters_problem(name: str, protocol: str, full: Full) -> str:
    arm, debaters = ARMS[name], full.entry.debaters
    seats = debaters.seats(full.params) if debaters else ()
    if arm.needs_debaters and not seats:
        return f"protocol '{protocol}' asks no debaters"
    people = [seat for seat in seats if is_person(full.params.seats.get(seat, ""))]
    if people and arm.debate and issubclass(arm.debate, PlantDebate):
        return f"{people[0]} is a person's seat, and no words are put into a person's mouth"
    if arm.needs_sides and not (debaters and debaters.given_sides(full.params)):
        return "the debaters of this experiment are told no side to argue for"
    if arm.needs_judge and debaters and debaters.peers:
        return "those who argue also decide, so that no judge hears them"
    return "this experiment has one debater" if name == SWAP and len(seats) == 1 else ""


def _judge_problem(protocol: str, full: Full) -> str:
    debaters = full.entry.debaters
    if debaters is None or debaters.peers:
        return (
            f"protocol '{protocol}' has no judge who hears debaters and decides. Remove it, and let"
            f" a model judge the debates: an experiment of protocol '{ATTRIBUTION}' with `params:"
            f" {{beside: {full.name}, debated_by: MODEL}}`."
        )
    if is_person(full.params.seats.get(debaters.judge, "")):
        return f"{debaters.judge} is a person's seat, and a model alone is asked again. Remove it."
    people = [
        seat for seat in debaters.seats(full.params) if is_person(full.params.seats.get(seat, ""))
    ]
    if people and full.attribution.get("rerun_from"):
        return (
            f"{people[0]} is a person's seat, and `rerun_from` asks debaters again. Remove"
            " `rerun_from`."
        )
    return ""


def _options_problem(protocol: str, full: Full, labels: tuple[str, ...]) -> str:
    known = full.entry.options.known
    if labels and set(labels) == known:
        return (
            f"protocol '{protocol}' and its rules know the options of this data by name"
            f" ({', '.join(sorted(known))})"
        )
    learnt = "assistant" in type(full.params).model_fields and full.params.model_dump()["assistant"]
    return (
        "the assistant of this experiment has learnt the options under their own names"
        if learnt
        else ""
    )


def renames(entry: ProtocolEntry) -> bool:
    """Whether `labels_swapped` gives the options other names and another order; else the words are
    the protocol's.
    """
    return entry.options.words == "task"


def exchange_seats(full: Full) -> dict[str, str]:
    """The parameter `seats` with the debaters' models in reversed order."""
    given, own = dict(full.params.seats), ""
    names = list(_debaters(full).seats(full.params))
    models = [given.pop(seat, own) for seat in names]
    return given | {
        seat: model for seat, model in zip(names, reversed(models), strict=True) if model != own
    }
