"""Changes of opinions during a debate: flips, and the first and the last opinion.

An opinion is an utterance that states a prediction. A seat is followed if it states an opinion,
hears another seat in public, and states an opinion again: the judge of a courtroom or each member
of a panel, but not the samples of self-consistency. Each such seat has a group `speaker=NAME`. If
there are many seats, such as the members of talking groups, they form one group, `EVERYBODY`.
"""

from collections.abc import Collection, Iterator
from itertools import product

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.core.schemas import JUDGED
from moot.core.utterance_kinds import CONCLUSION, NO_LABEL, PUBLIC, SPEECH, UNUSABLE, name_of_judge
from moot.scores import concat_scores, no_scores, scorer, to_frame
from moot.scores.groups import probability_of_positive
from moot.scores.results import ExperimentResults
from moot.scores.score import Score
from moot.scores.transcript_shards import KEYS
from moot.stats.arrays import as_numbers
from moot.stats.statistic import AMOUNT, mean_statistic, share_statistic

EVERYBODY, MAX_SEATS = "everybody", 12
DEBATE = ["model", "debate_id", "speaker"]
OPINION = (*KEYS, "round", "speaker", "kind", "prediction", "confidence", "probability")
_TRANSCRIPT_COLUMNS = [*OPINION, "visibility", "parse_status", "text"]
_UNDECIDED_FACTS = f'"(?:distribution|{NO_LABEL})":'
"""Keys in the JSON of an utterance's facts that hold beliefs, or an answer that is not a label."""
# few distinct values in many rows
_CATEGORIES = ["model", "debate_id", "case_id", "speaker", "kind", "prediction", "target"]


@scorer("dynamics")
def dynamics(results: ExperimentResults) -> pd.DataFrame:
    """Opinions of every seat that states some before and after others spoke, by model.

    `flips_per_debate` and `debates_with_flip`; `accuracy`, `confidence` and `belief_in_positive`
    of the first and of the last opinion.
    """
    opinions = stated_predictions(results)
    if results.task.multilabel or opinions.empty:
        return no_scores()
    may_have_moved = opinions["previous"].notna() & (opinions["heard"] > 0)
    followed = sorted(opinions.loc[may_have_moved, "speaker"].unique())
    if len(followed) > MAX_SEATS:
        seats = {EVERYBODY: opinions["speaker"].isin(followed)}
    else:
        seats = {speaker: opinions["speaker"] == speaker for speaker in followed}
    frames: list[pd.DataFrame] = []
    for model, (speaker, is_seat) in product(results.config.models, seats.items()):
        rows = opinions[(opinions["model"] == model) & is_seat]
        if len(rows):
            scores = _speaker_scores(rows, speaker, results)
            frames.append(to_frame(results.experiment, model, scores))
    return concat_scores(frames)


def stated_predictions(results: ExperimentResults) -> pd.DataFrame:
    """Return every stated opinion in the order of turns.

    It has the columns of `OPINION` and the following. target; correct. belief: for two labels,
    the probability of the positive label, computed from the opinion's `probability` of its
    prediction. previous and shift: the seat's last prediction in this debate, and the change of its
    belief since then. heard: how often others spoke in public since its last opinion, or since the
    start.
    """
    return _with_moves(results.gather(_opinions, _TRANSCRIPT_COLUMNS), results)


def stated_answers(
    results: ExperimentResults, speakers: Collection[str] | None = None, model: str = ""
) -> pd.DataFrame:
    """Return the opinions of `stated_predictions` and answers that name no label.

    The latter are equal beliefs, or UNKNOWN. Their prediction is "", and they count as not right.
    `speakers` limits the result to their opinions, `model` to the debates of that model.
    """

    def select(part: pd.DataFrame) -> pd.DataFrame:
        return _answers(part if speakers is None else part[part["speaker"].isin(speakers)])

    return _with_moves(results.gather(select, [*_TRANSCRIPT_COLUMNS, "parsed"], model), results)


def judge_names(predictions: pd.DataFrame) -> set[str]:
    """Return the speakers whose answers are the predictions, if several answer about a debate."""
    if "judge" not in predictions:
        return set()
    rows = predictions[[*JUDGED]].dropna(subset="judge").drop_duplicates()
    rows = rows.astype(object).fillna({"persona": "", "judge_repeat": 0})
    return {name_of_judge(*row) for row in rows.itertuples(index=False)}


