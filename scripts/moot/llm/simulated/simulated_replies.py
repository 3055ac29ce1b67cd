"""Replies of simulated voices: bare answers, forms, statements and unusable replies."""

import json
import random
import re
from collections.abc import Sequence

from moot.core.rubric import RUBRICS, Rubric, rubric_for
from moot.core.simulated_voice import SimulatedVoice
from moot.core.types import Fields, Json, JsonObject
from moot.llm.request import Request
from moot.llm.simulated.beliefs import Belief, Reading, find_stances, form_belief

MARK = "[SIMULATED]"
"""Starts every free text, so that no transcript looks like a model's."""
REFUSAL = "I am sorry, but I cannot help with this request."
NO_ANSWER = "It depends; nothing further can be said."
_ONE_WORD = re.compile(
    r"Answer with (?:one|[^\n]+ and nothing else)|只回答|The vote of this judge|answers with one"
    r" word"
)
_DECISION = re.compile(r"Answer with (?P<words>[^\n:.]+?) and nothing else")
_HEADINGS = re.compile(r"All (?P<judges>\d) judges speak in it")
_SUM_UP = re.compile(r"Sum up the debate|归纳辩论")
_CONFIDENCE = re.compile(r'"Confidence: "|confidence from 0 to 100')
_GRADED_RIGHT, _GRADED_WRONG = 8, 3
_WORDS_A_TOKEN = 0.6


