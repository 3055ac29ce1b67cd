"""Every Eval Ever: scores with intervals and each debate's outcome in the common schema for
evaluation results.

`data/EXPERIMENT/DEVELOPER/MODEL/UUID.json` follows the schema of evaluations, `UUID_samples.jsonl`
next to it that of instances, both of version 0.3.0 (package `every-eval-ever`). A metric is written
where the schema's questions about it (its range, and whether lower is better) have an answer here.
"""

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import pandas as pd

from moot import __version__
from moot.core.artifacts import file_digest
from moot.core.experiment_config import RECORDED
from moot.core.types import Fields, JsonObject
from moot.report.exports import Export, ExportedDebate, exporter

SCHEMA = "0.3.0"
_UNKNOWN = "unknown"
_LOWEST = {
    "accuracy": 0.0,
    "accuracy_invalid_wrong": 0.0,
    "f1": 0.0,
    "precision": 0.0,
    "recall": 0.0,
    "auc": 0.0,
    "kappa": -1.0,
    "mcc": -1.0,
    "brier": 0.0,
    "expected_calibration_error": 0.0,
}
_LOWER_IS_BETTER = ("brier", "expected_calibration_error")


@exporter("every_eval_ever")
def write(export: Export, folder: Path) -> None:
    """Write the evaluation and its samples."""
    config, publication = export.results.config, export.publication
    calls = export.calls()
    ended = int(export.ended().timestamp())
    name = f"{export.results.experiment}/{export.model_name}/{ended}"
    identity = uuid.UUID(
        bytes=hashlib.sha256(name.encode()).digest()[:16], version=4
    )  # the same in every run
    developer = export.model_name.rpartition("/")[0].partition("/")[0] or _UNKNOWN
    place = PurePosixPath("data", export.results.experiment, developer, export.model)
    (folder / place).mkdir(parents=True, exist_ok=True)
    samples = folder / place / f"{identity}_samples.jsonl"
    rows = [_sample(export, debate, name, calls) for debate in export.debates()]
    samples.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    organization = {"source_organization_name": publication.creator or _UNKNOWN}
    if publication.url:
        organization["source_organization_url"] = publication.url
    evaluation = {
        "schema_version": SCHEMA,
        "evaluation_id": name,
        "retrieved_timestamp": str(ended),
        "source_metadata": {
            **organization,
            "source_name": export.results.experiment,
            "source_type": "evaluation_run",
            "evaluator_relationship": "third_party",
            "additional_details": {"notes": " ".join(export.results.task.notes)},
        },
        "eval_library": {
            "name": "moot",
            "version": __version__,
            "additional_details": {
                "protocol": config.protocol,
                "recorded": str(config.protocol == RECORDED).lower(),
            },
        },
        "model_info": {
            "name": export.model_name,
            "id": export.model_name,
            "developer": developer,
            "additional_details": {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN},
        },
        "evaluation_results": list(_results(export)),
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": str(place / samples.name),
            "hash_algorithm": "sha256",
            "checksum": file_digest(samples),
            "total_rows": len(rows),
        },
    }
    text = json.dumps(evaluation, ensure_ascii=False, indent=1, sort_keys=True)
    (folder / place / f"{identity}.json").write_text(text + "\n", encoding="utf-8")


def _results(export: Export) -> Iterator[JsonObject]:
    scores = export.scores
    for row in scores[scores["metric"].isin(_LOWEST) & scores["value"].notna()].to_dict("records"):
        metric = f"{row['metric']}_{row['average']}" if row["average"] else row["metric"]
        details = {name: str(int(row[name])) for name in ("n", "n_invalid", "n_cases")}
        score: JsonObject = {"score": row["value"], "details": details}
        if row["ci_low"] == row["ci_low"]:
            interval = {
                "lower": row["ci_low"],
                "upper": row["ci_high"],
                "confidence_level": 0.95,
                "method": "bootstrap over clusters of cases",
            }
            score["uncertainty"] = {"confidence_interval": interval, "num_samples": int(row["n"])}
        yield {
            "evaluation_result_id": metric,
            "evaluation_name": export.results.experiment,
            "source_data": {"dataset_name": export.results.config.dataset, "source_type": "other"},
            "metric_config": {
                "metric_id": metric,
                "metric_name": metric,
                "metric_kind": row["metric"],
                "evaluation_description": export.results.task.question,
                "lower_is_better": row["metric"] in _LOWER_IS_BETTER,
                "score_type": "continuous",
                "min_score": _LOWEST[row["metric"]],
                "max_score": 1.0,
            },
            "score_details": score,
        }


def _sample(
    export: Export, debate: ExportedDebate, evaluation: str, calls: Mapping[str, Fields]
) -> JsonObject:
    case, outcome = debate.case, debate.outcome
    messages: list[JsonObject] = [{"turn_idx": 0, "role": "user", "content": case["text"]}]
    for number, said in enumerate(debate.said, start=1):
        messages.append({"turn_idx": number, "role": said["speaker"], "content": said["text"]})
    right = outcome["prediction"] == case["target"]
    spent = [calls[said["call_id"]] for said in debate.said if said["call_id"] in calls]
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "model_id": export.model_name,
        "evaluation_name": export.results.experiment,
        "sample_id": debate.name,
        "sample_hash": hashlib.sha256(f"{case['text']}{case['target']}".encode()).hexdigest(),
        "interaction_type": "multi_turn",
        "input": {
            "raw": case["text"],
            "reference": [case["target"]],
            "choices": list(case["labels"]),
        },
        "output": None,
        "messages": messages,
        "answer_attribution": [
            {
                "turn_idx": len(debate.said),
                "source": f"messages[{len(debate.said)}].content",
                "extracted_value": outcome["prediction"] or "",
                "extraction_method": "custom",
                "is_terminal": True,
            }
        ],
        "evaluation": {
            "score": float(right),
            "is_correct": bool(right),
            "num_turns": len(messages),
        },
        "token_usage": _token_usage(outcome),
        "performance": (
            {"latency_ms": 1000 * sum(float(call["seconds"] or 0) for call in spent)}
            if spent
            else None
        ),
        "error": outcome["reason"],
        "metadata": {"status": outcome["status"], "repeat": str(outcome["repeat"])},
    }


def _token_usage(outcome: Fields) -> dict[str, int] | None:
    """None for recorded debates: what these took is not known."""
    if pd.isna(outcome["calls"]):
        return None
    names = ("prompt_tokens", "cached_tokens", "completion_tokens")
    prompt, cached, generated = (int(outcome[name]) for name in names)
    return {
        "input_tokens": prompt - cached,
        "input_tokens_cache_read": cached,
        "output_tokens": generated,
        "total_tokens": prompt + generated,
    }
