"""A sample of inspect_ai as a case and as a recorded debate."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.cases import WITHOUT_TEXT, Case
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.datasets import LoadContext
from moot.datasets.debate_records import RecordedDebate, RecordedUtterance, read_confidence
from moot.datasets.inspect_options import InspectOptions
from moot.datasets.label_words import find_label

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

MESSAGE = "message"


def make_case(
    options: InspectOptions, context: LoadContext, path: Path, sample: "EvalSample", number: int
) -> Case:
    """Return a sample as a case."""
    return Case(
        case_id=str(sample.id),
        dataset=context.name,
        split="test",
        text=_text(sample) if options.with_text else WITHOUT_TEXT,
        target=_target(options, path, sample),
        labels=tuple(dict.fromkeys(options.labels.values())),
        attributes={name: _attribute(path, sample, name) for name in options.attributes},
        source_row=number,
    )


def make_debate(
    options: InspectOptions, path: Path, sample: "EvalSample", identity: tuple[str, str, str, int]
) -> RecordedDebate:
    """Return a sample as a recorded debate.

    `identity` is the method, the model, the case and the repeat.
    """
    word, confidence, problem = _answer(options, path, sample)
    answer = None if problem else find_label(word, options.labels)
    if answer is None:
        problem = problem or f"the record says {word.strip() or 'nothing'}"
        confidence = None
    messages = sample.messages if options.with_text else ()
    utterances = [RecordedUtterance(message.role, MESSAGE, message.text) for message in messages]
    return RecordedDebate(*identity, answer, confidence, problem=problem, utterances=utterances)


def is_unknown_answer(
    options: InspectOptions, sample: "EvalSample", debate: RecordedDebate
) -> bool:
    """Return whether a score has an answer that means neither a label nor a missing answer."""
    if debate.prediction is not None or sample.error is not None or not sample.scores:
        return False
    word = (_score(options, Path(), sample).answer or "").strip()
    return word not in options.no_answer


def require_same_facts(case: Case, first_case: Case, path: Path, sample: "EvalSample") -> None:
    """Require the target and attributes that the first sample of the case has."""
    facts = {"target": case.target, **case.attributes}
    first_facts = {"target": first_case.target, **first_case.attributes}
    for name, value in facts.items():
        if value != first_facts[name]:
            raise UserError(
                f"{_place(path, sample, name)}: found {quote_value(value)} for case"
                f" {quote_value(case.case_id)}, but another sample has"
                f" {quote_value(first_facts[name])};"
                " expected the same value in all samples of a case. Correct one of them."
            )


def check_scorers(options: InspectOptions, path: Path, log: "EvalLog") -> None:
    """Require the scorer of the options in a log, or a single scorer."""
    scorers: dict[str, None] = {}
    for sample in log.samples or ():
        scorers |= dict.fromkeys(sample.scores or ())
    if options.scorer and scorers and options.scorer not in scorers:
        raise UserError(
            f"{path}: no sample has a score of {quote_value(options.scorer)}; found"
            f" {', '.join(scorers)}. Correct `scorer`."
        )
    if not options.scorer and len(scorers) > 1:
        raise UserError(
            f"{path}: found scores of {', '.join(scorers)}; expected scores of one scorer. Choose"
            " it with `scorer`."
        )


def _answer(
    options: InspectOptions, path: Path, sample: "EvalSample"
) -> tuple[str, float | None, str]:
    """Return the answer that the scorer extracted, the stated confidence, and the reason for no
    answer.
    """
    if sample.error is not None:
        return "", None, "the sample ended with an error"
    if not sample.scores:
        return "", None, "the sample was not scored"
    score = _score(options, path, sample)
    confidence = None
    if options.confidence:
        confidence_field = (score.metadata or {}).get(options.confidence)
        place = _place(path, sample, f"{options.confidence} of its score's metadata")
        confidence = read_confidence(
            place, "" if confidence_field is None else str(confidence_field)
        )
    return score.answer or "", confidence, ""


def _score(options: InspectOptions, path: Path, sample: "EvalSample") -> "Score":
    scores = sample.scores or {}
    if options.scorer and options.scorer not in scores:
        raise UserError(
            f"{_place(path, sample, 'scores')}: found {', '.join(scores)}; expected a score of"
            f" {quote_value(options.scorer)}. Correct the log."
        )
    return scores[options.scorer] if options.scorer else next(iter(scores.values()))


def _target(options: InspectOptions, path: Path, sample: "EvalSample") -> str:
    targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
    place = _place(path, sample, "target")
    if len(targets) != 1:
        raise UserError(
            f"{place}: found {quote_value(str(targets))}; expected one target. Leave the log out of"
            " `logs`."
        )
    label = find_label(targets[0], options.labels)
    if label is None:
        raise UserError(
            f"{place}: found {quote_value(targets[0])}; expected one of"
            f" {', '.join(options.labels)}. Add it to `labels`, or correct the file."
        )
    return label


def _attribute(path: Path, sample: "EvalSample", name: str) -> str:
    if name not in sample.metadata:
        field_names = quote_value(", ".join(sample.metadata))
        raise UserError(
            f"{_place(path, sample, 'metadata')}: no '{name}'; found {field_names}. Correct"
            " `attributes`."
        )
    return str(sample.metadata[name])


def _text(sample: "EvalSample") -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n\n".join(message.text for message in sample.input)


def _place(path: Path, sample: "EvalSample", field: str) -> str:
    return f"{path}: sample {quote_value(sample.id)}, epoch {sample.epoch}, field '{field}'"
