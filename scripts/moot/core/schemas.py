"""The Parquet artifacts, each with what one row is and what each column holds; `docs/artifacts.md` is made from here.

They are a contract, since people read these files with their own tools: columns may be added, never renamed or dropped.
Each file carries the descriptions of its columns as Arrow field metadata.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

Column = tuple[pa.DataType, str]
"""The type of a column, and what it holds."""

_TEXT, _NUMBER, _COUNT, _SMALL = pa.string(), pa.float64(), pa.int64(), pa.int32()
_TEXT_MAP = pa.map_(pa.string(), pa.string())


@dataclass(frozen=True)
class Artifact:
    """A kind of Parquet file.

    Attributes:
        path: where it is below `results/`.
        further: what columns beyond these hold; "" where there are none.
    """

    path: str
    row: str
    columns: Mapping[str, Column]
    further: str = ""

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of `columns`."""
        return pa.schema(
            [pa.field(name, kind, metadata={"description": text}) for name, (kind, text) in self.columns.items()]
        )


_EXPERIMENT: Mapping[str, Column] = {
    "experiment": (_TEXT, "the experiment's name in the configuration"),
    "model": (_TEXT, "the experiment's model, by its name in the configuration"),
}
_DEBATE: Mapping[str, Column] = {
    "case_id": (_TEXT, "the case, as in `cases/`"),
    "repeat": (_SMALL, "which repeat of the case, from 0"),
}
JUDGED: Mapping[str, Column] = {
    "judge": (_TEXT, "who judged, where records name the judges of a debate; missing elsewhere"),
    "persona": (_TEXT, "the persona that this judge was given; missing where there was none"),
    "judge_repeat": (_SMALL, "which time this judge was asked about the same debate, from 0"),
}
"""Whose answer a row is, where several judges judged the same debate."""
_SAID: Mapping[str, Column] = {
    "turn": (_SMALL, "position in the debate, from 1"),
    "round": (_SMALL, "round that it belongs to, from 1; 0 where there are none"),
    "speaker": (_TEXT, "seat that speaks; `moot` for what the protocol works out"),
    "visibility": (_TEXT, '"public", or the seats that may read it, joined by ","'),
    "kind": (_TEXT, "what it is (opening, belief, verdict, ...); `conclusion` is the outcome of the debate"),
    "text": (_TEXT, "the reply as it came"),
    "parsed": (_TEXT, "JSON: what was read from the reply; of a conclusion its status, reason and score"),
}
_USAGE: Mapping[str, Column] = {
    "prompt_tokens": (_COUNT, "tokens of the prompt, as the server counted them"),
    "completion_tokens": (_COUNT, "tokens generated"),
    "cached_tokens": (_COUNT, "prompt tokens that the server had in its cache"),
    "seconds": (_NUMBER, "wall-clock seconds of the attempt that counts"),
}
_METRICS: Mapping[str, Column] = {
    "accuracy": (_NUMBER, "share of cases that are right"),
    "auc": (_NUMBER, "area under the ROC curve of the positive label; of several labels the macro average"),
    **{
        f"{metric}_{average}": (_NUMBER, f"{words}, {of}")
        for metric, words in (("recall", "recall"), ("precision", "precision"), ("f1", "F1"))
        for average, of in (
            ("binary", "of the positive label"),
            ("macro", "mean over labels"),
            ("weighted", "weighted by how often a label is true"),
            ("micro", "over all labels at once"),
        )
    },
    "kappa": (_NUMBER, "Cohen's kappa"),
    "mcc": (_NUMBER, "Matthews' correlation coefficient"),
    "brier": (_NUMBER, "Brier score of the probabilities"),
}
_INTERVALS: Mapping[str, Column] = {
    f"{metric}_{end}": (_NUMBER, f"{words} end of the 95 % interval of {metric}, by cluster; test rows alone")
    for metric in ("accuracy", "f1_macro", "auc")
    for end, words in (("low", "lower"), ("high", "upper"))
}

