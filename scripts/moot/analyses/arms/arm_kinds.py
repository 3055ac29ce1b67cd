"""The kinds of utterances that control arms add to transcripts."""

ARM = "arm"
"""An addition of a control arm to a debate."""
COMMITMENT, CHALLENGE = "commitment", "challenge"
"""A judge's answer before it hears a debate, and its answers after challenges of its verdict."""
THOUGHT = "thought"
"""The notes of a judge who thinks without a debate."""
