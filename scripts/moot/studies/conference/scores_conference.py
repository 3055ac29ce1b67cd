"""Coverage, course and evaluation of decision conferences.

A conference is one case debated many times, so intervals resample debates, unless the data set
names clusters of cases. Coverage is measured on the first topic, for which the paper compares its
two debates with the real conference (section 5.2.2).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

from moot.core.types import Column
from moot.core.utterance_kinds import (
    CODING,
    DECISION,
    EVALUATION,
    OPENING,
    STATEMENT,
    UNUSABLE,
)
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL, Sample, Score
from moot.stats.agreement import cohens_kappa
from moot.stats.statistic import AMOUNT, ANY, SHARE, Bounds, mean_statistic
from moot.studies.conference.forms import Evaluation

CONFERENCE, JUDGING = CONFERENCES = ("conference", "judging")
RUN_LENGTH = 4
CRITERIA: Bounds = (1.0, 10.0)
"""The scale of the evaluator's criteria."""


@scorer("conference")
def conference(results: ExperimentResults) -> pd.DataFrame:
    """Coverage, course and evaluation of every model's conferences."""
    if results.config.protocol != CONFERENCE:
        return no_scores()
    transcripts = number_topics(results.transcripts)

    def score_model(model: str) -> Iterator[Score]:
        utterances = transcripts[transcripts["model"] == model]
        yield from coverage_scores(results, utterances)
        for metric, values, bounds in measure_course(utterances):
            yield mean_score(results, metric, values, bounds=bounds)
        yield from evaluator_scores(results, utterances)

    return by_model(results, score_model)


def number_topics(transcripts: pd.DataFrame) -> pd.DataFrame:
    """Return the transcripts with a column `topic`, the number of the topic from 1.

    Each opening of the moderator begins a topic. Turns before the first have the number 0.
    """
    opens = transcripts["kind"] == OPENING
    return transcripts.assign(
        topic=opens.groupby([transcripts["model"], transcripts["debate_id"]]).cumsum()
    )


def mean_score(
    results: ExperimentResults,
    metric: str,
    values: Column,
    group: str = OVERALL,
    n_invalid: int = 0,
    bounds: Bounds = ANY,
) -> Score:
    """Return the mean of values with its interval over debates or clusters.

    `values` are indexed by debate_id, one or more per debate. Missing values are left out and count
    as invalid, in addition to `n_invalid` others.
    """
    valid = values.dropna()
    invalid = n_invalid + len(values) - len(valid)
    sample = sample_debates(results, valid.index)
    return sample.score(
        metric, mean_statistic(valid.to_numpy(dtype=np.float64), bounds), group, n_invalid=invalid
    )


def sample_debates(results: ExperimentResults, debates: Iterable[str]) -> Sample:
    """Return a sample of debates, resampled by debate in a conference and else by case.

    If the data set has clusters, it is resampled by cluster.
    """
    debates = list(debates)
    cases = [results.cases_of_debates[debate] for debate in debates]
    by_debate = results.config.protocol in CONFERENCES and not results.task.cluster
    return Sample(cases, debates if by_debate else [results.clusters[case] for case in cases])


# Coverage


@cache
def compile_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern for whole words or phrases; "x*" matches every word that begins with x.

    >>> compile_pattern(("harm reduction", "tax*")).findall("Taxes for harm  reduction.")
    ['Taxes', 'harm  reduction']
    """
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    alternatives = "|".join(map(_word_pattern, longest_first))
    return re.compile(rf"\b(?:{alternatives})\b", re.IGNORECASE)


def _word_pattern(word: str) -> str:
    parts = map(re.escape, word.rstrip("*").split())
    return r"\s+".join(parts) + (r"\w*" if word.endswith("*") else "")


def find_clusters(
    texts: Iterable[str], clusters: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return for each cluster the words of its lexicon that the texts use.

    The words are in lower case, sorted, each once.
    """
    text = "\n".join(texts)
    reached = {}
    for cluster, words in clusters.items():
        matches = compile_pattern(tuple(words)).findall(text)
        reached[cluster] = sorted({" ".join(match.lower().split()) for match in matches})
    return reached