def stated_by_part(results: ExperimentResults) -> Iterator[pd.DataFrame]:
    """Yield the opinions of `stated_predictions`, some debates at a time."""
    for part in results.transcript_parts(_TRANSCRIPT_COLUMNS):
        yield _with_moves(_opinions(part), results)


def _with_moves(opinions: pd.DataFrame, results: ExperimentResults) -> pd.DataFrame:
    """Add target, correct, belief, previous and shift to some debates' opinions."""
    opinions["target"] = opinions["case_id"].map(results.targets)
    opinions["correct"] = as_numbers(opinions["prediction"] == opinions["target"])
    for name in _CATEGORIES:
        opinions[name] = opinions[name].astype("category")
    positive = positive_of_two(results.task)
    opinions["belief"] = (
        probability_of_positive(opinions.assign(score=np.nan), results.task) if positive else np.nan
    )
    seats = opinions.groupby(DEBATE, sort=False)
    opinions["previous"] = seats["prediction"].shift()
    opinions["shift"] = opinions["belief"] - seats["belief"].shift()
    return opinions


def _opinions(transcripts: pd.DataFrame) -> pd.DataFrame:
    """Return the stated opinions of some debates, with the column heard."""
    return _select_opinions(transcripts, transcripts["prediction"] != "")


def _answers(transcripts: pd.DataFrame) -> pd.DataFrame:
    """Return the stated answers of some debates, also those that name no label."""
    is_undecided = transcripts["parsed"].fillna("").str.contains(_UNDECIDED_FACTS)
    is_undecided &= ~transcripts["parse_status"].isin(UNUSABLE)
    return _select_opinions(transcripts, (transcripts["prediction"] != "") | is_undecided)


def _select_opinions(transcripts: pd.DataFrame, is_answer: "pd.Series[bool]") -> pd.DataFrame:
    """Select the answers among the utterances of some debates, with the column heard."""
    is_conclusion = transcripts["kind"] == CONCLUSION
    # a recorded speech counts even if moot does not ship its words
    is_speech = (transcripts["kind"] == SPEECH) & (transcripts["parse_status"] == "")
    has_words = (transcripts["text"] != "") | is_speech
    is_public = has_words & (transcripts["visibility"] == PUBLIC) & ~is_conclusion
    speeches = transcripts[DEBATE].assign(public=is_public)
    spoken = speeches.groupby(DEBATE[:2], sort=False)["public"].cumsum()
    spoken_by_seat = speeches.groupby(DEBATE, sort=False)["public"].cumsum()
    opinions = transcripts[[*OPINION]].assign(heard=spoken - spoken_by_seat)
    opinions = opinions[is_answer & ~is_conclusion]
    heard_before = opinions.groupby(DEBATE, sort=False)["heard"].shift(fill_value=0)
    return opinions.assign(heard=opinions["heard"] - heard_before)


def _speaker_scores(
    rows: pd.DataFrame, speaker: str, results: ExperimentResults
) -> Iterator[Score]:
    name = f"speaker={speaker}"
    debates = rows.groupby([rows["debate_id"], rows["speaker"]], sort=True)
    has_flipped = rows["previous"].notna() & (rows["previous"] != rows["prediction"])
    flips = has_flipped.groupby([rows["debate_id"], rows["speaker"]], sort=True).sum()
    sample = results.sample(debates["case_id"].first())
    yield sample.score("flips_per_debate", mean_statistic(flips, AMOUNT), name)
    yield sample.score("debates_with_flip", share_statistic(flips > 0), name)
    turns = {"first": debates["turn"].idxmin(), "last": debates["turn"].idxmax()}
    for moment, indices in turns.items():
        opinions = rows.loc[indices]
        values = {
            "confidence": opinions["confidence"] / 100,
            "belief_in_positive": opinions["belief"],
        }
        if results.has_truth:
            values = {"accuracy": opinions["correct"], **values}
        for metric, column in values.items():
            stated = column.dropna()
            if len(stated):
                sample = results.sample(opinions.loc[stated.index, "case_id"])
                yield sample.score(metric, share_statistic(stated), f"{name};opinion={moment}")
