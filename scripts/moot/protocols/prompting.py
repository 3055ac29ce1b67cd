"""Single-agent prompting and self-consistency, as in AgenticSimLaw.

Source: "Reasoning Methodologies" and Appendix A. The model writes the answer, as in the papers, or
the log-probabilities of the label words decide (`answer: likelihood`), as for multiple choice.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from moot.core.artifacts import read_frame
from moot.core.cases import Case, stable_fraction
from moot.core.errors import UserError
from moot.core.types import Fields
from moot.core.utterance_kinds import SAMPLE
from moot.protocols import AnswerMode, ProtocolParams, Temperature, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import gather_statements
from moot.protocols.reply_schemas import prediction_schema, read_answer

SEAT = "expert"
Factors = Annotated[int, Field(ge=1)] | Literal["any"]


class PromptingParams(ProtocolParams):
    """Parameters of a single prompt; temperature 0 as in the paper."""

    temperature: Temperature = 0.0
    answer: AnswerMode = "generation"


class ShotParams(PromptingParams):
    """Parameters of prompts with labelled examples."""

    shots: int = Field(
        30, ge=0, description="Number of labelled training cases in the prompt (the paper: 30)."
    )
    balanced: bool = Field(
        False,
        description=(
            "Whether each label has the same number of examples, instead of its share of the"
            " training split."
        ),
    )


class ChainOfThoughtParams(PromptingParams):
    """Parameters of prompts that weigh factors first."""

    factors: Factors = Field(
        10, description="Most factors to weigh, or `any` number of triples (the paper)."
    )


class ShotChainParams(ShotParams, ChainOfThoughtParams):
    """Parameters of chain of thought with labelled examples."""


class SelfConsistencyParams(ChainOfThoughtParams):
    """Parameters of self-consistency; sampled, so temperature 0.7."""

    experiment_fields: ClassVar[tuple[str, ...]] = (
        "source_experiment",
        "single_prompt_experiment",
    )

    temperature: Temperature = 0.7
    k: int | Literal["matched", "matched_tokens"] = Field(
        5,
        description=(
            "Samples of each case; `matched` takes the debate's number of calls,"
            " `matched_tokens` as many as its tokens pay for by price, or by generated tokens"
            " without a price."
        ),
    )
    source_experiment: str = Field(
        "", description="The experiment whose calls or tokens of each case a matched `k` takes."
    )
    single_prompt_experiment: str = Field(
        "",
        description=(
            "With `k: matched_tokens`, the experiment with one such sample of each case, for"
            " its price."
        ),
    )


def _expert(_params: PromptingParams) -> tuple[str]:
    return (SEAT,)


def choose_examples(
    examples: Sequence[Case], shots: int, seed: int, balanced: bool = False
) -> list[Case]:
    """Return labelled training cases for a prompt.

    They are the same for every case, so that prompts share their beginning.
    """
    ordered = sorted(examples, key=lambda case: stable_fraction("shots", seed, case.case_id))
    if not balanced:
        return ordered[:shots]
    cases_by_label: dict[str, list[Case]] = {label: [] for label in ordered[0].labels}
    for case in ordered:
        if case.target in cases_by_label:
            cases_by_label[case.target].append(case)
    turns = zip(*cases_by_label.values(), strict=False)
    return list(chain.from_iterable(turns))[:shots]


async def _answer(
    debate: Debate, params: PromptingParams, prompt: str, factors: Factors | Literal[0] = 0
) -> Answer | None:
    shots: list[Case] = []
    if isinstance(params, ShotParams):
        shots = choose_examples(debate.examples, params.shots, debate.seed, params.balanced)
    if params.answer == "likelihood":
        utterance = await debate.choose(SEAT, "prediction", prompt, shots=shots)
    else:
        schema = prediction_schema(debate.task, factors=factors)
        utterance = await debate.say(SEAT, "prediction", prompt, schema=schema, shots=shots)
    return read_answer(debate, utterance)


def _single(prompt: str) -> Fields:
    return {"study": "courtroom", "prompts": (prompt, "prompting/base"), "seats": _expert}


@protocol("few_shot", ShotParams, **_single("prompting/zero_shot"))
@protocol("zero_shot", PromptingParams, **_single("prompting/zero_shot"))
async def ask_at_once(debate: Debate, params: PromptingParams) -> Answer | None:
    """Ask for a prediction at once (the paper's `system1`), after `shots` labelled cases if any."""
    return await _answer(debate, params, "prompting/zero_shot")


@protocol("n_shot_cot", ShotChainParams, **_single("prompting/cot"))
@protocol("cot", ChainOfThoughtParams, **_single("prompting/cot"))
async def weigh_factors(debate: Debate, params: ChainOfThoughtParams) -> Answer | None:
    """Weigh each factor low, medium or high, then predict, after `shots` labelled cases if any."""
    return await _answer(debate, params, "prompting/cot", params.factors)


def _matched_predictions(params: SelfConsistencyParams) -> dict[str, str]:
    keys = {
        "matched": ("source_experiment",),
        "matched_tokens": ("source_experiment", "single_prompt_experiment"),
    }.get(str(params.k), ())
    return {name: f"predictions/{getattr(params, name)}/{{model}}.parquet" for name in keys}


def _sample_count(debate: Debate, params: SelfConsistencyParams) -> int:
    """Return the number of samples: `k`, or one that matches the calls or tokens of a debate.

    A price relates prompt tokens to generated tokens. Without a price only generated tokens are
    matched, since these take most of a model's time, and a debate's prompts repeat themselves.
    """
    if isinstance(params.k, int):
        return params.k
    predictions = read_frame(debate.artifacts["source_experiment"])
    if predictions["calls"].isna().any():
        raise UserError(
            f"self_consistency: the number of calls in the recorded debates of"
            f" {params.source_experiment} is not known. Set `k`."
        )
    if params.k == "matched":
        return max(1, round(float(predictions["calls"].mean())))
    single = read_frame(debate.artifacts["single_prompt_experiment"])
    for column in ("cost_usd", "completion_tokens"):
        cost_of_debate = float(predictions[column].mean())
        cost_of_samples = float(single[column].sum())
        if cost_of_debate and cost_of_samples:
            return max(1, round(cost_of_debate / (cost_of_samples / float(single["calls"].sum()))))
    return 1


@protocol(
    "self_consistency",
    SelfConsistencyParams,
    study="courtroom",
    prompts=("prompting/cot", "prompting/zero_shot", "prompting/base"),
    needs=_matched_predictions,
    seats=_expert,
)
async def self_consistency(debate: Debate, params: SelfConsistencyParams) -> Answer | None:
    """Sample k chains of thought and take the majority; a tie goes to the label that came first."""
    schema = prediction_schema(debate.task, factors=params.factors)
    samples = await gather_statements(
        *(
            debate.say(
                SEAT, SAMPLE, "prompting/cot", schema=schema, utterances=(), round=number, shots=[]
            )
            for number in range(1, _sample_count(debate, params) + 1)
        )
    )
    votes = Counter(sample.prediction for sample in samples if sample.prediction is not None)
    if not votes:
        return None
    prediction, count = votes.most_common(1)[0]
    share = count / votes.total()
    positive = votes[debate.task.positive] / votes.total() if debate.task.positive else None
    return Answer(prediction, 100 * share, positive, probability=share)
