"""Words that withdraw an answer: doubts, conditions, second thoughts, and what only a party says.

Doubt about the facts withdraws nothing: "No. They cannot be helped."
"""

import re

from moot.llm.parsing.label_mentions import Label, Labels, find_spelled_mentions
from moot.llm.parsing.plain_text import fold_text

PERSONS = (
    "he", "she", "they", "tenant", "landlord", "plaintiff", "defendant", "claimant", "accused",
    "prosecution", "defence", "lawyer", "witness",
)  # fmt: skip
"""Persons in a case, whose answers and confidence are not the answer of a reply."""
_OF_A_FACT = r"(?!\s+(?:whether|if|why|how|who|what|when|where|that)\b)"
_DOUBT_WORD = (
    r"(?:(?:unable|impossible|unknown|unclear|undetermined|undecided|uncertain|unsure"
    r"|not\s+(?:sure|certain|clear|possible|enough|(?:yet\s+)?(?:been\s+)?reached)"
    rf"|hard\s+to\s+(?:say|tell)|n/a|just\s+kidding|or\s+not|probably\s+not)\b{_OF_A_FACT}"
    r"|(?:maybe|perhaps|possibly)(?=\s*(?:[.,;!?)]|$|not\b|so\b|but\b|also\b))"
    r"|neither(?=\s*(?:[.,;!?)]|$|of\b|is\b|one\b)))"
)
_OWN_DOUBT = (
    r"\b(?:i|we)(?:['’]m|['’]re|\s+am|\s+are)?\s+(?:\w+\s+){0,2}?(?:(?:not|n['’]t)\s+(?:\w+\s+){0,"
    r"2}?(?:sure"
    r"|certain|clear|confident)|unsure|uncertain|undecided|unable)\b"
    r"|\b(?:i|we)\s+(?:\w+\s+){0,2}?(?:cannot|can['’]?t|could\s+not|couldn['’]?t|do\s+not|"
    r"don['’]?t)"
    r"\s+(?:\w+\s+){0,2}?(?:be\s+(?:sure|certain)|say|tell|know|decide|determine|answer|choose|"
    r"judge)\b"
    r"|\bjust\s+kidding\b|\b(?:may|might|could)\s+(?:just\s+)?as\s+well\s+be\b"
    r"|我(?:也)?(?:不确定|不確定|无法|無法|不知道|不清楚)"
)
_SPEAKS_TO_USER = (  # "No, I won't make a prediction", "Yes, I can help with that"
    r"^[\s\"'`*_]*[,!]\s*(?:i\s+(?:won['’]?t|will\s+not|cannot|can['’]?t)\s+(?:make|give)\s+an?\s+"
    r"(?:prediction|answer|verdict)|i\s+can\s+(?:help\s+with|do)\s+that"
    r"|please\s+(?:provide|share)\s+the)\b"
)
_CONDITION = re.compile(  # "YES, but only if he paid", "8 if it were shorter"
    r"^[\s\"'`*_)\]]*[,;—–(-]?\s*(?:but\s+)?only\s+if\b|^\s+(?-i:if)\b", re.IGNORECASE
)
_ASKS = re.compile(  # "PRO (?)", "YES, I guess?"
    r"^[\s\"'`*_,)\]]*\(?\s*(?:(?:i\s+(?:guess|think|suppose|believe)|probably|right)[\s,]*)?\?",
    re.IGNORECASE,
)
_NEXT_CLAUSE = (
    r"^[\s\"'`*_)\]”’」】.,;:!。，；：！、—–(（-]*(?:(?:but|though|although|and|yet|or)\s+)?"
)
_UNDETERMINED = (
    r"(?:(?:it|this|that|which)\s+)?(?:cannot|can['’]?t|could\s+not)\s+be\s+(?:determined|known|"
    r"decided"
    r"|said|told|predicted|answered|inferred)\b"
)
_IS_UNCLEAR = (
    r"(?:it|this|that)(?:['’]s|\s+is|\s+may|\s+might|\s+could)\s+(?:\w+\s+){0,2}?(?:unclear"
    r"|uncertain|hard\s+to\s+(?:say|tell)|not\s+(?:sure|certain|clear)"
    rf"|impossible\s+to\s+(?:say|tell|know|decide)|be\b){_OF_A_FACT}"
)
_HAN_DOUBT = (
    r"(?:但|不过|也许|可能)?(?:不确定|不確定|无法确定|無法確定|无法判断|無法判斷|不知道|不清楚"
    r"|难以判断|難以判斷)"
)
_DOUBT = re.compile(
    rf"{_NEXT_CLAUSE}(?:{_UNDETERMINED}|{_DOUBT_WORD}|{_IS_UNCLEAR}|{_HAN_DOUBT})|{_OWN_DOUBT}"
    rf"|{_SPEAKS_TO_USER}",
    re.IGNORECASE,
)
_CHECKS = ("check", "consider", "read", "think", "examine", "assess")
_HESITATIONS = (
    "wait", "hold on", "hmm+", "scratch that", "correction(?=:)", "on second thoughts?",
    r"sorry,?\s+(?:i meant|no)", "(?:but )?then again",
    r"actually,?(?=[,.…!?:—–-]|\s+(?:no|wait|hmm|let)\b)",
    rf"let me (?:just )?(?:re-?|double-?)(?:{'|'.join(_CHECKS)})",
    r"let me (?:just )?(?:(?:think|look|check)\s+again|look\s+(?:closer|more\s+closely))",
    "等等", "等一下", "再想想",
)  # fmt: skip
_HESITATION = f"(?:{'|'.join(_HESITATIONS)})"
_SECOND_THOUGHT = re.compile(
    rf"(?:[.!?…。！？\n]|^)[\s*_]*(?:(?:but|oh|no|well|hmm+)[,.…]*\s+)*{_HESITATION}(?![\w'’])"
    r"|[,;:—–]\s*(?:no,?\s+)?(?:wait|hold on|hmm+|scratch that|等等)(?=[\s*_]*(?:[,.!?…:;—–]|$))"
    r"|\s[-—–]\s+(?:no|wait|hmm+)[,.…]",
    re.IGNORECASE,
)
"""A speaker's change of mind: "YES seems right. Wait, no."."""
_CHANGE_OF_MIND = re.compile(
    r"(?:^|[.!?…。！？\n])[\s*_]*(?:(?:but|oh|no),?\s+)?"
    r"(?:wait|oops|actually|(?:edit|update)(?=\s*:)|on (?:reflection|second thoughts?"
    r"|(?:closer|further) \w+))\b(?P<rest>[^.!?\n]*)",
    re.IGNORECASE,
)
"""A sentence that may withdraw an answer: "Actually, ...", "On reflection, ..."."""
_IS_WRONG = re.compile(r"\W*(?:that|this)(?:['’]s|\s+is)\s+wrong\W*", re.IGNORECASE)
_WITHDRAWAL = re.compile(
    r"(?:^|[.!?…\n,])[\s*_]*(?:i\s+(?:misread\s+(?:it|the)|take\s+(?:that|it)\s+back"
    r"|stand\s+corrected)|let\s+me\s+reconsider)\b",
    re.IGNORECASE,
)
"""A clause of the speaker that withdraws an answer: "I take that back"."""
_COUNTERFACTUAL = re.compile(
    r"\W*(?:if\s+(?!(?:i|we|you|one)\b)[^,]*\b(?:had|were)\b|(?:had|were)\s+(?!(?:i|we)\b))"
    r"[^,]*,\s*(?:(?:the|my)\s+)?",
    re.IGNORECASE,
)
"""A condition contrary to the facts before an answer: "If he had paid, ", "Were it void, "."""
_OF_A_PARTY = re.compile(
    r"\b(?:according to|in the (?:opinion|view|eyes) of)\s+"
    rf"(?:(?:the|his|her|their)\s+)?(?:{'|'.join(PERSONS)}),?\s*$"
    rf"|\b(?:{'|'.join(PERSONS)})\s+(?:argues?|claims?|says|said)\s*:\s*$",
    re.IGNORECASE,
)
"""Words that give the answer after them to a party: "According to the tenant, "."""
_MAX_SENTENCE_CHARS = 2000
"""How far back a condition or a party is looked for, so that a repetitive reply is read fast."""
_THOUGHT_OPENING = re.compile(
    r"[\s*_#>(]*(?:(?:ok|okay|alright|all right|well|right|hm+|uh|um|so|now|first)[,.!…:]*\s+)*"
    r"(?:thinking\b(?! about)|hm+\b|let me (?:think|see|consider|analy[sz]e|reason|work|look|read|"
    r"start|go|break|figure)\b|let['’]?s (?:think|see|analy[sz]e|break|start|work|look)\b"
    r"|(?:my )?(?:first|initial) (?:thought|instinct|impression|reaction)\b"
    r"|i (?:need|have|want) to (?:think|decide|figure|determine|analy[sz]e|consider|work)\b"
    r"|嗯|让我|讓我|我(?:需要|先|来|來)(?:想|思考|分析|看))",
    re.IGNORECASE,
)
"""The beginning of a thought without marks: "Hmm, ...", "Okay, so let me think"."""