def read_lexicons(results: ExperimentResults) -> dict[str, dict[str, list[str]]]:
    """Return the lexicons of cases with clusters: the words of each cluster, by case_id."""
    attributes_by_case = results.attributes.items()
    return {
        str(case_id): json.loads(attributes["clusters"])
        for case_id, attributes in attributes_by_case
        if attributes.get("clusters")
    }


def measure_coverage(results: ExperimentResults, utterances: pd.DataFrame) -> pd.DataFrame:
    """Return the clusters that each debate reaches.

    Returns:
        One row for each debate and cluster: debate_id, cluster, lexicon (whether reached), words
        (of the lexicon, as used), coder (whether reached; None if not coded).
    """
    rows = []
    by_case = read_lexicons(results)
    for (case_id, debate_id), debate in utterances.groupby(["case_id", "debate_id"], sort=True):
        clusters = by_case.get(str(case_id))
        if not clusters:
            continue
        statements = debate[(debate["kind"] == STATEMENT) & (debate["topic"] == 1)]
        reached = find_clusters(statements["text"].fillna(""), clusters)
        codings = debate.loc[
            (debate["kind"] == CODING) & ~debate["parse_status"].isin(UNUSABLE), "parsed"
        ]
        coder = json.loads(codings.iloc[0]) if len(codings) else {}
        for cluster, words in reached.items():
            coded = coder.get(cluster.replace(" ", "_"))
            rows.append((debate_id, cluster, bool(words), ", ".join(words), coded))
    return pd.DataFrame(rows, columns=["debate_id", "cluster", "lexicon", "words", "coder"])


def count_clusters(cells: pd.DataFrame, source: str) -> Column:
    """Return how many clusters each debate reaches by `lexicon` or `coder`; NaN if not coded."""
    return (
        cells.set_index("debate_id")[source]
        .groupby(level=0)
        .agg(lambda cluster: cluster.astype(float).sum(skipna=False))
    )


def coverage_scores(results: ExperimentResults, utterances: pd.DataFrame) -> Iterator[Score]:
    """Yield the number of clusters, the share of debates that reach each, and agreement.

    Lexicon and coder each have these scores; the agreement is between them.
    """
    cells = measure_coverage(results, utterances)
    if cells.empty:
        return
    uncoded = int(cells["coder"].isna().sum())
    for source in ("lexicon", "coder"):
        if not cells[source].notna().any():
            continue
        bounds = (0.0, float(cells["cluster"].nunique()))
        yield mean_score(
            results, f"clusters_by_{source}", count_clusters(cells, source), bounds=bounds
        )
        for cluster, rows in cells.groupby("cluster", sort=False):
            share = rows.set_index("debate_id")[source].astype(float)
            yield mean_score(
                results, f"reached_by_{source}", share, f"cluster={cluster}", bounds=SHARE
            )
    coded_cells = cells[cells["coder"].notna()].set_index("debate_id")
    if len(coded_cells):
        is_equal = (coded_cells["lexicon"] == coded_cells["coder"].astype(bool)).astype(float)
        yield mean_score(results, "coding_agreement", is_equal, n_invalid=uncoded, bounds=SHARE)
        kappa = cohens_kappa(coded_cells["lexicon"].astype(bool), coded_cells["coder"].astype(bool))
        yield sample_debates(results, coded_cells.index).score(
            "coding_kappa", kappa, n_invalid=uncoded
        )


# The course of the debate


