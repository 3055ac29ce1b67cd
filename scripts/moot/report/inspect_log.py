"""Logs of inspect_ai, made with its own types.

Import this module only to write a log, since the library is slow to import.

A debate is a sample and a repeat an epoch. Each turn is a span of the speaking seat. It contains a
span of the utterance, which contains the model call with the exact prompt and reply.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.dataset import Sample
from inspect_ai.event import (
    Event,
    InfoEvent,
    ModelEvent,
    SampleInitEvent,
    ScoreEvent,
    SpanBeginEvent,
    SpanEndEvent,
)
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalPlan,
    EvalPlanStep,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelCall,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score

from moot import __version__
from moot.core.artifacts import atomic_path
from moot.core.types import Fields, Json, JsonObject
from moot.core.utterance_kinds import PUBLIC
from moot.report.exports import (
    NO_TIME,
    Export,
    ExportedDebate,
    as_json_values,
    call_times,
    is_missing,
)
from moot.report.turn_effects import EXPORTED_FIELDS

SCORER = "moot"
_STOP_REASONS = {
    "stop": "stop",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "refusal": "content_filter",
}
_MESSAGES = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


def write_log(export: Export, path: Path) -> None:
    """Write the log atomically."""
    with atomic_path(path) as part:
        write_eval_log(make_log(export), str(part), format="eval")


def make_log(export: Export) -> EvalLog:
    """Return the log of one experiment and model; equal inputs give equal logs."""
    calls = export.calls()
    samples = [_Sample(export, debate, calls).make() for debate in export.debates()]
    times = _times_of_calls(calls.values())
    config, name = export.results.config, f"{export.results.experiment}/{export.model}"
    params = as_json_values(config.params)
    return EvalLog(
        status="success",
        eval=EvalSpec(
            eval_id=name,
            run_id=name,
            task_id=name,
            created=_iso(min(times)),
            task=export.results.experiment,
            task_args=params,
            model=export.model_name,
            dataset=EvalDataset(
                name=config.dataset,
                samples=len({sample.id for sample in samples}),
                sample_ids=sorted({str(sample.id) for sample in samples}),
                shuffled=False,
            ),
            config=EvalConfig(epochs=max((sample.epoch for sample in samples), default=1)),
            packages={"moot": __version__},
            metadata={
                "protocol": config.protocol,
                "question": export.results.task.question,
                "notes": list(export.results.task.notes),
            },
        ),
        plan=EvalPlan(
            name=config.protocol, steps=[EvalPlanStep(solver=config.protocol, params=params)]
        ),
        results=_results(export.scores, len(samples)),
        stats=EvalStats(
            started_at=_iso(min(times)),
            completed_at=_iso(max(times)),
            model_usage=_usage_by_model(calls.values()),
        ),
        samples=samples,
    )


class _Sample:
    """One debate as a sample, with its events in sequence."""

    def __init__(self, export: Export, debate: ExportedDebate, calls: Mapping[str, Fields]) -> None:
        self._model, self._debate = export.model_name, debate
        self._calls = {
            utterance["call_id"]: calls[utterance["call_id"]]
            for utterance in debate.utterances
            if utterance["call_id"] in calls
        }
        times = _times_of_calls(self._calls.values())
        self._started, self._ended = min(times), max(times)
        self._now = self._started
        self._events: list[Event] = []

    def make(self) -> EvalSample:
        case, outcome = self._debate.case, self._debate.outcome
        repeat, labels = int(outcome["repeat"]), list(case["labels"])
        metadata = {
            "status": outcome["status"],
            **{f"case_{name}": value for name, value in case["attributes"].items()},
        }
        sample = Sample(
            input=case["text"],
            target=case["target"],
            id=case["case_id"],
            choices=labels,
            metadata=metadata,
        )
        self._add(SampleInitEvent, sample=sample, state={})
        for utterance in self._debate.utterances:
            self._add_turn(utterance)
        score = _score(outcome, case["target"], self._debate.utterances)
        self._add(ScoreEvent, score=score, target=case["target"], scorer=SCORER)
        return EvalSample(
            id=case["case_id"],
            epoch=repeat + 1,
            uuid=self._debate.name,
            input=case["text"],
            target=case["target"],
            choices=labels,
            messages=list(self._messages()),
            output=self._answer(),
            scores={SCORER: score},
            metadata=metadata,
            events=self._events,
            model_usage=_usage_by_model(self._calls.values()),
            started_at=_iso(self._started),
            completed_at=_iso(self._ended),
            total_time=(self._ended - self._started).total_seconds(),
            working_time=sum(_number(call["seconds"]) for call in self._calls.values()),
        )

    def _messages(self) -> Iterator[ChatMessage]:
        """Return the utterances as one conversation.

        Above each turn stands who speaks, and to whom if it was private.
        """
        yield ChatMessageUser(
            id=f"{self._debate.name}/case", content=self._debate.case["text"], source="input"
        )
        for utterance in self._debate.utterances:
            content = f"**{_heading(utterance)}**\n\n{utterance['text']}"
            identity = f"{self._debate.name}/{utterance['turn']}"
            metadata = {
                name: value
                for name, value in _about(utterance).items()
                if name in ("seat", "kind", "private")
            }
            if utterance["source"] == "human":
                yield ChatMessageUser(
                    id=identity, content=content, metadata=metadata, source="operator"
                )
            else:
                model = (
                    self._calls[utterance["call_id"]]["model"]
                    if utterance["call_id"] in self._calls
                    else self._model
                )
                yield ChatMessageAssistant(
                    id=identity, content=content, metadata=metadata, source="generate", model=model
                )

    def _answer(self) -> ModelOutput:
        answer = ChatMessageAssistant(
            id=f"{self._debate.name}/answer",
            content=self._debate.outcome["prediction"] or "",
            source="generate",
        )
        return ModelOutput(
            model=self._model, choices=[ChatCompletionChoice(message=answer, stop_reason="stop")]
        )

    def _add_turn(self, utterance: Fields) -> None:
        seat = f"{self._debate.name}/{utterance['turn']}"
        kind = f"{self._debate.name}/{utterance['turn']}/{utterance['kind']}"
        call = self._calls.get(utterance["call_id"])
        if call is not None:
            self._now = max(self._now, call_times(call)[0])
        metadata = _about(utterance)
        self._add(
            SpanBeginEvent,
            span_id=None,
            id=seat,
            type="agent",
            name=utterance["speaker"],
            metadata=metadata,
        )
        self._add(
            SpanBeginEvent,
            span_id=seat,
            id=kind,
            parent_id=seat,
            type=utterance["kind"],
            name=_heading(utterance),
        )
        if call is None:
            text = utterance["text"] or utterance["parsed"] or utterance["prediction"]
            self._add(
                InfoEvent, span_id=kind, source=utterance["source"], data=text, metadata=metadata
            )
        else:
            self._add_call(kind, utterance, call)
        self._add(SpanEndEvent, span_id=kind, id=kind)
        self._add(SpanEndEvent, span_id=seat, id=seat)

    def _add_call(self, span: str, utterance: Fields, call: Fields) -> None:
        request = json.loads(call["request"])
        messages = request.pop("messages")
        parameters = request["parameters"]
        settings = {name: parameters.get(name) for name in ("temperature", "max_tokens", "seed")}
        end = call_times(call)[1]
        response_fields = (
            "finish_reason",
            "logprobs",
            "served_model",
            "provider",
            "system_fingerprint",
            "response_id",
        )
        self._add(
            ModelEvent,
            span_id=span,
            model=call["model"],
            role=utterance["speaker"],
            input=[
                _message(role, text, f"{span}/{number}")
                for number, (role, text) in enumerate(messages)
            ],
            tools=[],
            tool_choice="none",
            config=GenerateConfig(**settings),
            output=_output(call, span),
            retries=max(_count(call["attempts"]), 1) - 1,
            call=ModelCall(
                request=request,
                response={name: call[name] for name in response_fields if call[name]},
            ),
            completed=end,
            working_time=_number(call["seconds"]),
            metadata={
                "call_id": call["call_id"],
                "attempts": max(_count(call["attempts"]), 1),
                **_about(utterance),
            },
        )
        self._now = max(self._now, end)

    def _add(self, event: Any, **fields: Any) -> None:
        """Append an event.

        All times are explicit; otherwise the library would use the time of writing.
        """
        self._events.append(
            event(
                uuid=f"{self._debate.name}/event-{len(self._events)}",
                timestamp=self._now,
                working_start=(self._now - self._started).total_seconds(),
                **{"span_id": None, **fields},
            )
        )


def _heading(utterance: Fields) -> str:
    private = (
        "" if utterance["visibility"] == PUBLIC else f" (private to {utterance['visibility']})"
    )
    return f"{utterance['speaker']}: {utterance['kind']}{private}"


def _about(utterance: Fields) -> JsonObject:
    names = (
        "kind",
        "round",
        "turn",
        "visibility",
        "source",
        "parse_status",
        "prediction",
        "confidence",
    )
    values = {name: utterance.get(name) for name in (*names, *EXPORTED_FIELDS)}
    values = {
        name: value for name, value in values.items() if not is_missing(value) and value != ""
    }
    return {
        "seat": utterance["speaker"],
        "private": utterance["visibility"] != PUBLIC,
        **as_json_values(values),
    }


def _message(role: str, text: str, identity: str) -> ChatMessage:
    message: ChatMessage = _MESSAGES[role](id=identity, content=text)
    return message


def _output(call: Fields, span: str) -> ModelOutput:
    reply = ContentText(text=call["reply"] or "")
    content = (
        [ContentReasoning(reasoning=call["reasoning"]), reply]
        if call["reasoning"]
        else call["reply"] or ""
    )
    message = ChatMessageAssistant(
        id=f"{span}/reply", content=content, source="generate", model=call["model"]
    )
    return ModelOutput(
        model=call["served_model"] or call["model"],
        choices=[
            ChatCompletionChoice(
                message=message, stop_reason=_STOP_REASONS.get(call["finish_reason"], "unknown")
            )
        ],
        usage=_usage(call),
        time=_number(call["seconds"]),
        response_id=call["response_id"] or None,
    )


def _count(value: Json) -> int:
    """Return a count as a whole number, 0 if the cell is empty."""
    return 0 if is_missing(value) else int(value)


def _number(value: Json) -> float:
    """Return a number, 0 if the cell is empty."""
    return 0.0 if is_missing(value) else float(value)


def _usage(call: Fields) -> ModelUsage:
    prompt, cached = _count(call["prompt_tokens"]), _count(call["cached_tokens"])
    generated = _count(call["completion_tokens"])
    return ModelUsage(
        input_tokens=prompt - cached,  # the library counts cached tokens separately
        input_tokens_cache_read=cached,
        output_tokens=generated,
        total_tokens=prompt + generated,
        reasoning_tokens=_count(call["reasoning_tokens"]),
        total_cost=_number(call["cost_usd"]),
    )


def _usage_by_model(calls: Iterable[Fields]) -> dict[str, ModelUsage]:
    usage: defaultdict[str, ModelUsage] = defaultdict(ModelUsage)
    for call in calls:
        usage[call["model"]] += _usage(call)
    return dict(usage)


def _times_of_calls(calls: Iterable[Fields]) -> list[datetime]:
    """Return when calls began and ended; `NO_TIME` without calls."""
    return list(chain.from_iterable(map(call_times, calls))) or [NO_TIME]


def _score(outcome: Fields, target: str, turns: Iterable[Fields]) -> Score:
    prediction = outcome["prediction"]
    prediction = None if is_missing(prediction) else prediction
    value = NOANSWER if prediction is None else CORRECT if prediction == target else INCORRECT
    details = {name: outcome[name] for name in ("status", "confidence", "probability", "score")}
    effects = {}
    for turn in turns:
        if "effect" in turn:
            exported_fields = {name: turn[name] for name in EXPORTED_FIELDS}
            effects[str(turn["turn"])] = as_json_values(exported_fields)
    return Score(
        value=value,
        answer=prediction or "",
        explanation=None if is_missing(outcome["reason"]) else outcome["reason"] or None,
        metadata=as_json_values(
            {name: found for name, found in details.items() if not is_missing(found)}
        )
        | ({"effects of turns": effects} if effects else {}),
    )


def _results(scores: pd.DataFrame, samples: int) -> EvalResults:
    """Return the overall scores that have an interval, accuracy first.

    The ends of intervals are separate metrics.
    """
    metrics = {}
    has_interval = scores["ci_low"].notna() & scores["ci_high"].notna()
    records = scores[has_interval].to_dict("records")
    for row in sorted(records, key=lambda row: row["metric"] != "accuracy"):
        has_average = not is_missing(row["average"]) and row["average"]
        name = f"{row['metric']}_{row['average']}" if has_average else row["metric"]
        metadata = {"ci_low": row["ci_low"], "ci_high": row["ci_high"]}
        for column in ("n", "n_invalid", "n_cases"):
            if not is_missing(row[column]):
                metadata[column] = int(row[column])
        for ending, column in (
            ("", "value"),
            (" (95 % from)", "ci_low"),
            (" (95 % to)", "ci_high"),
        ):
            metrics[name + ending] = EvalMetric(
                name=name + ending, value=_number(row[column]), metadata=metadata
            )
    return EvalResults(
        total_samples=samples,
        completed_samples=samples,
        scores=[EvalScore(name=SCORER, scorer=SCORER, metrics=metrics, scored_samples=samples)],
    )


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")