def has_condition(rest: str) -> bool:
    """Return whether the words after an answer make it conditional: "8, but only if short"."""
    return _CONDITION.search(rest) is not None


def has_doubt(rest: str) -> bool:
    """Return whether the words after a label withdraw it: "Yes, but I am not sure", "Yes, if".

    Doubt about the facts does not count.
    """
    patterns = (_DOUBT, _CONDITION, _ASKS)
    return any(pattern.search(rest) is not None for pattern in patterns)


def is_hypothetical(text: str) -> bool:
    """Return whether an announcement after `text` is contrary to the facts or a party's.

    Only the sentence in which the announcement stands counts. Examples are "If the lease had
    ended, " and "According to the tenant, ".
    """
    clause = re.split(r"[.!?;\n]", text[-_MAX_SENTENCE_CHARS:])[-1]
    return bool(_COUNTERFACTUAL.fullmatch(clause) or _OF_A_PARTY.search(clause))


def has_second_thought(text: str) -> bool:
    """Return whether the words after an answer hesitate: "Wait, no.", "Let me think again."."""
    return _SECOND_THOUGHT.search(text) is not None


def is_taken_back(text: str, labels: Labels, label: Label | None) -> bool:
    """Return whether `text`, which follows an answer, withdraws it.

    A sentence such as "Actually, ..." withdraws `label` if it goes on with "that is wrong" or
    names another of `labels`. A clause such as "I take that back" withdraws any answer.
    """
    if _WITHDRAWAL.search(text):
        return True
    for match in _CHANGE_OF_MIND.finditer(text):
        mentions = find_spelled_mentions(match["rest"], labels)
        if _IS_WRONG.fullmatch(match["rest"]) or mentions - {fold_text(str(label))}:
            return True
    return False


def is_thinking_aloud(text: str) -> bool:
    """Return whether `text` opens as a thought does: "Hmm, ...", "Let me think"."""
    return _THOUGHT_OPENING.match(text) is not None
