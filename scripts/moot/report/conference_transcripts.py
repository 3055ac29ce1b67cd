"""Decision conferences for reading, laid out as in the paper's appendix: who speaks next, then what is said.

One page an experiment and model, which loads nothing. Everything that a model or a file wrote is escaped.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import jinja2

from moot.core.schemas import CONCLUSION
from moot.datasets.conference import read_agenda
from moot.report import escaping
from moot.scores.results import ExperimentResults

PUBLIC = "public"
NO_ANSWER = "no usable answer"


def render_page(results: ExperimentResults, model: str) -> str:
    """All conferences of one experiment and model, in the order of their cases and repeats."""
    texts = dict(zip(results.cases["case_id"], results.cases["text"], strict=True))
    mine = results.transcripts[results.transcripts["model"] == model]
    mine = mine.sort_values(["case_id", "repeat", "turn"], kind="stable")
    conferences = []
    for debate_id, said in mine.groupby("debate_id", sort=False):
        rows: list[dict[str, Any]] = said.to_dict("records")  # type: ignore[assignment]
        conferences.append(
            {
                "name": debate_id,
                "issue": read_agenda(texts[rows[0]["case_id"]], results.task.question).issue,
                "turns": [_turn(row) for row in rows if row["kind"] != CONCLUSION],
                "outcome": next((_outcome(row) for row in rows if row["kind"] == CONCLUSION), NO_ANSWER),
            }
        )
    return _template().render(experiment=results.experiment, model=model, conferences=conferences)


def _outcome(conclusion: Mapping[str, Any]) -> str:
    """The prediction, or why there is none."""
    reason = (json.loads(conclusion["parsed"] or "null") or {}).get("reason", "")
    return conclusion["prediction"] or (f"{NO_ANSWER}: {reason}" if reason else NO_ANSWER)


def _turn(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "speaker": str(row["speaker"]).replace("_", " ").capitalize(),
        "kind": str(row["kind"]).replace("_", " "),
        "private": row["visibility"] != PUBLIC,
        "lines": _lines(row),
    }


def _lines(row: Mapping[str, Any]) -> list[str]:
    """What was said, line by line; the fields of a form one a line; what could not be used as it came, and marked."""
    parsed = json.loads(row["parsed"]) if row["parsed"] else None
    if row["parse_status"] == "failed":
        return [f"(the call failed; nothing was said: {(parsed or {}).get('error', 'no reason was recorded')})"]
    is_form = isinstance(parsed, dict) and row["kind"] != "decision" and row["parse_status"] != "invalid"
    if is_form and parsed and "logprobs" not in parsed:
        return [f"{name.replace('_', ' ')}: {_shown(value)}" for name, value in parsed.items()]
    said = [line for line in str(row["text"] or "").splitlines() if line.strip()] or ["(nothing)"]
    if row["parse_status"] == "invalid":
        return [*said, f"({NO_ANSWER}: {(parsed or {}).get('problem', 'the reply cannot be used')})"]
    return said


def _shown(value: object) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=False, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - escaped
    environment.filters["text"] = escaping.html
    return environment.from_string(_PAGE)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{ experiment | text }}: conferences of {{ model | text }}</title>
<style>
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 46em; padding: 0 1em; color: #111; }
h2 { border-bottom: 1px solid #999; margin-top: 2.5em; }
.next { color: #0072B2; margin: 1.2em 0 0.2em; }
.private { background: #f2f2f2; color: #444; padding: 0.1em 0.8em; }
p { margin: 0.2em 0; }
</style>
</head>
<body>
<h1>{{ experiment | text }}: conferences of {{ model | text }}</h1>
<p>Grey turns are private: no other seat read them.</p>
{% for conference in conferences %}
<h2>{{ conference.name | text }}</h2>
<p><em>{{ conference.issue | text }}</em></p>
{% for turn in conference.turns %}
<p class="next">Next speaker: {{ turn.speaker | text }}</p>
<div{{ ' class="private"' if turn.private }}>
<p><strong>{{ turn.speaker | text }}</strong> ({{ turn.kind | text }}{{ ", private" if turn.private }}):</p>
{% for line in turn.lines %}
<p>{{ line | text }}</p>
{% endfor %}
</div>
{% endfor %}
<p class="next">Outcome: {{ conference.outcome | text }}</p>
{% endfor %}
</body>
</html>
"""
