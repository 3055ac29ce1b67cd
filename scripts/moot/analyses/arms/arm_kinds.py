"""The kinds of utterances that control arms add to transcripts."""

ARM = "arm"
"""An addition of a control arm to a debate."""
COMMITMENT = "commitment"
"""A judge's answer before it hears a debate."""
THOUGHT = "thought"
"""The notes of a judge who thinks without a debate."""
