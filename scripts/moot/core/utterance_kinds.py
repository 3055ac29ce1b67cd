"""The kinds of utterances that other packages know, and the states of unusable replies."""

CONCLUSION = "conclusion"
"""The last row of a debate, from which predictions are read."""

ASKED_AGAIN = "asked_again"
"""A reply that could not be read, so that the model was asked again."""

SAMPLE, VOTES = "sample", "votes"
"""An answer that a vote counts, and the recorded counts of a vote."""

PUBLIC = "public"
"""The `visibility` of an utterance that every seat may read."""

HUMAN = "human"
"""The `source` of a person's utterance."""

COMPUTED = "computed"
"""The `source` of an utterance that a protocol computed."""

OPENING, STATEMENT, CLOSING, SPEECH = "opening", "statement", "closing", "speech"
BELIEF, VOTE, DECISION, VERDICT = "belief", "vote", "decision", "verdict"
ANSWER = "answer"
"""A new answer of a member of a group, without words."""
NO_LABEL = "answer_without_label"
"""The fact of a recorded utterance whose stated answer is not a label (UNKNOWN)."""
EXTRA, OVERRUN = "extra", "overrun"
"""Statements of a scripted panel by a judge who was not asked, or after the round was complete."""
CODING = "coding"
EVALUATION = "evaluation"
GRADE = "grade"
GRADE_REVERSED = "grade_reversed"
SMOOTHED, RELIABILITY = "smoothed", "reliability"
"""Computed utterances of Debate-Feedback: smoothed probabilities, and the reliability of each
opinion.
"""
STATEMENT_SUMMARY = "statement summary"
"""The judge's summary of one debater's statements in Debate-Feedback, for the assistant."""

REFUSED = "refused"
"""The `parse_status` of a reply in which the model or its provider refuses to answer."""
UNUSABLE = ("failed", "invalid", REFUSED)
"""Values of `parse_status` of unusable replies: no reply, a refusal, or a reply without answer."""

REPLY_PENDING = "a batch is under way: "
"""The prefix of the reason for which a debate waits for replies of a later run."""

CALL_FAILED = "a call failed: "
"""The prefix of the reason of a debate that lacks a reply, with or without an answer."""


def name_of_judge(judge: str, persona: str = "", judge_repeat: int = 0) -> str:
    """Return the name of one of several judges in a transcript.

    It consists of the judge, the persona and the repeat; commas separate seats.

    >>> name_of_judge("Ann, LLM", "strict", judge_repeat=1)
    'Ann; LLM · strict · time 2'
    """
    times = f"time {judge_repeat + 1}" if judge_repeat else ""
    return " · ".join(filter(None, (judge, persona, times))).replace(",", ";")