class Writer:
    """Writes the reply of one voice to one request."""

    def __init__(
        self,
        voice: SimulatedVoice,
        seed: int,
        request: Request,
        reading: Reading,
        draw: random.Random,
    ) -> None:
        self.voice, self.seed, self.request, self.reading, self.draw = (
            voice,
            seed,
            request,
            reading,
            draw,
        )
        self.prompt = "\n".join(message.content for message in request.messages)

    def believe(self, options: Sequence[str]) -> Belief:
        """Return the belief about a question with these answers."""
        return form_belief(self.voice, self.seed, self.request, self.reading, options)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the case as prompts spell them; empty for an unknown case."""
        return (
            tuple(label.upper() for label in self.reading.case.labels) if self.reading.case else ()
        )

    def reply(self) -> str:
        """Return the text of the reply."""
        if self.request.schema is not None:
            return json.dumps(self.fill_form(self.request.schema), ensure_ascii=False)
        if decision := _DECISION.search(self.reading.instruction):
            words = [word.strip() for word in decision["words"].split(" or ")]
            if len(words) > 1:
                return self.believe(words).answer
        if len(self.labels) > 1 and _ONE_WORD.search(self.reading.instruction):
            return self.believe(self.labels).answer
        if headings := _HEADINGS.search(self.reading.instruction):
            return "\n\n".join(
                f"Judge {n}: {self.statement(n)}" for n in range(1, int(headings["judges"]) + 1)
            )
        if _SUM_UP.search(self.reading.instruction):
            return self.summary()
        return self.statement()

    # Free texts

    def statement(self, number: int = 0) -> str:
        """Return a statement for the voice's assigned side, or else for its own answer.

        Args:
            number: the judge's number if one reply holds the statements of several judges. Each
                judge has a separate belief.
        """
        labels = self.labels
        if len(labels) < 2:  # there are no sides
            return self.pad("")
        belief = self.believe(labels)
        position_label = self.reading.side or belief.answer.casefold()
        if number and self.draw.random() > belief.certainty:
            position_label = (
                belief.tempting_option
                if position_label == belief.true_option.casefold()
                else belief.true_option
            ).casefold()
        rubric = rubric_for(frozenset(self.reading.case.labels)) if self.reading.case else None
        position = (
            rubric.sentence_for(position_label)
            if rubric
            else f"The answer is {_name_label(position_label)}."
        )
        return self.pad(
            f"{position} Confidence: {self.scale_confidence(belief, len(labels))}"
            if self.asks_confidence
            else position
        )

    @property
    def asks_confidence(self) -> bool:
        """Whether the prompt asks for a confidence at the end of a statement."""
        return bool(_CONFIDENCE.search(self.prompt))

    def summary(self) -> str:
        """Return a summary that names the label of each opinion."""
        labels = self.reading.case.labels if self.reading.case else ()
        labels_argued: list[str] = []
        for quote in self.reading.quotes:
            labels_argued += find_stances(quote.text, labels)[-1:]
        return self.pad(
            " ".join(f"One opinion speaks for {label.upper()}." for label in labels_argued)
        )

    def pad(self, ending: str) -> str:
        """Return a text of about the configured length; words before `ending` have no meaning."""
        max_words = (
            int(self.request.parameters.get("max_tokens", 0) * _WORDS_A_TOKEN) or self.voice.words
        )
        filler_words = max(0, min(self.voice.words, max_words) - len(ending.split()))
        filler = [
            f"Point {self.draw.randint(1, 999)} is looked at here."
            for _ in range(filler_words // 6)
        ]
        return " ".join([MARK, *filler, ending]).strip()

    # Forms

    def fill_form(self, schema: Fields) -> JsonObject:
        """Return a value for every field of an object's schema."""
        return {
            name: self.field(name, field) for name, field in schema.get("properties", {}).items()
        }

    def field(self, name: str, schema: Fields) -> Json:
        """Return a value of one field, by its name if that is known, else by its type."""
        if write_value := {
            "prediction": self.prediction,
            "confidence": self.confidence,
            "grade": self.grade,
        }.get(name):
            return write_value(schema)
        labels = set(schema.get("enum", ()))
        if name == "label" and (
            rubric := next((RUBRICS[n] for n in RUBRICS if set(RUBRICS[n].labels) == labels), None)
        ):
            return self.label(rubric)
        if name == "stands" and len(self.labels) > 1:
            return self.draw.random() < self.believe(self.labels).certainty
        return self.value(name, schema)

    def value(self, name: str, schema: Fields) -> Json:  # noqa: PLR0911 - one return a type
        """Return a value of a type within its bounds."""
        if "anyOf" in schema:
            return self.value(name, schema["anyOf"][0])
        if "enum" in schema:
            return self.draw.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return self.fill_form(schema)
            case "array":
                count = max(int(schema.get("minItems", 0)), min(2, int(schema.get("maxItems", 2))))
                return [self.value(name, schema["items"]) for _ in range(count)]
            case "integer":
                return self.draw.randint(
                    int(schema.get("minimum", 0)), int(schema.get("maximum", 100))
                )
            case "number":
                return self.draw.uniform(
                    float(schema.get("minimum", 0)), float(schema.get("maximum", 1))
                )
            case "boolean":
                return self.draw.random() < 0.5  # noqa: PLR2004 - a coin
            case "string":
                return self.text(name, schema)
        return None

    def text(self, name: str, schema: Fields) -> str:
        """Return a text of a form; a short one keeps the end, which states the position."""
        judge = re.match(r"judge_(\d+)$", name)
        statement = self.statement(int(judge[1])) if judge else self.statement()
        max_chars = int(schema.get("maxLength", len(statement)))
        return (
            statement
            if len(statement) <= max_chars
            else f"{MARK} {statement[-(max_chars - len(MARK) - 1) :]}"[:max_chars]
        )

    def prediction(self, schema: Fields) -> Json:
        """Return the voice's label; for lists the true labels, or one false label among them."""
        if schema.get("type") == "array":
            options = schema["items"]["enum"]
            belief = self.believe(options)
            options_by_word = {option.casefold(): option for option in options}
            targets = [
                options_by_word[target]
                for target in (self.reading.case.targets if self.reading.case else ())
            ]
            return (
                targets or [belief.true_option]
                if belief.log_odds > 0
                else [*targets[1:], belief.tempting_option]
            )
        options = schema["enum"]
        return self.believe(options).answer if len(options) > 1 else options[0]

    def confidence(self, _schema: Fields) -> int:
        """Return the confidence in the prediction of the same form."""
        prediction = (self.request.schema or {}).get("properties", {}).get("prediction", {})
        options: Sequence[str] = prediction.get("items", prediction).get("enum", self.labels)
        return (
            self.scale_confidence(self.believe(options), len(options)) if len(options) > 1 else 50
        )

    @staticmethod
    def scale_confidence(belief: Belief, options: int) -> int:
        """Scale a certainty to 0 (a guess among the options) to 100; see `core.confidence`."""
        guess = 1 / options
        return round(100 * max(0.0, (belief.certainty - guess) / (1 - guess)))

    def grade(self, schema: Fields) -> int:
        """Return a grade of a decision: high if the voice agrees with it, with configured noise."""
        decision = next(
            (quote.text for quote in self.reading.quotes if quote.tag == "decision"), ""
        )
        belief = self.believe(("MORE DEBATE", "AGREEMENT"))
        expected_grade = _GRADED_RIGHT if decision == belief.answer else _GRADED_WRONG
        low, high = int(schema.get("minimum", 0)), int(schema.get("maximum", 10))
        return min(
            high, max(low, round(expected_grade + self.draw.gauss(0, self.voice.grader_noise)))
        )

    def label(self, rubric: Rubric) -> str:
        """Return the rubric's label of a statement; a random label in the share `misread`."""
        if self.draw.random() < self.voice.misread:
            return self.draw.choice(tuple(rubric.labels))
        statement = next(
            (quote.text for quote in self.reading.quotes if quote.tag == "statement"),
            self.reading.text,
        )
        return rubric.apply_rules(statement)[0]


def spoil_reply(voice: SimulatedVoice, text: str, place: float) -> tuple[str, str]:
    """Return a reply, spoilt in the configured shares, and its finish reason.

    `place` in [0, 1) selects the kind of fault.
    """
    kinds = (
        (voice.empty, "", "stop"),
        (voice.unusable, NO_ANSWER, "stop"),
        (voice.refused, REFUSAL, "stop"),
        (voice.cut_off, text[: len(text) // 2], "length"),
        (voice.malformed, f"Here is what I think: {text[:-1]},,", "stop"),
    )
    for share, spoilt_text, reason in kinds:
        if place < share:
            return spoilt_text, reason
        place -= share
    return text, "stop"


def _name_label(label: str) -> str:
    """Return a label as a statement names it: articles of law by that word, others in capitals.

    >>> _name_label("133"), _name_label("yes")
    ('Article 133', 'YES')
    """
    return f"Article {label}" if label.isdigit() else label.upper()
