"""What a simulated voice writes: bare answers, forms filled by their schema, statements; and
unusable replies.
"""

import json
import random
import re
from collections.abc import Sequence

from moot.core.model_config import SimulatedVoice
from moot.core.rubric import RUBRICS, Rubric, rubric_for
from moot.core.types import Fields, Json, JsonObject
from moot.llm.request import Request
from moot.llm.simulated.beliefs import Belief, Reading, form_belief, stances

MARK = "[SIMULATED]"
"""Every free text begins with it, so that no transcript looks like a model's."""
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
        """The belief about a question with these answers."""
        return form_belief(self.voice, self.seed, self.request, self.reading, options)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the case, as prompts spell them; none where the case is not known."""
        return (
            tuple(label.upper() for label in self.reading.case.labels) if self.reading.case else ()
        )

    def reply(self) -> str:
        """The text of the reply."""
        if self.request.schema is not None:
            return json.dumps(self.filled(self.request.schema), ensure_ascii=False)
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
        """A statement for the side that the voice is given, or else for the answer that it believes
        in.

                Args:
                    number: of the judge, where one reply holds the statements of several: each has
                        a belief of its own.
        """
        labels = self.labels
        if len(labels) < 2:  # nothing to take sides on
            return self.padded("")
        belief = self.believe(labels)
        taken = self.reading.side or belief.answer.casefold()
        if number and self.draw.random() > belief.certainty:
            taken = (belief.wrong if taken == belief.right.casefold() else belief.right).casefold()
        rubric = rubric_for(frozenset(self.reading.case.labels)) if self.reading.case else None
        position = rubric.sentence_for(taken) if rubric else f"The answer is {taken.upper()}."
        return self.padded(
            f"{position} Confidence: {self.stated(belief, len(labels))}"
            if self.asks_confidence
            else position
        )

    @property
    def asks_confidence(self) -> bool:
        """Whether the prompt asks that a statement ends with a confidence."""
        return bool(_CONFIDENCE.search(self.prompt))

    def summary(self) -> str:
        """A summary of what was said: for each opinion the label that it speaks for."""
        labels = self.reading.case.labels if self.reading.case else ()
        said = [label for told in self.reading.told for label in stances(told.text, labels)[-1:]]
        return self.padded(" ".join(f"One opinion speaks for {label.upper()}." for label in said))

    def padded(self, ending: str) -> str:
        """A text of about the configured length that ends so; its other words say nothing."""
        most = (
            int(self.request.parameters.get("max_tokens", 0) * _WORDS_A_TOKEN) or self.voice.words
        )
        room = max(0, min(self.voice.words, most) - len(ending.split()))
        filler = [f"Point {self.draw.randint(1, 999)} is looked at here." for _ in range(room // 6)]
        return " ".join([MARK, *filler, ending]).strip()

    # Forms

    def filled(self, schema: Fields) -> JsonObject:
        """A value for every field of an object's schema."""
        return {
            name: self.field(name, field) for name, field in schema.get("properties", {}).items()
        }

    def field(self, name: str, schema: Fields) -> Json:
        """A value of one field, by its name where that says what is asked, else by its type."""
        if named := {
            "prediction": self.prediction,
            "confidence": self.confidence,
            "grade": self.grade,
        }.get(name):
            return named(schema)
        asked = set(schema.get("enum", ()))
        if name == "label" and (
            rubric := next((RUBRICS[n] for n in RUBRICS if set(RUBRICS[n].labels) == asked), None)
        ):
            return self.label(rubric)
        if name == "stands" and len(self.labels) > 1:
            return self.draw.random() < self.believe(self.labels).certainty
        return self.value(name, schema)

    def value(self, name: str, schema: Fields) -> Json:  # noqa: PLR0911 - one return a type
        """A value of a type, within its bounds."""
        if "anyOf" in schema:
            return self.value(name, schema["anyOf"][0])
        if "enum" in schema:
            return self.draw.choice(schema["enum"])
        match schema.get("type"):
            case "object":
                return self.filled(schema)
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
        """A text of a form; where its room is short, only its end, which takes the position."""
        judge = re.match(r"judge_(\d+)$", name)
        said = self.statement(int(judge[1])) if judge else self.statement()
        most = int(schema.get("maxLength", len(said)))
        return said if len(said) <= most else f"{MARK} {said[-(most - len(MARK) - 1) :]}"[:most]

    def prediction(self, schema: Fields) -> Json:
        """The label that the voice takes; where several may be named, all true ones or a tempting
        one instead.
        """
        if schema.get("type") == "array":
            options = schema["items"]["enum"]
            belief = self.believe(options)
            named = {option.casefold(): option for option in options}
            targets = [
                named[target] for target in (self.reading.case.targets if self.reading.case else ())
            ]
            return (
                targets or [belief.right] if belief.log_odds > 0 else [*targets[1:], belief.wrong]
            )
        options = schema["enum"]
        return self.believe(options).answer if len(options) > 1 else options[0]

    def confidence(self, _schema: Fields) -> int:
        """The confidence in the prediction of the same form."""
        asked = (self.request.schema or {}).get("properties", {}).get("prediction", {})
        options: Sequence[str] = asked.get("items", asked).get("enum", self.labels)
        return self.stated(self.believe(options), len(options)) if len(options) > 1 else 50

    @staticmethod
    def stated(belief: Belief, options: int) -> int:
        """The certainty as prompts ask for it: from 0, a guess among the options, to 100 (see
        `core.confidence`).
        """
        guess = 1 / options
        return round(100 * max(0.0, (belief.certainty - guess) / (1 - guess)))

    def grade(self, schema: Fields) -> int:
        """A grade of a decision: high where it is what the voice believes in, with the configured
        noise.
        """
        decided = next((told.text for told in self.reading.told if told.tag == "decision"), "")
        belief = self.believe(("MORE DEBATE", "AGREEMENT"))
        steady = _GRADED_RIGHT if decided == belief.answer else _GRADED_WRONG
        low, high = int(schema.get("minimum", 0)), int(schema.get("maximum", 10))
        return min(high, max(low, round(steady + self.draw.gauss(0, self.voice.grader_noise))))

    def label(self, rubric: Rubric) -> str:
        """The rubric's label of a statement as the rules read it, or any, in the share that is
        misread.
        """
        if self.draw.random() < self.voice.misread:
            return self.draw.choice(tuple(rubric.labels))
        statement = next(
            (told.text for told in self.reading.told if told.tag == "statement"), self.reading.text
        )
        return rubric.read(statement)[0]


def spoilt(voice: SimulatedVoice, text: str, place: float) -> tuple[str, str]:
    """A reply as it comes, and why it ends: good, or bad in the configured shares;
    `place` in [0, 1) says which.
    """
    kinds = (
        (voice.empty, "", "stop"),
        (voice.unusable, NO_ANSWER, "stop"),
        (voice.refused, REFUSAL, "stop"),
        (voice.cut_off, text[: len(text) // 2], "length"),
        (voice.malformed, f"Here is what I think: {text[:-1]},,", "stop"),
    )
    for share, instead, reason in kinds:
        if place < share:
            return instead, reason
        place -= share
    return text, "stop"
