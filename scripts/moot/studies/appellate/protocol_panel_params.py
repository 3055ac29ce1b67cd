"""The parameters of the three panels, their seats, and the labels that they can decide on."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from moot.protocols import ProtocolParams
from moot.studies.appellate.data_opinions import AFFIRM, NOT_AFFIRM

HUMAN = "human"
SCRIPT = "panel"
APPEAL = frozenset({AFFIRM, NOT_AFFIRM})


class PanelParams(ProtocolParams):
    """Parameters of all three panels. The defaults are the paper's."""

    likelihood_fields: ClassVar[tuple[str, ...]] = ("votes",)

    judges: int = Field(
        3, ge=1, le=9, description="Number of judges, including the human. Default: 3, the paper's."
    )
    rounds: int = Field(
        3,
        ge=1,
        le=9,
        description="Number of rounds; every judge speaks once per round. Default: 3, the paper's.",
    )
    votes: Literal["none", "generation", "likelihood"] | None = Field(
        None,
        description=(
            "Whether each judge also votes for a label at the end of each round, by a generated"
            " reply or by the log-probabilities of the labels. Default: none on appeals, generation"
            " on other labels."
        ),
    )


class SyntheticParams(PanelParams):
    """Parameters of the synthetic panel."""

    reply: Literal["text", "json"] = Field(
        "text",
        description=(
            "Format of a round: free text that is split by its headings (the paper), or JSON by"
            " judge. Default: text."
        ),
    )
    chars_per_judge: int = Field(
        1500,
        ge=20,
        description=(
            "Maximum characters of one judge in a JSON reply, so that all judges get space."
        ),
    )


class HumanPanelParams(PanelParams):
    """Parameters of the human-AI panel."""

    condition: Literal["balanced", "affirm", "not affirm"] = Field(
        "balanced",
        description=(
            "Stance of the human whose statements the sample has, unless a person sits there"
            " (`seats: {human: person}`). Default: balanced, each stance in half of a case's"
            " repeats."
        ),
    )

    @property
    def has_person(self) -> bool:
        """Whether the human is asked, instead of speaking the sample's statements."""
        return HUMAN in self.seats


def list_judges(params: PanelParams) -> list[str]:
    """Return the seats of the judges, including that of a human."""
    return [f"judge_{number}" for number in range(1, params.judges + 1)]


def find_misfit(params: PanelParams, labels: Sequence[str], _multilabel: bool) -> str:
    """Return why a panel on data with these labels gives no decision; "" if it gives one."""
    if set(labels) == APPEAL or params.votes != "none":
        return ""
    return (
        f"the labels are {', '.join(labels)}; expected {AFFIRM} and {NOT_AFFIRM}, which rules read"
        " from statements. Leave `votes` out, so that judges vote for these labels."
    )


def find_human_misfit(params: HumanPanelParams, labels: Sequence[str], multilabel: bool) -> str:
    """Return why a panel with a human on these data gives no decision; "" if it gives one."""
    if not params.has_person and set(labels) != APPEAL:
        return (
            f"the labels are {', '.join(labels)}; expected {AFFIRM} and {NOT_AFFIRM}, on which the"
            " sample has statements. Set `seats: {human: person}`, or use the protocol panel."
        )
    return find_misfit(params, labels, multilabel)
