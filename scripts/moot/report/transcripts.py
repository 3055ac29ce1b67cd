"""Debates for reading, as Markdown: laid out as the courtroom paper's appendix B, for the debates of any protocol.

Everything that a model, a person or a data set wrote stands in a quotation and is escaped, so that it can neither pass
for the page's own words nor become a link, an image or HTML.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from moot.core.cases import Task
from moot.core.schemas import CONCLUSION
from moot.report.escaping import markdown
from moot.scores.results import ExperimentResults

PUBLIC = "public"
CODE_LENGTH = 12


def render_debates(results: ExperimentResults, model: str) -> Iterator[str]:
    """All debates of one experiment and model, in the order of their ids, as pieces of one Markdown text."""
    task = results.task
    transcripts = results.held_transcripts
    cases = results.cases.set_index("case_id")
    debates = transcripts[transcripts["model"] == model].groupby("debate_id", sort=True)
    yield f"# {markdown(results.experiment)}: debates of {markdown(model)}\n\n"
    yield f"Data set {markdown(results.config.dataset)}. Question: {markdown(task.question)}\n\n"
    yield "".join(f"- {markdown(note)}\n" for note in task.notes) + "\n" * bool(task.notes)
    yield "What is marked *private* was shown to nobody but the seats named. "
    yield "Codes are the first signs of call ids, as in `calls/`.\n\n"
    outcomes = results.outcomes[results.outcomes["model"] == model].set_index(["case_id", "repeat"])
    for debate_id, utterances in debates:
        identity = (utterances["case_id"].iloc[0], utterances["repeat"].iloc[0])
        case = cases.loc[identity[0]]
        yield f"## Debate {markdown(debate_id)}\n\n### Case facts\n\n{_quoted(case['text'])}\n\n"
        yield f"Actual outcome: **{markdown(case['target'])}**{_meaning(task, case['target'])}\n\n### Transcript\n\n"
        for utterance in utterances.to_dict("records"):
            if utterance["kind"] != CONCLUSION:
                yield _utterance({str(name): value for name, value in utterance.items()}, task, str(case["target"]))
        yield _outcome(outcomes.loc[identity], str(case["target"]))


def _utterance(said: dict[str, Any], task: Task, target: str) -> str:
    speaker = task.roles.get(said["speaker"], said["speaker"])
    heading = f"**{markdown(speaker.capitalize())}, {markdown(said['kind'])}**"
    readers = said["visibility"].replace(",", ", ")
    private = "" if said["visibility"] == PUBLIC else f" *(private: {markdown(readers)})*"
    origin = f" `{_code(said['call_id'])[:CODE_LENGTH]}`" if said["call_id"] else f" *({markdown(said['source'])})*"
    parts = [f"{heading}{private}, turn {said['turn']}{origin}", _body(said)]
    stated = _stated(said, target)
    return "\n\n".join([*parts, stated] if stated else parts) + "\n\n"


def _body(said: dict[str, Any]) -> str:
    """What was said: a person's words, a structured reply's fields by name, else the text; of no use: as it came."""
    parsed = json.loads(said["parsed"]) if said["parsed"] else None
    if said["parse_status"] == "failed":
        return f"*The call failed; nothing was said{_why(parsed, 'error')}.*"
    if said["parse_status"] == "invalid":
        return f"*No usable answer{_why(parsed, 'problem')}; the reply as it came:*\n\n{_quoted(said['text'])}"
    fields = {name: value for name, value in parsed.items() if value} if isinstance(parsed, dict) else {}
    shown = {name: value for name, value in fields.items() if name not in ("prediction", "confidence")}
    if not fields:
        return _quoted(said["text"])
    words = [_quoted(said["text"])] if said["source"] == "human" else []
    paragraphs = [*words, *(_field(name, value) for name, value in shown.items())]
    return "\n>\n".join(paragraphs) or "*No reasons given.*"


def _why(parsed: object, name: str) -> str:
    found = parsed.get(name) if isinstance(parsed, Mapping) else None
    return f": {markdown(found).replace(chr(10), ' ')}" if found else ""


def _field(name: str, value: object) -> str:
    title = markdown(name.replace("_", " ").capitalize())
    if isinstance(value, list):
        entries = "\n".join(f"> - {markdown(_flat(entry)).replace(chr(10), ' ')}" for entry in value)
        return f"> *{title}:*\n>\n{entries}"
    return f"> *{title}:*\n>\n{_quoted(_flat(value))}"


def _flat(value: object) -> str:
    """A field's value as text: a mapping as its entries, numbers with three digits."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_flat(entry)}" for name, entry in value.items())
    if isinstance(value, float):
        return f"{value:.3f}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _stated(said: dict[str, Any], target: str) -> str:
    """The prediction as the appendix gives it: "(Prediction: yes with 70 %, INCORRECT)"; beliefs without a verdict."""
    if not said["prediction"]:
        return ""
    confidence = "" if pd.isna(said["confidence"]) else f" with {said['confidence']:.0f} %"
    verdict = f", {_verdict(said['prediction'], target)}" if said["visibility"] == PUBLIC else ""
    word = "Prediction" if said["visibility"] == PUBLIC else "Belief"
    return f"({word}: **{markdown(said['prediction'])}**{confidence}{verdict})"


def _outcome(outcome: "pd.Series[Any]", target: str) -> str:
    """What counts as the prediction (the verdict, or its likelihoods after calibration), or why there is none."""
    prediction, confidence = outcome["prediction"], outcome["confidence"]
    if pd.isna(prediction) or not prediction:
        status, reason = outcome["status"], outcome["reason"]
        why = f" {markdown(reason).replace(chr(10), ' ')}." if isinstance(reason, str) and reason else ""
        if status == "waiting":
            return f"### Outcome\n\n**The debate waits for a person:**{why}\n\n"
        return f"### Outcome\n\n**No usable verdict ({markdown(status)}).**{why} Actual: {markdown(target)}.\n\n"
    stated = "" if pd.isna(confidence) else f" with {confidence:.0f} %"
    verdict = _verdict(str(prediction), target)
    actual = f"(actual: {markdown(target)})"
    return f"### Outcome\n\nPrediction: **{markdown(prediction)}**{stated}, **{verdict}** {actual}.\n\n"


def _verdict(prediction: str, target: str) -> str:
    return "CORRECT" if prediction == target else "INCORRECT"


def _meaning(task: Task, label: str) -> str:
    return f" ({markdown(task.meaning[label])})" if label in task.meaning else ""


def _code(text: str) -> str:
    return "".join(character for character in text if character.isalnum() or character in "-_:.#/")


def _quoted(text: object) -> str:
    """Text as a quotation, its line breaks kept."""
    lines = markdown(text).split("\n")
    return "\n".join(
        f"> {line}  " if line and number < len(lines) else f"> {line}" for number, line in enumerate(lines, 1)
    )
