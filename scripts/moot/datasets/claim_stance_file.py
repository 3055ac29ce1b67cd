"""Read the file of IBM Debater Claim Stance v1 (Bar-Haim et al., 2017), claims about motions.

In the file, `claims.claimSentiment` is 1, -1 or blank, never 0. A blank marks a claim without an
annotatable target, which counts as neutral.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from moot.core.cases import stable_fraction
from moot.datasets.reading.checks import check_unique, check_values, run_checks
from moot.datasets.reading.delimited import read_csv
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
    frame = read_csv(path, COLUMNS, get=DOWNLOAD)
    sentiments = frame["claims.claimSentiment"].str.strip().str.removesuffix(".0")
    run_checks(
        partial(check_unique, path, frame["claims.claimId"]),
        partial(check_values, path, frame["split"], ("train", "test")),
        partial(check_values, path, frame["claims.stance"], ("PRO", "CON")),
        partial(check_values, path, sentiments, tuple(SENTIMENTS)),
        partial(check_texts, path, frame["claims.claimCorrectedText"]),
        partial(check_texts, path, frame["topicText"], topic=True),
    )
    return pd.DataFrame(
        {
            "claim_id": frame["claims.claimId"],
            "topic_id": frame["topicId"],
            "split": frame["split"],
            "topic": frame["topicText"],
            "claim": frame["claims.claimCorrectedText"],
            "stance": frame["claims.stance"].str.lower(),
            "polarity": sentiments.map(SENTIMENTS),
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
