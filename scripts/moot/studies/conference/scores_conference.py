"""What a decision conference reached, how it went, and how well its decisions kept to their form.

A conference is one case debated many times, so here the debates are what intervals draw from, unless the data set names
what clusters its cases. Coverage is measured on the first topic, where the paper compares its two debates with the real
conference (section 5.2.2).
"""

import json
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from moot.core.kinds import CODING, DECISION, EVALUATION, OPENING, STATEMENT, UNUSABLE
from moot.core.types import Column, JsonObject
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import OVERALL, ExperimentResults, Sample, Score
from moot.stats.agreement import cohens_kappa
from moot.stats.bootstrap import AMOUNT, ANY, SHARE, Bounds, mean_statistic
from moot.studies.conference.lexicon import clusters_reached
from moot.studies.conference.protocol import Evaluation

PROTOCOL = "conference"
REPEATED_WORDS = 4


@scorer("conference")
def conference(results: ExperimentResults) -> pd.DataFrame:
    """Coverage, decisions, repetition, and the evaluator's scores of every model's conferences."""
    if results.config.protocol != PROTOCOL:
        return no_scores()
    said = with_topics(results.transcripts)

    def scores_of(model: str) -> Iterator[Score]:
        mine = said[said["model"] == model]
        yield from coverage_scores(results, mine)
        yield from debate_scores(results, mine)
        yield from evaluator_scores(results, mine)

    return by_model(results, scores_of)


def with_topics(transcripts: pd.DataFrame) -> pd.DataFrame:
    """The transcripts with a column `topic`: each moderator's opening begins the next topic, from 1; 0 before."""
    opens = transcripts["kind"] == OPENING
    return transcripts.assign(topic=opens.groupby([transcripts["model"], transcripts["debate_id"]]).cumsum())


def mean_score(
    results: ExperimentResults,
    metric: str,
    values: Column,
    group: str = OVERALL,
    n_invalid: int = 0,
    bounds: Bounds = ANY,
) -> Score:
    """The mean of `values` (indexed by debate_id, one or more a debate) with its interval over debates or clusters.

    A missing value is left out and counts as invalid, in addition to `n_invalid` others.
    """
    known = values.dropna()
    missing = n_invalid + len(values) - len(known)
    sample = sample_of_debates(results, known.index)
    return sample.score(metric, mean_statistic(known.to_numpy(dtype=np.float64), bounds), group, n_invalid=missing)


def sample_of_debates(results: ExperimentResults, debates: Iterable[str]) -> Sample:
    """Rows of debates, drawn by debate in a conference and by case elsewhere; by cluster where the data set has one."""
    debates = list(debates)
    cases = [results.cases_of_debates[debate] for debate in debates]
    by_debate = results.config.protocol == PROTOCOL and not results.task.cluster
    return Sample(cases, debates if by_debate else [results.clusters[case] for case in cases], results.seed)


# Coverage


def lexicons(results: ExperimentResults) -> dict[str, dict[str, list[str]]]:
    """The clusters of each case that has some: case_id to cluster to words."""
    attributes = results.cases.set_index("case_id")["attributes"]
    return {
        str(case_id): json.loads(found["clusters"]) for case_id, found in attributes.items() if found.get("clusters")
    }


def coverage(results: ExperimentResults, said: pd.DataFrame) -> pd.DataFrame:
    """One row a debate and cluster: debate_id, cluster, `lexicon` (bool), `words` used, `coder` (bool or None)."""
    rows: list[JsonObject] = []
    by_case = lexicons(results)
    for (case_id, debate_id), debate in said.groupby(["case_id", "debate_id"], sort=True):
        clusters = by_case.get(str(case_id))
        if not clusters:
            continue
        statements = debate[(debate["kind"] == STATEMENT) & (debate["topic"] == 1)]
        reached = clusters_reached(statements["text"].fillna(""), clusters)
        coded = debate.loc[(debate["kind"] == CODING) & ~debate["parse_status"].isin(UNUSABLE), "parsed"]
        coder = json.loads(coded.iloc[0]) if len(coded) else {}
        rows += [
            {
                "debate_id": debate_id,
                "cluster": cluster,
                "lexicon": bool(words),
                "words": ", ".join(words),
                "coder": coder.get(cluster.replace(" ", "_")),
            }
            for cluster, words in reached.items()
        ]
    return pd.DataFrame(rows, columns=["debate_id", "cluster", "lexicon", "words", "coder"])


