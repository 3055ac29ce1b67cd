"""IBM Debater Claim Stance v1: claims about debating motions, as two classification tasks.

The source is Bar-Haim et al. (2017).

`claim_stance` asks whether a claim supports the motion (pro, con); `claim_polarity` asks for the
claim's sentiment (positive, negative, neutral).
"""

from dataclasses import replace

import pandas as pd
from pydantic import Field

from moot.core.cases import Case, Task
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.claim_stance_file import FILE, read_claims, with_validation
from moot.datasets.topics import source_folder, source_notes, topic_and_text


class ClaimOptions(DatasetOptions):
    """Options of `claim_stance` and `claim_polarity`."""

    validation: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="share of the training topics kept for validation, whole topics at a time",
    )


STANCE = Task(
    noun="the claim",
    question="Does the claim support or contest the motion?",
    labels=("con", "pro"),
    positive="pro",
    meaning={
        "con": "the claim speaks against the motion",
        "pro": "the claim speaks for the motion",
    },
    background="Each claim is one sentence from an encyclopedia article, corrected to stand alone.",
    cluster="topic",
)
POLARITY = Task(
    noun="the claim",
    question=(
        "Is the sentiment that the claim expresses towards its subject positive, negative or"
        " neutral?"
    ),
    labels=("negative", "neutral", "positive"),
    meaning={
        "negative": "the claim speaks badly of its subject",
        "neutral": "the claim expresses no sentiment towards a subject",
        "positive": "the claim speaks well of its subject",
    },
    background=STANCE.background,
    cluster=STANCE.cluster,
)


@dataset("claim_stance", ClaimOptions, shipped=("data/samples/claim_stance",))
def load_stance(options: ClaimOptions, context: LoadContext) -> Loaded:
    """Load claims with their stance on the motion.

    Cases have the attributes `topic` (the motion) and `polarity`.
    """
    return _load_claims(options, context, STANCE, target="stance", attribute="polarity")


@dataset("claim_polarity", ClaimOptions, "claim_stance", shipped=("data/samples/claim_stance",))
def load_polarity(options: ClaimOptions, context: LoadContext) -> Loaded:
    """Load claims with their sentiment; attributes `topic` (the motion) and `stance`."""
    return _load_claims(options, context, POLARITY, target="polarity", attribute="stance")


def share_notes(claims: pd.DataFrame) -> tuple[str, ...]:
    """Return the notes on shares, a single one on pro claims.

    The paper prints the share among all claims as the share among the test claims.
    """
    pro = claims["stance"] == "pro"
    test_share = pro[claims["split"] == "test"].mean()
    return (
        (
            f"{test_share:.1%} of the test claims are pro; the paper gives {pro.mean():.1%}, the"
            " share among all claims"
        ),
    )


def _load_claims(
    options: ClaimOptions, context: LoadContext, task: Task, *, target: str, attribute: str
) -> Loaded:
    path = source_folder(options.source, context) / "claim_stance" / FILE
    claims = with_validation(read_claims(path), options.validation, context.seed)
    cases = []
    for row in claims.reset_index().to_dict("records"):
        case_id = f"{context.name}-{row['claim_id']}"
        text = topic_and_text(row["topic"], "Claim", row["claim"])
        attributes = {"topic": row["topic"], attribute: row[attribute]}
        case = Case(
            case_id,
            context.name,
            row["split"],
            text,
            row[target],
            task.labels,
            attributes,
            row["row"],
        )
        cases.append(case)
    cleaning: dict[str, int] = {}
    for data_split, count in claims["split"].value_counts(sort=False).items():
        cleaning[f"{data_split} claims"] = int(count)
    cleaning["claims without an annotatable target (neutral)"] = int(
        (claims["polarity"] == "neutral").sum()
    )
    notes = source_notes(options.source) or (share_notes(claims) if target == "stance" else ())
    return Loaded(cases, replace(task, notes=notes), cleaning=cleaning, sources=[path])