def measure_course(utterances: pd.DataFrame) -> Iterator[tuple[str, Column, Bounds]]:
    """Yield measures of turns, rounds, words, repetition and decisions.

    Each round ends with one row of kind
    `DECISION` by the judge, or by the moderator of a conference without a judge. Its prediction is
    "agreement" or "no agreement", or "" if it cannot be read. Rounds are counted anew in each
    topic.

    Transcripts hold no labels of statements. A score on labels or positions is therefore a
    generator of its own that `conference` calls with the results; `labelled_statements` of
    `moot.scores.labels` gives it the labels. A conference has positions only if its experiment sets
    a rubric, which no shipped one does.

    Args:
        utterances: of one model, with the column `topic` of `number_topics`.

    Yields:
        The metric, its values by debate_id (one or more per debate, such as one a statement or a
        topic; a missing value counts as invalid), and the bounds of their mean over all values.
    """
    has_text = utterances["text"].fillna("").str.strip() != ""
    statements = utterances[(utterances["kind"] == STATEMENT) & has_text].set_index("debate_id")
    texts_by_debate = statements["text"].groupby(level=0)
    public = utterances[(utterances["visibility"] == "public") & (utterances["speaker"] != "moot")]
    yield "turns", public.groupby("debate_id").size(), AMOUNT
    yield "statements", texts_by_debate.size(), AMOUNT
    yield (
        "words",
        texts_by_debate.agg(lambda texts: sum(len(text.split()) for text in texts)),
        AMOUNT,
    )
    yield "repetition", texts_by_debate.agg(lambda texts: repeated_share(list(texts))), SHARE
    decisions = utterances[utterances["kind"] == DECISION].set_index("debate_id")
    if decisions.empty:
        return
    is_unusable = (decisions["prediction"].fillna("") == "").astype(float)
    is_agreement = (decisions["prediction"] == "agreement").astype(float)
    yield (
        "decisions",
        utterances["kind"].eq(DECISION).groupby(utterances["debate_id"]).sum(),
        AMOUNT,
    )
    yield "format_adherence", (decisions["parse_status"] == "strict").astype(float), SHARE
    yield "unusable_decisions", is_unusable, SHARE
    yield "decided_agreement", is_agreement.where(is_unusable == 0), SHARE
    by_topic = [decisions.index, decisions["topic"]]
    yield "topics_open_by_rule", is_unusable.groupby(by_topic).last().droplevel(1), SHARE
    yield "topics_agreed", is_agreement.groupby(by_topic).last().droplevel(1), SHARE
    yield "rounds_a_topic", is_agreement.groupby(by_topic).size().droplevel(1), AMOUNT


def repeated_share(texts: list[str]) -> float:
    """Return the share of runs of four words that a debate has already used.

    It is 0 for fewer than four words.

    >>> repeated_share(["we must act now", "we must act now or never"])
    0.25
    """
    runs: list[tuple[str, ...]] = []
    for text in texts:
        words = [word.strip(".,;:!?\"'()").lower() for word in text.split()]
        runs += [
            tuple(words[start : start + RUN_LENGTH]) for start in range(len(words) - RUN_LENGTH + 1)
        ]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def evaluator_scores(results: ExperimentResults, utterances: pd.DataFrame) -> Iterator[Score]:
    """Yield the evaluator's ten criteria, and their mean over forms with all ten.

    Unusable forms count as invalid.
    """
    forms = utterances[utterances["kind"] == EVALUATION]
    usable_forms = forms[~forms["parse_status"].isin(UNUSABLE)]
    invalid = len(forms) - len(usable_forms)
    if usable_forms.empty:
        if invalid:
            yield Score("evaluation", float("nan"), n_invalid=invalid)
        return
    forms_read = [json.loads(parsed) for parsed in usable_forms["parsed"]]
    values = pd.DataFrame(
        forms_read, index=usable_forms["debate_id"], columns=list(Evaluation.model_fields)
    )
    means = values.mean(axis=1, skipna=False)
    yield mean_score(results, "evaluation", means, n_invalid=invalid, bounds=CRITERIA)
    for criterion in values.columns:
        group = f"criterion={criterion}"
        yield mean_score(results, "evaluation", values[criterion], group, invalid, CRITERIA)
