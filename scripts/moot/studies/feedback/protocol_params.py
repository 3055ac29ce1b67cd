"""The parameters of Debate-Feedback, and the names of its judge and assistant."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from moot.protocols import ProtocolParams

JUDGE, ASSISTANT = "judge", "assistant"


class FeedbackParams(ProtocolParams):
    """Parameters of Debate-Feedback.

    T is 0.5 as in the paper's Table 2, which states neither debaters nor rounds.
    """

    experiment_fields: ClassVar[tuple[str, ...]] = ("assistant",)

    debaters: int = Field(
        3, ge=1, le=5, description="how many debaters (the paper's example: 3; it advises 2 to 4)"
    )
    sides: Literal["free", "opposed"] = Field(
        "free", description="debaters choose their position, or each is given a label in turn"
    )
    opinions: Literal["text", "form"] = Field(
        "text",
        description=(
            "how debaters with `sides: free` state an opinion: in free text, from which the label"
            " is read (the paper), or in a form"
        ),
    )
    label_names: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "the name of a label in prompts and scored answers, by label (the paper: Plaintiff"
            " wins); default: the label in upper case"
        ),
    )
    rounds: int = Field(
        2, ge=1, le=5, description="rounds of openings and rebuttals (the paper advises 2 to 3)"
    )
    weight: float = Field(
        0.5,
        ge=0,
        le=1,
        description="T: the weight of the latest probabilities; 1: without smoothing",
    )
    assistant: str = Field(
        "", description="the experiment whose debates train the assistant; default: no assistant"
    )
    assistant_features: Literal["tfidf", "tfidf-crossed", "embeddings"] = Field(
        "tfidf",
        description="the assistant's inputs from case and opinion; tfidf is the light default",
    )
    statement_summaries: bool = Field(
        False,
        description=(
            "whether the judge summarises each debater's statements of a round, and the assistant"
            " reads the summary (the paper) instead of the rebuttal; the experiment that trains the"
            " assistant needs the same value"
        ),
    )
    judge_reads: Literal["summary", "last_opening"] = Field(
        "summary",
        description=(
            "what the judge reads of a round: its own summary (the paper), or the last debater's"
            " opening once for each debater, as the authors' released code has it"
        ),
    )
    threshold: float = Field(
        0.5, ge=0, le=1, description="smallest mean reliability with which a debate counts"
    )
    memory: bool = Field(True, description="whether debaters read the summaries of earlier rounds")
    words: int = Field(
        200,
        ge=10,
        description="maximum words of a statement, as stated in the prompt (the paper: 200)",
    )
    answer: Literal["auto", "likelihood", "generation"] = Field(
        "auto",
        description=(
            "source of the judge's probability: the label words' tokens, or a confidence stated "
            "with a generated answer; auto: tokens if the endpoint gives their probabilities"
        ),
    )
