"""The simulated voice that replaces a language model in a rehearsal."""

from collections.abc import Mapping

from pydantic import Field, model_validator

from moot.core.strict_model import Share, StrictModel

SIMULATED = "simulated"
"""The endpoint of voices that replace models in a rehearsal."""
REHEARSAL_MARK = "SIMULATED"
"""Marks each result of a rehearsal."""
SPEED_KEY = "`simulated: {tokens_per_second: ...}`"
"""The key of a model that states its speed."""


class SimulatedVoice(StrictModel):
    """The parameters of the statistical model that replaces a language model in a rehearsal.

    Beliefs are log-odds of the truth. docs/planning.md states the model. The defaults are
    illustrative; they are not fitted to any model.
    """

    competence: float = Field(
        0.65,
        gt=0,
        lt=1,
        description="Probability of a correct answer without biases and without a debate.",
    )
    difficulty_sd: float = Field(
        1.0,
        ge=0,
        description="Standard deviation of the cases' difficulty, shared by all simulated models.",
    )
    model_sd: float = Field(
        0.6, ge=0, description="Standard deviation of this model's own belief about each case."
    )
    noise_sd: float = Field(
        0.3,
        gt=0,
        description="Standard deviation between calls at temperature 1; scales with temperature.",
    )
    true_argument: float = Field(
        0.25, description="Shift of a belief by an advocate's argument for the truth."
    )
    false_argument: float = Field(
        0.2, description="Shift of a belief by an advocate's argument against the truth."
    )
    peer_pull: float = Field(
        0.3, description="Shift towards the position of another model on a panel."
    )
    human_pull: float = Field(0.6, description="Shift towards the position of a person on a panel.")
    stubbornness: float = Field(0.8, description="Shift towards the model's own last position.")
    label_bias: Mapping[str, float] = Field(
        default_factory=dict, description="bias towards each label"
    )
    word_bias: Mapping[str, float] = Field(
        default_factory=dict,
        description=(
            "bias towards the positive label by each of these words in a case's text (a group's "
            "effect)"
        ),
    )
    first_option_bias: float = Field(
        0.0, description="bias towards the label that the question names first"
    )
    first_speaker_bias: float = Field(0.0, description="bias towards the side that argued first")
    overconfidence: float = Field(
        1.5,
        ge=0,
        description=(
            "factor on the stated log-odds; 1 means right as often as stated, without a debate"
        ),
    )
    unusable: Share = Field(0.0, description="share of replies that state no answer")
    empty: Share = Field(0.0, description="share of replies without text")
    cut_off: Share = Field(0.0, description="share of replies that end half-way")
    malformed: Share = Field(0.0, description="share of replies with broken form")
    refused: Share = Field(0.0, description="share of replies that refuse")
    misread: Share = Field(
        0.0, description="share of random labels, if the voice labels statements"
    )
    grader_noise: float = Field(
        1.0, ge=0, description="standard deviation of its grades, out of ten, around a constant"
    )
    words: int = Field(
        80, ge=1, description="number of words of a free text, up to the maximum tokens of a reply"
    )
    tokens_per_second: float = Field(40.0, gt=0, description="speed of the replaced model")
    seconds_to_first_token: float = Field(0.6, ge=0, description="latency of the replaced model")

    @property
    def configured_speed(self) -> float | None:
        """The tokens a second that the configuration states; None if it states none."""
        is_configured = "tokens_per_second" in self.model_fields_set
        return self.tokens_per_second if is_configured else None

    @model_validator(mode="after")
    def _shares_add_up(self) -> "SimulatedVoice":
        total = self.unusable + self.empty + self.cut_off + self.malformed + self.refused
        if total > 1:
            raise ValueError(f"the shares of bad replies add up to {total:g}; expected at most 1")
        return self
