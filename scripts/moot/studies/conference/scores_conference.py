"""What a decision conference reached, how it went, and how well its decisions kept to their form.

A conference is one case debated many times, so here the debates are what intervals draw from,
unless the data set names what clusters its cases. Coverage is measured on the first topic, where
the paper compares its two debates with the real conference (section 5.2.2).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

from moot.core.kinds import CODING, DECISION, EVALUATION, OPENING, STATEMENT, UNUSABLE
from moot.core.types import Column
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import OVERALL, ExperimentResults, Sample, Score
from moot.stats.agreement import cohens_kappa
from moot.stats.bootstrap import AMOUNT, ANY, SHARE, Bounds, mean_statistic
from moot.studies.conference.protocol import Evaluation

PROTOCOL = "conference"
RUN_LENGTH = 4


@scorer("conference")
def conference(results: ExperimentResults) -> pd.DataFrame:
    """Coverage, decisions, repetition, and the evaluator's scores of every model's conferences."""
    if results.config.protocol != PROTOCOL:
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
    """The transcripts with a column `topic`: each moderator's opening begins the next topic, from
    1; 0 before.
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
    """The mean of `values` (indexed by debate_id, one or more a debate) with its interval over
    debates or clusters.

        A missing value is left out and counts as invalid, in addition to `n_invalid` others.
    """
    valid = values.dropna()
    invalid = n_invalid + len(values) - len(valid)
    sample = sample_debates(results, valid.index)
    return sample.score(
        metric, mean_statistic(valid.to_numpy(dtype=np.float64), bounds), group, n_invalid=invalid
    )


def sample_debates(results: ExperimentResults, debates: Iterable[str]) -> Sample:
    """Rows of debates, drawn by debate in a conference and by case elsewhere; by cluster where the
    data set has one.
    """
    debates = list(debates)
    cases = [results.cases_of_debates[debate] for debate in debates]
    by_debate = results.config.protocol == PROTOCOL and not results.task.cluster
    return Sample(
        cases, debates if by_debate else [results.clusters[case] for case in cases], results.seed
    )


# Coverage


@cache
def compile_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for whole words or phrases; "x*" matches every word that begins with x.

    >>> compile_pattern(("harm reduction", "tax*")).findall("Taxes pay for harm  reduction, not syntax.")
    ['Taxes', 'harm  reduction']
    """
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    forms = (r"\s+".join(map(re.escape, word.rstrip("*").split())) for word in longest_first)
    endings = (r"\w*" if word.endswith("*") else "" for word in longest_first)
    return re.compile(
        rf"\b(?:{'|'.join(form + ending for form, ending in zip(forms, endings, strict=True))})\b",
        re.IGNORECASE,
    )


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
    """The clusters of each case that has some: case_id to cluster to words."""
    attributes_by_case = results.attributes.items()
    return {
        str(case_id): json.loads(attributes["clusters"])
        for case_id, attributes in attributes_by_case
        if attributes.get("clusters")
    }


def measure_coverage(results: ExperimentResults, utterances: pd.DataFrame) -> pd.DataFrame:
    """One row a debate and cluster: debate_id, cluster, `lexicon` (bool), `words` used, `coder`
    (bool or None).
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
        rows += [
            (
                debate_id,
                cluster,
                bool(words),
                ", ".join(words),
                coder.get(cluster.replace(" ", "_")),
            )
            for cluster, words in reached.items()
        ]
    return pd.DataFrame(rows, columns=["debate_id", "cluster", "lexicon", "words", "coder"])


def count_clusters(cells: pd.DataFrame, source: str) -> Column:
    """How many clusters each debate reaches by `lexicon` or by `coder`; missing where a debate was
    not coded.
    """
    return (
        cells.set_index("debate_id")[source]
        .groupby(level=0)
        .agg(lambda cluster: cluster.astype(float).sum(skipna=False))
    )


def coverage_scores(results: ExperimentResults, utterances: pd.DataFrame) -> Iterator[Score]:
    """How many clusters a debate reaches, and how often each is reached, by lexicon and by coder;
    their agreement.
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
    """Turns, rounds, words, repetition; decisions: agreement, form, and how many topics were agreed
    on.

        Each with its values by debate_id, one or more a debate, and what bounds their mean.
    """
    statements = utterances[
        (utterances["kind"] == STATEMENT) & (utterances["text"].fillna("").str.strip() != "")
    ].groupby("debate_id")
    public = utterances[(utterances["visibility"] == "public") & (utterances["speaker"] != "moot")]
    yield "turns", public.groupby("debate_id").size(), AMOUNT
    yield "statements", statements.size(), AMOUNT
    yield (
        "words",
        statements["text"].agg(lambda texts: sum(len(text.split()) for text in texts)),
        AMOUNT,
    )
    yield "repetition", statements["text"].agg(lambda texts: repeated_share(list(texts))), SHARE
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
    """The share of runs of four words that a debate has already used; 0 for fewer than four words.

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
    """The evaluator's ten criteria, and their mean where all ten could be read; what could not
    counts as invalid.
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
    yield mean_score(results, "evaluation", values.mean(axis=1, skipna=False), n_invalid=invalid)
    for criterion in values.columns:
        yield mean_score(
            results, "evaluation", values[criterion], f"criterion={criterion}", invalid
        )
