"""One of everything that a user may register, as docs/extending.md describes it."""

import numpy as np
import pandas as pd
from pydantic import Field
from sklearn.base import BaseEstimator, ClassifierMixin

from moot.core.cases import Case, Task, stratified_splits
from moot.core.model_config import ModelConfig
from moot.core.rubric import RUBRICS, Rubric
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.llm.endpoints import ENDPOINTS, Endpoint
from moot.llm.request import Reply, Request
from moot.protocols import ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema, read_answer
from moot.report import figure, table
from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, scorer, to_frame
from moot.scores.results import ExperimentResults
from moot.scores.score import Score
from moot.training.baselines import baseline

from .counting import STEP, letters

TASK = Task(
    noun="the coin", question="Which side is up?", labels=("tails", "heads"), positive="heads"
)


class CoinOptions(DatasetOptions):
    coins: int = Field(20, ge=4, description="how many coins")


@dataset("coins", CoinOptions)
def load(options: CoinOptions, context: LoadContext) -> Loaded:
    targets = {f"coin-{n}": TASK.labels[n % STEP] for n in range(options.coins)}
    splits = stratified_splits(targets, context.seed)
    cases = [
        Case(name, context.name, splits[name], f"Coin {name} shows {target}.", target, TASK.labels)
        for name, target in targets.items()
    ]
    return Loaded(cases, TASK)


class AskParams(ProtocolParams):
    tone: str = Field("dry", description="in which tone")


@protocol("ask", AskParams, study="own", prompts=("own/ask",), rubric="shouting")
async def ask(debate: Debate, params: AskParams) -> Answer | None:
    schema = prediction_schema(debate.task)
    return read_answer(
        debate, await debate.say("asked", "statement", "own/ask", schema=schema, number=STEP)
    )


class Echo:
    async def complete(self, request: Request) -> Reply:
        label = "HEADS" if "heads" in request.messages[-1].content else "TAILS"
        return Reply(f'{{"prediction": "{label}", "confidence": 70}}')

    async def close(self) -> None:
        pass


@ENDPOINTS.register("echo")
def echo(config: ModelConfig, threads: int) -> Endpoint:
    return Echo()


RUBRICS.register("shouting")(
    Rubric(
        labels={"LOUD": "names heads in capitals", "QUIET": "does not"},
        neutral="QUIET",
        utterance_kinds=("statement",),
        groups={"heads": ("LOUD",)},
        prompt="own/ask",
    ).with_rules(
        lambda statement: ("LOUD", "HEADS") if "HEADS" in statement else ("QUIET", ""),
        {"heads": "HEADS"},
    )
)


class First(ClassifierMixin, BaseEstimator):
    """Always the first class; a class of the user's own must reach the processes that fit folds."""

    def fit(
        self, inputs: pd.DataFrame, targets: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    ) -> "First":
        self.classes_ = np.unique(targets)
        return self

    def predict(self, inputs: pd.DataFrame) -> object:
        return np.full(len(inputs), self.classes_[0])


@baseline("first", "Always the first", family="own", kind="text")
def first(seed: int, threads: int) -> First:
    return First()


@scorer("letters")
def count_letters(results: ExperimentResults) -> pd.DataFrame:
    return concat_scores(
        to_frame(
            results.experiment,
            model,
            [Score("letters", rows["text"].map(letters).mean(), n=len(rows))],
        )
        for model, rows in results.transcripts.groupby("model")
    )


@table("own", "letters", "Letters", "Letters of an utterance.")
def letters_table(results: StudyResults) -> TableContent:
    scores = results.scores
    rows = scores[scores["metric"] == "letters"].to_dict("records")
    return Columns().plain("experiment", "model").ours("value").table(rows)


@figure("own", "letters", "Letters", "Letters of an utterance.", "Length")
def letters_figure(results: StudyResults):
    from matplotlib.figure import Figure

    return Figure()
