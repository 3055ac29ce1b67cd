"""Read the file of IBM Debater Claim Stance v1 (Bar-Haim et al., 2017), claims about motions.

In the file, `claims.claimSentiment` is 1, -1 or blank, never 0. A blank marks a claim without an
annotatable target, which counts as neutral.
"""

from pathlib import Path

import pandas as pd

from moot.core.cases import stable_fraction
from moot.core.config_errors import Faults
from moot.datasets.reading.checks import check_values, read_usable_rows
from moot.datasets.reading.tables import read_csv
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


def read_claims(path: Path, faulty: float, cleaning: dict[str, int]) -> pd.DataFrame:
    """Read and check the official file, without faulty rows up to the share `faulty`.

    Returns:
        Columns claim_id, topic_id, split, topic, claim, stance and polarity, indexed by row.

    Raises:
        UserError: a missing file or column, an unknown split, stance or sentiment, a blank claim,
            or a repeated id.
    """

    def read(faults: Faults) -> pd.DataFrame:
        rows = read_csv(path, COLUMNS, get=DOWNLOAD, faults=faults)
        sentiments = rows["claims.claimSentiment"].str.strip().str.removesuffix(".0")
        return rows.assign(**{"claims.claimSentiment": sentiments})

    def check(rows: pd.DataFrame) -> None:
        check_values(path, rows["split"], ("train", "test"))
        check_values(path, rows["claims.stance"], ("PRO", "CON"))
        check_values(path, rows["claims.claimSentiment"], tuple(SENTIMENTS))
        check_texts(path, rows["claims.claimCorrectedText"])
        check_texts(path, rows["topicText"], topic=True)

    frame = read_usable_rows(path, read, check, faulty, cleaning, unique="claims.claimId")
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
