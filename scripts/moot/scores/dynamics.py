"""Changes of opinions during a debate: flips, persuasion, confidence by turn, base rates.

An opinion is an utterance that states a prediction. A seat is followed if it states an opinion,
hears another seat in public, and states an opinion again: the judge of a courtroom or each member
of a panel, but not the samples of self-consistency. Each such seat has a group `speaker=NAME`. If
there are many seats, such as the members of talking groups, they form one group, `EVERYBODY`.
"""

from collections.abc import Iterator
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
from moot.stats.statistic import (
    AMOUNT,
    DIFFERENCE,
    SHARE,
    Statistic,
    mean_statistic,
    ratio_statistic,
    share_statistic,
)

NO_SPEAKER = "nobody"  # spoke between the last belief and the verdict
EVERYBODY, MOST_SEATS = "everybody", 12
DEBATE = ["model", "debate_id", "speaker"]
OPINION = (*KEYS, "round", "speaker", "kind", "prediction", "confidence", "probability")
_TRANSCRIPT_COLUMNS = [*OPINION, "visibility", "parse_status", "text"]
_UNDECIDED_FACTS = f'"(?:distribution|{NO_LABEL})":'
"""Keys in the JSON of an utterance's facts that hold beliefs, or an answer that is not a label."""
_CATEGORIES = [
    "model",
    "debate_id",
    "case_id",
    "speaker",
    "kind",
    "prediction",
    "after",
    "target",
]  # few distinct values in many rows