ARTIFACTS: Mapping[str, Artifact] = {
    "cases": Artifact(
        "cases/{dataset}.parquet",
        "a case",
        {
            "case_id": (_TEXT, "unique within the data set, the same in every run"),
            "dataset": (_TEXT, "the data set's name in the configuration"),
            "split": (_TEXT, "train, validation or test"),
            "text": (_TEXT, "the facts: all that models see of a case"),
            "target": (_TEXT, 'the true label; several labels are sorted and joined by ";"; "" where none is known'),
            "labels": (pa.list_(pa.string()), "every label that a prediction may take"),
            "attributes": (_TEXT_MAP, "what scores are grouped by (sex, court, ...); models never see it"),
            "source_row": (_COUNT, "row or record of the source, from 1"),
        },
    ),
    "features": Artifact(
        "features/{dataset}.parquet",
        "a case",
        {
            "case_id": (_TEXT, "the case, as in `cases/`"),
            "split": (_TEXT, "train, validation or test"),
            "label": (_TEXT, "the true label"),
        },
        "one typed column for each feature; none where the data set holds texts alone",
    ),
    "transcripts": Artifact(
        "transcripts/{experiment}/{model}/{shard}.parquet",
        "an utterance",
        {
            **_EXPERIMENT,
            "debate_id": (_TEXT, "`case_id#repeat`: unique within experiment and model"),
            **_DEBATE,
            **_SAID,
            "parse_status": (_TEXT, 'strict, repaired, extracted, invalid, failed, or "" for free text'),
            "prediction": (_TEXT, "the label that is stated; of a conclusion the debate's answer"),
            "confidence": (_NUMBER, "stated in the prediction, 0 to 100"),
            "source": (_TEXT, "model, human, computed, or borrowed (a control arm's, from another case)"),
            "call_id": (_TEXT, "the call in `calls/`"),
            "probability": (_NUMBER, "of the prediction, by likelihood or by the stated confidence"),
            "parse_problem": (_TEXT, 'in words, why `parse_status` is not "strict"'),
            "missing_fields": (_TEXT, "what could not be read besides the answer: `confidence,factors[2].weight`"),
        },
    ),
    "records": Artifact(
        "(written by `scripts/ship_records.py`, with the cases of published debates)",
        "an utterance of a published debate",
        {
            "method": (_TEXT, "which of the records' conditions it belongs to"),
            "model": (_TEXT, "whose prediction it is, by the records' own name"),
            **_DEBATE,
            **_SAID,
            "prediction": (_TEXT, "the label that is stated"),
            "confidence": (_NUMBER, "stated in the prediction, 0 to 100"),
            "source": (_TEXT, "model, human, computed, or borrowed (a control arm's, from another case)"),
        },
    ),
    "predictions": Artifact(
        "predictions/{experiment}/{model}.parquet",
        "an evaluated case and repeat; of a recorded debate before several judges, the answer of each",
        {
            **_EXPERIMENT,
            **_DEBATE,
            "prediction": (_TEXT, "the debate's answer; missing where the status is not valid"),
            "confidence": (_NUMBER, "in the prediction, 0 to 100"),
            "score": (_NUMBER, "probability of the positive label, where there is one"),
            "probability": (_NUMBER, "of the prediction: by likelihood, votes or stated confidence"),
            "status": (_TEXT, "valid, invalid, failed, or waiting for a person or a batch"),
            "reason": (_TEXT, "in words, why the status is not valid"),
            "target": (_TEXT, "the true label"),
            "calls": (_SMALL, "calls that the debate took; what recorded debates took is not known, and missing"),
            "retries": (_SMALL, "attempts beyond the first of each call; a call that failed for good counts as one"),
            **_USAGE,
            "cost_usd": (_NUMBER, "US dollars, by the model's configured price"),
            "served_by": (_TEXT_MAP, "model to the version that its server says it ran, once for each version"),
            **JUDGED,
        },
    ),
    "calls": Artifact(
        "calls/{experiment}/{model}.parquet",
        "a call of a language model",
        {
            "call_id": (_TEXT, "digest of the request and the replicate: the ledger's key"),
            "model": (_TEXT, "the model, by its name in the configuration"),
            "request": (_TEXT, "JSON: everything that was sent"),
            "replicate": (_SMALL, "which sample of the same request, from 0"),
            "reply": (_TEXT, "the reply's text as it came"),
            "reasoning": (_TEXT, "the model's separate reasoning, where the server gives it"),
            "logprobs": (_TEXT, "JSON: label word to log-probability, for answers by likelihood"),
            "finish_reason": (_TEXT, "why generation ended: stop, length, content_filter, ..."),
            **_USAGE,
            "attempts": (_SMALL, "attempts that it took, the successful one included"),
            "cost_usd": (_NUMBER, "US dollars of all attempts that the server counted"),
            "created_at": (_TEXT, "UTC time, ISO 8601"),
            "served_model": (_TEXT, "the model's version, as the server says"),
            "provider": (_TEXT, "who served it, as the server says"),
            "system_fingerprint": (_TEXT, "the server's configuration, as the server says"),
            "service_tier": (_TEXT, "as the server says"),
            "response_id": (_TEXT, "as the server says"),
            "reasoning_tokens": (_COUNT, "part of the completion tokens that went into reasoning"),
            "unlisted_logprob": (_NUMBER, "log-probability of the last token listed, for answers by likelihood"),
            "started_at": (_TEXT, "start of the successful attempt, UTC, ISO 8601 with milliseconds"),
            "ended_at": (_TEXT, "its end"),
            "unusable_tokens": (_COUNT, "tokens of earlier attempts whose replies were empty"),
            "unusable_usd": (_NUMBER, "what those cost; part of `cost_usd`"),
            "price": (_TEXT, "the price that `cost_usd` was counted by, US dollars per million tokens, and its source"),
        },
    ),
    "labels": Artifact(
        "labels/{experiment}/{model}.parquet",
        "a labelled statement, with the label that counts",
        {
            **_EXPERIMENT,
            "debate_id": (_TEXT, "the debate, as in `transcripts/`"),
            "turn": (_SMALL, "the statement's turn"),
            "label": (_TEXT, "a label of the rubric that the experiment, or its protocol, names"),
            "code": (_SMALL, "number of its group in the rubric; of appellate panels 1 affirms, 0 does not, 3 neither"),
            "labeler": (_TEXT, "whose label counts: rules, judge, judge:MODEL, human:NAME, or adjudicated:NAME"),
            "evidence": (_TEXT, "the words that the label rests on"),
            "predicted": (_TEXT, "the label that counts among those that no person gave"),
            "predicted_by": (_TEXT, "whose label that is"),
            "drawn_label": (_TEXT, "people's label, where the statement is of the drawn sample; missing elsewhere"),
            "inclusion": (_NUMBER, "the probability with which the sample drew it; missing where it did not"),
        },
    ),
    "annotations": Artifact(
        "annotations/{experiment}/{model}.parquet",
        "a labeler's label of a statement",
        {
            **_EXPERIMENT,
            "debate_id": (_TEXT, "the debate, as in `transcripts/`"),
            "case_id": (_TEXT, "the case, as in `cases/`"),
            "turn": (_COUNT, "the statement's turn"),
            "round": (_COUNT, "its round"),
            "speaker": (_TEXT, "its seat"),
            "label": (_TEXT, "a label of the rubric that the experiment, or its protocol, names"),
            "code": (_COUNT, "number of its group in the rubric; of appellate panels 1 affirms, 0 does not, 3 neither"),
            "labeler": (_TEXT, "rules, judge, judge:MODEL, human:NAME, or adjudicated:NAME (a decision between these)"),
            "evidence": (_TEXT, "the words that the label rests on"),
        },
    ),
    "scores": Artifact(
        "scores/{experiment}.parquet",
        "one figure; `docs/results.md` explains groups, metrics and intervals",
        {
            "experiment": (_TEXT, "the experiment's name in the configuration"),
            "model": (_TEXT, "the model, or a reference (majority-class, base-rate-coin)"),
            "group": (_TEXT, '"overall", "sex=male", "speaker=judge", ..., or several joined by ";"'),
            "metric": (_TEXT, "what is measured; `_invalid_wrong` at its end counts unusable answers as wrong"),
            "average": (_TEXT, 'binary, macro, micro, weighted, or "" where the metric has none'),
            "value": (_NUMBER, "the figure"),
            "ci_low": (_NUMBER, "lower end of the 95 % interval, by cluster; missing where there is none"),
            "ci_high": (_NUMBER, "upper end"),
            "n": (_COUNT, "rows (debates or answers) that the value rests on"),
            "n_invalid": (_COUNT, "rows of the group without a usable answer"),
            "n_cases": (_COUNT, "cases that the n rows belong to: repeats of a case are one case"),
        },
    ),
    "baselines": Artifact(
        "baselines/{dataset}.parquet",
        "a trained baseline and how it was evaluated",
        {
            "dataset": (_TEXT, "the data set's name in the configuration"),
            "baseline": (_TEXT, "the baseline's name in the configuration"),
            "title": (_TEXT, "what tables call it"),
            "families": (_TEXT, 'families that it belongs to, joined by ","'),
            "evaluation": (_TEXT, "cross_validation (mean over folds of the training split) or test"),
            "status": (
                _TEXT,
                '"ok", why there are no figures, or how many test cases have a label that training never showed',
            ),
            "n": (_COUNT, "cases that it is evaluated on"),
            "folds": (_COUNT, "folds of the cross-validation"),
            "left_out": (_COUNT, "training cases that resemble a test case, from which nothing learns"),
            "unseen": (_COUNT, "test cases with a label that no training case has"),
            **_METRICS,
            **_INTERVALS,
            "tn": (_NUMBER, "true negatives, of two labels; summed over folds"),
            "fp": (_NUMBER, "false positives"),
            "fn": (_NUMBER, "false negatives"),
            "tp": (_NUMBER, "true positives"),
            "confusion": (_TEXT, "JSON: rows actual and columns predicted, in the order of the labels"),
            "warnings": (_TEXT, 'what the library said when fitting, joined by "; "'),
            "fit_seconds": (_NUMBER, "seconds of fitting; the one column that differs between runs"),
        },
    ),
    "baseline_predictions": Artifact(
        "baselines/{dataset}_predictions.parquet",
        "a baseline's prediction of a test case",
        {
            "dataset": (_TEXT, "the data set's name in the configuration"),
            "baseline": (_TEXT, "the baseline's name in the configuration"),
            "case_id": (_TEXT, "the case, as in `cases/`"),
            "target": (_TEXT, "the true label"),
            "prediction": (_TEXT, "the predicted label"),
            "score": (_NUMBER, "of the positive label, as `score_kind` says"),
            "score_kind": (_TEXT, 'probability, decision (a value without bounds), or "" where there is none'),
        },
    ),
    "deidentified": Artifact(
        "deidentified/{dataset}.parquet",
        "an opinion that was de-identified",
        {
            "case_id": (_TEXT, "the opinion, as in `cases/`"),
            "source_row": (_COUNT, "row or record of the source, from 1"),
            "passed": (pa.bool_(), "whether it passes the gates, and so is a case"),
            "name_words_checked": (_COUNT, "words of names that were looked for in the finished text"),
            "names_surviving": (_TEXT, "JSON: names found in the finished text"),
            "outcome_sentences_marked": (_COUNT, "sentences that tell the outcome, by the source's own mark"),
            "outcome_sentences_surviving": (_TEXT, "JSON: those found in the finished text"),
            "problems": (_TEXT, "JSON: what else is wrong with the text"),
            "names": (_TEXT, "JSON: each name and what replaced it"),
            "survivors": (_TEXT, "JSON: reason and words of what the independent gate found"),
            "reasons": (_TEXT, "JSON: why it does not pass"),
            "party_rules": (_TEXT, "JSON: the rules that found its parties"),
            "outcome_from": (_TEXT, "where its outcome was read from"),
        },
    ),
}

SCHEMAS: Mapping[str, pa.Schema] = {name: artifact.schema for name, artifact in ARTIFACTS.items()}
