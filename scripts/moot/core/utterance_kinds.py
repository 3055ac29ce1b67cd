"""The kinds of utterances that more than their protocol knows, and the states of replies that
cannot be used.
"""

CONCLUSION = "conclusion"
"""The row that a debate ends with; predictions are read from it."""

SAMPLE, VOTES = "sample", "votes"
"""One of the answers that a vote counts, and the recorded counts of a vote."""

PUBLIC = "public"
"""The `visibility` of what every seat may read."""

HUMAN = "human"
"""The `source` of what a person said."""

COMPUTED = "computed"
"""The `source` of what a protocol worked out."""

OPENING, STATEMENT, CLOSING, SPEECH = "opening", "statement", "closing", "speech"
BELIEF, VOTE, DECISION, VERDICT = "belief", "vote", "decision", "verdict"
ANSWER = "answer"
"""The answer that a member of a group holds from now on, without words."""
NO_LABEL = "answer_without_label"
"""The fact of a recorded utterance that holds a stated answer which is not a label (UNKNOWN)."""
EXTRA, OVERRUN = "extra", "overrun"
"""Statements of a scripted panel: of a judge who was not asked, or after the round was complete."""
NOTES, CODING, EVALUATION, GRADE, GRADE_REVERSED = (
    "notes",
    "coding",
    "evaluation",
    "grade",
    "grade_reversed",
)
SMOOTHED, RELIABILITY = "smoothed", "reliability"
"""What Debate-Feedback works out: the smoothed probabilities, and the assistant's view of each
opinion.
"""
STATEMENT_SUMMARY = "statement summary"
"""What the judge of Debate-Feedback keeps of one debater's statements, for the assistant."""
FEEDBACK = "feedback"
"""What people who took part answered on a form afterwards."""

REFUSED = "refused"
"""Value of `parse_status` of a reply in which the model or its provider refuses to answer."""
UNUSABLE = ("failed", "invalid", REFUSED)
"""Values of `parse_status` of unusable replies: no reply, a refusal, or a reply without answer."""

REPLY_PENDING = "a batch is under way: "
"""How the reason begins for which a debate waits for replies of a later run."""


def name_of_judge(judge: str, persona: str = "", judge_repeat: int = 0) -> str:
    """What a transcript calls one of several judges: who, as whom, and which time asked; commas
    part seats.
    """
    times = f"time {judge_repeat + 1}" if judge_repeat else ""
    return " · ".join(filter(None, (judge, persona, times))).replace(",", ";")
