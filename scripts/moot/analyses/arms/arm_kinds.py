"""The kinds of utterances that control arms add to transcripts."""

ARM = "arm"
"""What a control arm brought into a debate."""
COMMITMENT, CHALLENGE = "commitment", "challenge"
"""A judge's answer before it hears a debate, and its answers after it is told that its verdict is
wrong.
"""
THOUGHT = "thought"
"""What a judge who thinks alone notes."""