def coverage_scores(results: ExperimentResults, said: pd.DataFrame) -> Iterator[Score]:
    """How many clusters a debate reaches, and how often each is reached, by lexicon and by coder; their agreement."""
    cells = coverage(results, said)
    if cells.empty:
        return
    uncoded = int(cells["coder"].isna().sum())
    for source in ("lexicon", "coder"):
        coded = cells.set_index("debate_id")[source]
        if not coded.notna().any():
            continue
        reached = coded.groupby(level=0).agg(lambda cluster: cluster.astype(float).sum(skipna=False))
        every = (0.0, float(cells["cluster"].nunique()))
        yield mean_score(results, f"clusters_by_{source}", reached, bounds=every)
        for cluster, rows in cells.groupby("cluster", sort=False):
            share = rows.set_index("debate_id")[source].astype(float)
            yield mean_score(results, f"reached_by_{source}", share, f"cluster={cluster}", bounds=SHARE)
    both = cells[cells["coder"].notna()].set_index("debate_id")
    if len(both):
        same = (both["lexicon"] == both["coder"].astype(bool)).astype(float)
        yield mean_score(results, "coding_agreement", same, n_invalid=uncoded, bounds=SHARE)
        kappa = cohens_kappa(both["lexicon"].astype(bool), both["coder"].astype(bool))
        yield sample_of_debates(results, both.index).score("coding_kappa", kappa, n_invalid=uncoded)


# The course of the debate


def debate_scores(results: ExperimentResults, said: pd.DataFrame) -> Iterator[Score]:
    """Turns, rounds, words, repetition; decisions: agreement, form, and how many topics were agreed on."""
    by_debate = said.groupby("debate_id", sort=True)
    statements = said[(said["kind"] == STATEMENT) & (said["text"].fillna("").str.strip() != "")]
    public = said[(said["visibility"] == "public") & (said["speaker"] != "moot")]
    yield mean_score(results, "turns", public.groupby("debate_id").size(), bounds=AMOUNT)
    yield mean_score(results, "statements", statements.groupby("debate_id").size(), bounds=AMOUNT)
    words = statements["text"].map(lambda text: len(text.split()))
    yield mean_score(results, "words", words.groupby(statements["debate_id"]).sum(), bounds=AMOUNT)
    repeated = statements.groupby("debate_id")["text"].agg(lambda texts: repetition(list(texts)))
    yield mean_score(results, "repetition", repeated, bounds=SHARE)
    decisions = said[said["kind"] == DECISION].set_index("debate_id")
    if decisions.empty:
        return
    unusable = (decisions["prediction"].fillna("") == "").astype(float)
    made = by_debate["kind"].agg(lambda kinds: (kinds == "decision").sum())
    yield mean_score(results, "decisions", made, bounds=AMOUNT)
    strict = (decisions["parse_status"] == "strict").astype(float)
    yield mean_score(results, "format_adherence", strict, bounds=SHARE)
    yield mean_score(results, "unusable_decisions", unusable, bounds=SHARE)
    agreed = (decisions["prediction"] == "agreement").astype(float)
    yield mean_score(results, "decided_agreement", agreed.where(unusable == 0), bounds=SHARE)
    last = unusable.groupby([decisions.index, decisions["topic"]]).last()
    yield mean_score(results, "topics_open_by_rule", last.droplevel(1), bounds=SHARE)
    topics = agreed.groupby([decisions.index, decisions["topic"]]).last()
    yield mean_score(results, "topics_agreed", topics.droplevel(1), bounds=SHARE)
    rounds = agreed.groupby([decisions.index, decisions["topic"]]).size().droplevel(1)
    yield mean_score(results, "rounds_a_topic", rounds, bounds=AMOUNT)


def repetition(texts: list[str]) -> float:
    """The share of runs of four words that a debate has already used; 0 for fewer than four words.

    >>> repetition(["we must act now", "we must act now or never"])
    0.5
    """
    runs: list[tuple[str, ...]] = []
    for text in texts:
        words = [word.strip(".,;:!?\"'()").lower() for word in text.split()]
        runs += [tuple(words[start : start + REPEATED_WORDS]) for start in range(len(words) - REPEATED_WORDS + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def evaluator_scores(results: ExperimentResults, said: pd.DataFrame) -> Iterator[Score]:
    """The evaluator's ten criteria, and their mean where all ten could be read; what could not counts as invalid."""
    forms = said[said["kind"] == EVALUATION]
    usable = forms[~forms["parse_status"].isin(UNUSABLE)]
    invalid = len(forms) - len(usable)
    if usable.empty:
        if invalid:
            yield Score("evaluation", float("nan"), n_invalid=invalid)
        return
    forms_read = [json.loads(parsed) for parsed in usable["parsed"]]
    values = pd.DataFrame(forms_read, index=usable["debate_id"], columns=list(Evaluation.model_fields))
    yield mean_score(results, "evaluation", values.mean(axis=1, skipna=False), n_invalid=invalid)
    for criterion in values.columns:
        yield mean_score(results, "evaluation", values[criterion], f"criterion={criterion}", invalid)
