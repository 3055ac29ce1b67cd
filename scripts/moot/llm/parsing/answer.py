"""The answer in a reply: what follows the reasoning that some models send."""

import re

from moot.llm.parsing.words import UnreadableError

REASONING = [
    re.compile(r"^\s*(?:<(think|thinking|thought|reasoning|analysis)>.*?</\1>\s*)+", re.DOTALL | re.IGNORECASE),
    re.compile(r"^.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE),
    re.compile(r"^.*<\|channel\|>final<\|message\|>", re.DOTALL),
    re.compile(r"^\s*◁think▷.*?◁/think▷", re.DOTALL),
    re.compile(r"^\s*(?:<(?:think|thinking|thought|reasoning)>|◁think▷).*$", re.DOTALL | re.IGNORECASE),
]
LARGEST_REPLY = 200_000


def without_reasoning(text: str) -> str:
    """`text` without blocks of reasoning and end marks."""
    for pattern in REASONING:
        text = pattern.sub("", text, count=1)
    return re.sub(r"<\|(?:end|return|im_end|eot_id)\|>\s*$", "", text)


def refuse_unusable(text: str, answer: str) -> None:
    """Raise UnreadableError where nothing is answered, or more than any answer has."""
    if not answer:
        raise UnreadableError("only reasoning, no answer" if text.strip() else "empty reply")
    if len(answer) > LARGEST_REPLY:
        raise UnreadableError(f"{len(answer)} characters, more than any answer has")
