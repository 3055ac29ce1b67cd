"""The reliability assistant of Debate-Feedback: the probability that a debater's opinion is right.

It is trained on debates without an assistant over training cases (Table 1 of the paper: background
and opinion as inputs, correctness of the opinion as target). It is calibrated on debates over
validation cases and stored without pickle.

The paper's target is "ground truth XOR position". Here 1 means that they agree, so that a high
value means reliable. The paper's assistant is a pre-trained model that it does not name.
Here it is TF-IDF, or sentence embeddings, and logistic regression.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from moot.core.artifacts import read_cases, read_frames
from moot.core.cases import Case, Task
from moot.core.errors import UnavailableError, UserError
from moot.core.log import LOG
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import STATEMENT_SUMMARY, UNUSABLE
from moot.datasets.near_duplicates import find_leaks
from moot.training.baselines.text import sentence_model
from moot.training.stored_baselines import dump, read_trusted
from moot.training.text_features import SentenceEmbedding

Features = Literal["tfidf", "tfidf-crossed", "embeddings"]

OPINION_KINDS = ("opening", "rebuttal")
STATEMENTS, SUMMARIES = "statements", "summaries"
OPINION_COLUMNS = ("debate_id", "case_id", "split", "facts", "position", "opinion", "right")
_CHARACTERS = (1, 3)  # Chinese has no spaces between words
_WORDS = (1, 2)


@dataclass(frozen=True, slots=True)
class OpinionSource:
    """Where the opinions of an assistant come from.

    Attributes:
        reads: whether an opinion is a debater's statement, or the judge's summary of a debater's
            statements of one round.
        runs: the most debates about one case.
        unread: opinions that name no position, or several, and are therefore not learnt from.
    """

    reads: str = STATEMENTS
    runs: int = 1
    unread: int = 0


def debater_opinions(transcripts: pd.DataFrame, cases: Collection[Case]) -> pd.DataFrame:
    """Return every opinion of debaters that takes a position.

    If the judge summarised each debater's statements, the summary is the opinion, with the position
    of the debater's rebuttal.

    The columns are `OPINION_COLUMNS`: the position is a label, and `right` is whether it is the
    case's target (all of its labels if there are several).
    """
    case_by_id = {case.case_id: case for case in cases}
    opinions = _usable_opinions(transcripts)
    opinions = opinions[opinions["prediction"].notna()]
    frame = opinions[["debate_id", "case_id", "prediction", "text"]].reset_index(drop=True)
    frame = frame.rename(columns={"prediction": "position", "text": "opinion"})
    cases_of_rows = [case_by_id[case_id] for case_id in frame["case_id"]]
    frame["split"] = [case.split for case in cases_of_rows]
    frame["facts"] = [case.text for case in cases_of_rows]
    frame["right"] = [
        case.target == position
        for case, position in zip(cases_of_rows, frame["position"], strict=True)
    ]
    return frame[list(OPINION_COLUMNS)]


def opinion_source(transcripts: pd.DataFrame) -> OpinionSource:
    """Describe the opinions that `debater_opinions` reads from transcripts."""
    has_summaries = bool((transcripts["kind"] == STATEMENT_SUMMARY).any())
    runs = transcripts.groupby("case_id")["debate_id"].nunique()
    return OpinionSource(
        SUMMARIES if has_summaries else STATEMENTS,
        int(runs.max()) if len(runs) else 0,
        int(_usable_opinions(transcripts)["prediction"].isna().sum()),
    )


def _usable_opinions(transcripts: pd.DataFrame) -> pd.DataFrame:
    """Return the opinions that came as text, with `prediction` as the position that they take."""
    usable = transcripts[~transcripts["parse_status"].isin(UNUSABLE)]
    summaries = usable[usable["kind"] == STATEMENT_SUMMARY]
    if summaries.empty:
        return usable[usable["kind"].isin(OPINION_KINDS)]
    speakers = [json.loads(parsed)["debater"] for parsed in summaries["parsed"]]
    rebuttals = usable[usable["kind"] == "rebuttal"]
    keys = ["debate_id", "round", "speaker"]
    summaries = summaries.drop(columns="prediction").assign(speaker=speakers)
    return summaries.merge(rebuttals[[*keys, "prediction"]], on=keys, how="left")


@dataclass(frozen=True, slots=True)
class AssistantCard:
    """The description in a stored assistant.

    Attributes:
        dataset: the data set that it was trained on.
        labels: that data set's labels.
        language: of its texts.
        features: its inputs from case and opinion.
        encoder: the sentence encoder ("" for none).
        reads: the form of an opinion, as in `OpinionSource`.
        runs: the maximum number of debates about one case, as in `OpinionSource`.
        unread: opinions without a position, as in `OpinionSource`.
        trained_on, calibrated_on: ids of the cases behind its training and its calibration.
        left_out: training cases that were not used because they resemble a test case.
        opinions: the number of opinions in its training.
    """

    dataset: str
    labels: tuple[str, ...]
    language: str
    features: str
    encoder: str
    reads: str
    runs: int
    unread: int
    trained_on: tuple[str, ...]
    calibrated_on: tuple[str, ...]
    left_out: tuple[str, ...]
    opinions: int


@dataclass(frozen=True)
class Assistant:
    """A trained assistant.

    Attributes:
        card: its description.
        vectorizers: fitted on the training opinions, by name.
        classifier: calibrated on validation opinions.
    """

    card: AssistantCard
    vectorizers: Fields
    classifier: Any

    def reliability(self, opinions: pd.DataFrame) -> NDArray[np.float64]:
        """Return the probability that each opinion is right, shape (rows,).

        The columns facts, position and opinion are read.
        """
        features = _transformed(self.card, self.vectorizers, opinions)
        probabilities: NDArray[np.float64] = self.classifier.predict_proba(features)[:, 1]
        return probabilities

    def of_opinion(self, facts: str, position: str, opinion: str) -> float:
        """Return how likely one opinion is right."""
        frame = pd.DataFrame({"facts": [facts], "position": [position], "opinion": [opinion]})
        return float(self.reliability(frame)[0])

    def check_form(self, reads: str, place: str) -> None:
        """Require that opinions have the form that the assistant was trained on.

        Args:
            reads: `STATEMENTS` or `SUMMARIES`.
        """
        if reads != self.card.reads:
            raise UserError(
                f"{place}: the assistant was trained on {self.card.reads}, and"
                f" `statement_summaries` gives it {reads}. Give both experiments the same"
                " `statement_summaries`."
            )

    def check_case(self, case: Case, place: str) -> None:
        """Require that this assistant may judge a case.

        Raises:
            UserError: it was trained on another data set, or on debates of this case. A validation
                case may have calibrated it, since validation cases are not evaluated.
        """
        if (case.dataset, tuple(case.labels)) != (self.card.dataset, self.card.labels):
            raise UserError(
                f"{place}: the assistant was trained on data set '{self.card.dataset}' (labels"
                f" {', '.join(self.card.labels)}), the case is of '{case.dataset}'"
                f" ({', '.join(case.labels)}). Name an experiment on the same data set in"
                " `assistant`."
            )
        calibrated = case.split == "test" and case.case_id in self.card.calibrated_on
        if case.case_id in self.card.trained_on or calibrated:
            raise UserError(
                f"{place}: case {case.case_id} trained the assistant, so it cannot be judged by it."
                " Train on another split, or debate the test split."
            )


def train_assistant(
    opinions: pd.DataFrame,
    cases: Collection[Case],
    task: Task,
    *,
    features: Features = "tfidf",
    seed: int = 0,
    source: OpinionSource = OpinionSource(),
) -> Assistant:
    """Train on the opinions over training cases, calibrate on those over validation cases.

    Args:
        opinions: columns `OPINION_COLUMNS`; opinions over test cases are refused.
        cases: all cases of the data set. Opinions on cases that resemble a test case are left out.
        task: the data set's description.
        features: TF-IDF of case and opinion; the same with the case's words crossed with the
            position, so that a word of the facts can support one position and oppose another;
            or sentence embeddings.
        seed: for the classifier.
        source: the source of the opinions, for the description.

    Raises:
        UserError: an opinion over a test case, or a split whose opinions are all right, all wrong,
            or none at all.
    """
    dataset = next(iter(cases)).dataset
    tested = {case.case_id: case.text for case in cases if case.split == "test"}
    evaluated = sorted(set(opinions["case_id"]) & set(tested))
    if evaluated:
        raise UserError(
            f"assistant of '{dataset}': opinions over the test case {evaluated[0]} are among those"
            f" to train on ({len(evaluated)} such cases). Train on debates over the train and"
            " validation splits."
        )
    argued_ids = set(opinions["case_id"])
    texts = {case.case_id: case.text for case in cases if case.case_id in argued_ids}
    leaks = find_leaks(texts, tested, task.language)
    clean = opinions[~opinions["case_id"].isin(list(leaks))]
    training, validation = (
        _both_classes(clean, split_name, dataset) for split_name in ("train", "validation")
    )
    card = AssistantCard(
        dataset,
        tuple(task.labels),
        task.language,
        features,
        _encoder(features),
        source.reads,
        source.runs,
        source.unread,
        tuple(sorted(training["case_id"].unique())),
        tuple(sorted(validation["case_id"].unique())),
        tuple(sorted(leaks)),
        len(training),
    )
    return _train_classifier(card, training, validation, seed)


def _train_classifier(
    card: AssistantCard, training: pd.DataFrame, validation: pd.DataFrame, seed: int
) -> Assistant:
    """Fit a logistic regression on features of the opinions, and calibrate it."""
    vectorizers = _fitted_vectorizers(card, training)
    classifier = LogisticRegression(
        C=1.0, class_weight="balanced", max_iter=1000, random_state=seed
    )
    classifier.fit(_transformed(card, vectorizers, training), training["right"].astype(int))
    # folds teach a frozen classifier nothing, and few rows allow none
    folds = [(np.arange(len(validation)),) * 2]
    calibrated = CalibratedClassifierCV(FrozenEstimator(classifier), method="sigmoid", cv=folds)
    calibrated.fit(_transformed(card, vectorizers, validation), validation["right"].astype(int))
    return Assistant(card, vectorizers, calibrated)


def _both_classes(opinions: pd.DataFrame, split_name: str, dataset: str) -> pd.DataFrame:
    rows = opinions[opinions["split"] == split_name]
    if rows["right"].nunique() < 2:
        problem = "none" if rows.empty else "all right" if rows["right"].all() else "all wrong"
        raise UserError(
            f"assistant of '{dataset}': the debates' {len(rows)} opinions over {split_name} cases"
            " are"
            f" {problem}; expected right and wrong ones. Debate more cases (`cases`,"
            " `calibration_cases`), or let debaters take `sides: opposed`."
        )
    return rows


def write_assistant(
    cases_path: Path, shards: Sequence[Path], features: Features, seed: int, output: Path
) -> None:
    """Train an assistant on transcripts of training and validation cases, and store it.

    Its file is `assistants/{experiment}/{model}/{features}.skops`.
    """
    cases, task = read_cases(cases_path)
    transcripts = read_frames(shards)
    opinions = debater_opinions(transcripts, cases)
    source = opinion_source(transcripts)
    assistant = train_assistant(opinions, cases, task, features=features, seed=seed, source=source)
    save_assistant(assistant, output)
    LOG.info(
        "assistant of '%s': %d opinions over %d training cases (at most %d debates a case), "
        "calibrated on %d cases, %d left out as near-duplicates; %d opinions name no position "
        "and are not used",
        assistant.card.dataset,
        assistant.card.opinions,
        len(assistant.card.trained_on),
        assistant.card.runs,
        len(assistant.card.calibrated_on),
        len(assistant.card.left_out),
        assistant.card.unread,
    )


# Inputs of the classifier


def _fitted_vectorizers(card: AssistantCard, training: pd.DataFrame) -> JsonObject:
    if card.features == "embeddings":
        return {}
    chinese = card.language == "zh"
    options: JsonObject = {
        "analyzer": "char" if chinese else "word",
        "ngram_range": _CHARACTERS if chinese else _WORDS,
        "sublinear_tf": True,
        "max_features": 20_000,
    }
    vectorizers = {"both": TfidfVectorizer(**options).fit(_documents(training))}
    if card.features == "tfidf-crossed":
        vectorizers["facts"] = TfidfVectorizer(**options).fit(training["facts"])
    return vectorizers


def _documents(opinions: pd.DataFrame) -> list[str]:
    """Return case background and opinion in one text.

    The position precedes the opinion in words (the paper's Table 1).
    """
    return [
        f"{facts}\nposition_{position}\n{opinion}"
        for facts, position, opinion in zip(
            opinions["facts"], opinions["position"], opinions["opinion"], strict=True
        )
    ]


def _transformed(card: AssistantCard, vectorizers: Fields, opinions: pd.DataFrame) -> Any:
    """Return the features of opinions, one row each."""
    positions = np.zeros((len(opinions), len(card.labels)))
    for row, position in enumerate(opinions["position"]):
        labels = position.split(";")
        positions[row] = [label in labels for label in card.labels]
    if card.features == "embeddings":
        return np.hstack(
            [SentenceEmbedding(card.encoder).transform(_documents(opinions)), positions]
        )
    blocks = [vectorizers["both"].transform(_documents(opinions)), sparse.csr_matrix(positions)]
    if "facts" in vectorizers:
        words = vectorizers["facts"].transform(opinions["facts"])
        blocks += [sparse.diags(column) @ words for column in positions.T]
    return sparse.hstack(blocks).tocsr()


def _encoder(features: str) -> str:
    """Return the encoder that the environment names, for the features that need one."""
    if features != "embeddings":
        return ""
    try:
        return sentence_model()
    except UnavailableError as error:
        raise UserError(
            f"an assistant with `assistant_features: {features}` needs an encoder: {error}."
        ) from None


# How it is kept


def save_assistant(assistant: Assistant, path: Path) -> None:
    """Store an assistant with skops, which keeps no code."""
    about = json.dumps(asdict(assistant.card), ensure_ascii=False, sort_keys=True)
    dump(
        {
            "about": about,
            "vectorizers": dict(assistant.vectorizers),
            "classifier": assistant.classifier,
        },
        path,
    )


@cache
def assistant_at(path: Path) -> Assistant:
    """Return the assistant stored at a path; each is read once per job."""
    return load_assistant(path)


def load_assistant(path: Path) -> Assistant:
    """Load a stored assistant.

    Raises:
        UserError: as `read_trusted`, or the file is not an assistant.
    """
    content = read_trusted(path, _TRUSTED.__contains__)
    try:
        described = json.loads(content["about"])
        fields: JsonObject = {
            key: tuple(v) if isinstance(v, list) else v for key, v in described.items()
        }
        card = AssistantCard(**fields)
        return Assistant(card, content["vectorizers"], content["classifier"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path}: not an assistant that moot stored ({type(error).__name__}). Delete it, and"
            " run again."
        ) from error


_TRUSTED = frozenset(
    {
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.frozen._frozen.FrozenEstimator",
    }
)