@scorer("dynamics")
def dynamics(results: ExperimentResults) -> pd.DataFrame:
    """Of the opinions of every seat that states some before and after others spoke, by model:
    `flips_per_debate`, `debates_with_flip`, `accuracy`, `confidence`, `belief_in_positive`,
    `shift_to_positive`, `moves_to_positive`, `flips_to:LABEL`, `beliefs_missing`.
    """
    opinions = stated_predictions(results)
    if results.task.multilabel or opinions.empty:
        return no_scores()
    may_have_moved = opinions["previous"].notna() & (opinions["after"] != "")
    followed = sorted(opinions.loc[may_have_moved, "speaker"].unique())
    if len(followed) > MOST_SEATS:
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
    belief since then. after: the speakers in public since its last opinion or since the start,
    joined by ",".
    """
    return _with_moves(results.gather(_opinions, _TRANSCRIPT_COLUMNS), results)


def stated_answers(results: ExperimentResults) -> pd.DataFrame:
    """Return the opinions of `stated_predictions` and answers that name no label.

    The latter are equal beliefs, or UNKNOWN.

    Their prediction is "", and they count as not right.
    """
    columns = [*_TRANSCRIPT_COLUMNS, "parsed"]
    return _with_moves(results.gather(_answers, columns), results)


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
    """Return the stated opinions of some debates, with the column after."""
    return _select_opinions(transcripts, transcripts["prediction"] != "")


def _answers(transcripts: pd.DataFrame) -> pd.DataFrame:
    """Return the stated answers of some debates, with the column after.

    They include answers that name no label.
    """
    is_undecided = transcripts["parsed"].fillna("").str.contains(_UNDECIDED_FACTS)
    is_undecided &= ~transcripts["parse_status"].isin(UNUSABLE)
    return _select_opinions(transcripts, (transcripts["prediction"] != "") | is_undecided)


def _select_opinions(transcripts: pd.DataFrame, is_answer: "pd.Series[bool]") -> pd.DataFrame:
    """Select the answers among the utterances of some debates, with the column after."""
    is_opinion = is_answer & (transcripts["kind"] != CONCLUSION)
    spoken_before = _public_speakers_before(transcripts, is_opinion)
    opinions = transcripts.loc[is_opinion, [*OPINION]].copy()
    opinions["after"] = pd.Series(
        [spoken_before[index] for index in opinions.index], opinions.index, dtype=object
    )
    return opinions


def _public_speakers_before(
    transcripts: pd.DataFrame, is_opinion: "pd.Series[bool]"
) -> dict[int, str]:
    """Return for each opinion who spoke in public since the same seat's last opinion.

    The seat itself is left out.
    """
    speakers_before: dict[int, str] = {}
    speakers: list[str] = []
    last: dict[str, int] = {}
    debate = ("", "")
    # a recorded speech counts even if moot does not ship its words
    has_words = (transcripts["text"] != "") | (
        (transcripts["kind"] == SPEECH) & (transcripts["parse_status"] == "")
    )
    public = has_words & (transcripts["visibility"] == PUBLIC) & (transcripts["kind"] != CONCLUSION)
    columns = ["model", "debate_id", "speaker"]
    cells = (
        transcripts[name].to_numpy(dtype=object) for name in columns
    )  # Arrow's strings are slow to access one by one
    rows = zip(transcripts.index, *cells, is_opinion, public, strict=True)
    for index, model, debate_id, speaker, has_opinion, is_public in rows:
        if (model, debate_id) != debate:
            debate, speakers, last = (model, debate_id), [], {}
        if has_opinion:
            since = speakers[last.get(speaker, 0) :]
            speakers_before[index] = ",".join(
                dict.fromkeys(name for name in since if name != speaker)
            )
            last[speaker] = len(speakers)
        if is_public:
            speakers.append(speaker)
    return speakers_before


def _speaker_scores(
    rows: pd.DataFrame, speaker: str, results: ExperimentResults
) -> Iterator[Score]:
    name = f"speaker={speaker}"
    seats = [rows["debate_id"], rows["speaker"]]
    debates = rows.groupby(seats, sort=True)
    changed = as_numbers(rows["previous"].notna() & (rows["previous"] != rows["prediction"]))
    flips = pd.Series(changed, index=rows.index).groupby(seats, sort=True).sum()
    cases = debates["case_id"].first()
    yield from _scores_of(
        cases,
        {
            "opinions_per_debate": mean_statistic(debates.size(), AMOUNT),
            "flips_per_debate": mean_statistic(flips, AMOUNT),
            "debates_with_flip": share_statistic(flips > 0),
        },
        name,
        results,
    )
    if positive_of_two(results.task):
        yield Score("beliefs_missing", float(rows["belief"].isna().sum()), group=name, n=len(rows))
    yield from _opinion_scores(rows.loc[debates["turn"].idxmin()], f"{name};opinion=first", results)
    yield from _opinion_scores(rows.loc[debates["turn"].idxmax()], f"{name};opinion=last", results)
    if speaker == EVERYBODY:
        return
    for turn, at_turn in rows.groupby("turn", sort=True):
        yield from _opinion_scores(at_turn, f"{name};turn={turn}", results)
    moved = rows[rows["previous"].notna()]
    for preceding_speakers, opinions_after in moved.groupby("after", sort=True):
        yield from _persuasion_scores(
            opinions_after, f"{name};after={str(preceding_speakers) or NO_SPEAKER}", results
        )


def _opinion_scores(rows: pd.DataFrame, group: str, results: ExperimentResults) -> Iterator[Score]:
    """Yield accuracy, confidence, belief and distance from the base rate of one opinion per
    debate.
    """
    statistics: dict[str, Statistic] = (
        {"accuracy": share_statistic(rows["correct"])} if results.has_truth else {}
    )
    positive = results.task.positive
    if positive and results.has_truth:
        predicted, true = rows["prediction"] == positive, rows["target"] == positive
        statistics["base_rate_distance"] = mean_statistic(
            as_numbers(predicted) - as_numbers(true), DIFFERENCE
        )
    yield from _scores_of(rows["case_id"], statistics, group, results)
    for metric, column, scale in (
        ("confidence", "confidence", 100),
        ("belief_in_positive", "belief", 1),
    ):
        rated_rows = rows[rows[column].notna()]
        if len(rated_rows):
            yield from _scores_of(
                rated_rows["case_id"],
                {metric: share_statistic(rated_rows[column] / scale)},
                group,
                results,
            )


def _persuasion_scores(
    rows: pd.DataFrame, group: str, results: ExperimentResults
) -> Iterator[Score]:
    """Yield how opinions changed after certain seats had spoken.

    These are the flips to each label, and the mean change of the belief.
    """
    flipped = rows["previous"] != rows["prediction"]
    statistics = {
        f"flips_to:{label}": share_statistic(flipped & (rows["prediction"] == label))
        for label in results.task.labels
    }
    yield from _scores_of(rows["case_id"], statistics, group, results)
    with_shift = rows[rows["shift"].notna()]
    if len(with_shift):
        shift = with_shift["shift"].to_numpy(dtype=np.float64)
        moves: dict[str, Statistic] = {
            "shift_to_positive": mean_statistic(shift, DIFFERENCE),
            "moves_to_positive": share_statistic(shift > 0),
            "moves_to_negative": share_statistic(shift < 0),
            "share_of_movement_to_positive": ratio_statistic(
                np.maximum(shift, 0), np.abs(shift), SHARE
            ),
        }
        yield from _scores_of(with_shift["case_id"], moves, group, results)


def _scores_of(
    cases: "pd.Series[str]",
    statistics: dict[str, Statistic],
    group: str,
    results: ExperimentResults,
) -> Iterator[Score]:
    sample = results.sample(cases)
    for metric, statistic in statistics.items():
        yield sample.score(metric, statistic, group)
