"""Read the file of IBM Debater Claim Stance v1 (Bar-Haim et al., 2017), claims about motions.

In the file, `claims.claimSentiment` is 1, -1 or blank, never 0. A blank marks a claim without an
annotatable target, which counts as neutral.
"""

from pathlib import Path

import pandas as pd

from moot.core.cases import stable_fraction
from moot.core.input_files import check_values, read_csv
from moot.datasets.topics import check_texts

COLUMNS = (
    "topicId",
    "split",
    "topicText",
    "claims.claimId",
    "claims.stance",
    "claims.claimCorrectedText",
    "claims.claimSentiment",
)
FILE = "claim_stance_dataset_v1.csv"
SENTIMENTS = {"1": "positive", "-1": "negative", "": "neutral"}
DOWNLOAD = (
    "get the Claim Stance data set from IBM's Project Debater page and put its CSV file there."
)


def read_claims(path: Path) -> pd.DataFrame:
    """Read and check the official file.

    Returns:
        Columns claim_id, topic_id, split, topic, claim, stance and polarity, indexed by row.

    Raises:
        UserError: a missing file or column, an unknown split, stance or sentiment, a blank claim,
            or a repeated id.
    """
    frame = read_csv(path, COLUMNS, unique="claims.claimId", get=DOWNLOAD)
    check_values(path, frame["split"], ("train", "test"))
    check_values(path, frame["claims.stance"], ("PRO", "CON"))
    frame["claims.claimSentiment"] = (
        frame["claims.claimSentiment"].str.strip().str.removesuffix(".0")
    )
    check_values(path, frame["claims.claimSentiment"], tuple(SENTIMENTS))
    check_texts(path, frame["claims.claimCorrectedText"])
    check_texts(path, frame["topicText"], topic=True)
    return pd.DataFrame(
        {
            "claim_id": frame["claims.claimId"],
            "topic_id": frame["topicId"],
            "split": frame["split"],
            "topic": frame["topicText"],
            "claim": frame["claims.claimCorrectedText"],
            "stance": frame["claims.stance"].str.lower(),
            "polarity": frame["claims.claimSentiment"].map(SENTIMENTS),
        }
    )


def with_validation(claims: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """Move a share of the training topics to validation; the seed selects the topics."""
    topics = sorted(set(claims.loc[claims["split"] == "train", "topic_id"]))
    topics.sort(key=lambda topic: (stable_fraction("validation", seed, topic), topic))
    is_moved = (claims["split"] == "train") & claims["topic_id"].isin(
        topics[: round(len(topics) * share)]
    )
    return claims.assign(split=claims["split"].mask(is_moved, "validation"))
