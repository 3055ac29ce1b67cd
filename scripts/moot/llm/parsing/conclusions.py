"""The answer of a whole reply in words: a label that opens it, is announced or concludes it.

A label is announced in double brackets or a box, on a line of its own, behind words such as "the
answer is", or in a sentence that calls it better, right or the winner. Announcements must agree. If
two differ, or if a later sentence has an answer word and another label, there is no answer.
Therefore a reply that is cut off gives the same answer as the whole one, or none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from moot.llm.parsing.normaliser import simplify_marks
from moot.llm.parsing.plain_text import (
    CUT,
    WRAPPING,
    EchoError,
    UnreadableError,
    fold_text,
    shorten,
)
from moot.llm.parsing.words import (
    ANNOUNCEMENT,
    ANSWER_INTRODUCTION,
    EXPLANATION,
    LEAD_IN,
    OPTION_NOUN,
    PERSONS,
    Label,
    denial_pattern,
    drop_bracketed_choices,
    drop_symbols,
    find_mentions,
    find_spelled_mentions,
    label_regex,
    label_spellings,
    lists_choice,
    match_opening,
    read_label,
    unwrap_label,
)

_STATED_ANSWER = re.compile(
    r"(?:^|[.!?][\"”’]?|[;:,。，；！？])[\s*#>_-]*"
    + ANSWER_INTRODUCTION
    + r"(?=(?P<value>[^\n]{1,400}))",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[\[\s*([^\[\]]{1,80}?)\s*\]\]|【\s*([^【】]{1,80}?)\s*】")
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.](?=\d)[^.!?。！？\n]*)*[.!?。！？]?")
_ANSWER_WORD = re.compile(
    rf"(?<![\w-]){ANNOUNCEMENT}(?![\w-])|{ANNOUNCEMENT}(?<=[一-鿿])", re.IGNORECASE
)
_REASON = re.compile(r"[\"'”*_]*,?\s+(?:because|since|as|due to|given)\b", re.IGNORECASE)
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
_REVISION = re.compile(
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
_OPTION_LETTER = re.compile(r"^([\s*_]*[A-Z])[)）]\s+(?=\w)")
"""The letter of an option before its text: "C) arson"."""
_NUMBERED_ITEM = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(?=[^\W\d])", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*\|", re.MULTILINE)
_FIRST_SENTENCE = re.compile(r"(?<=[.。!！])\s+(?=[^\W\d])")
_CONNECTIVE = (
    r"(?:(?:so|thus|therefore|hence|overall|in conclusion|in summary|in sum|to conclude|to"
    r" summarize"
    r"|consequently|accordingly|finally|ultimately|on balance|for (?:this|these) reasons?"
    r"|all in all|as a result|based on (?:this|these|the)(?:\s[\w'’-]+){0,3})[,:]?\s+)?"
)
_ADVERB = (
    r"(?:(?:to\s+be|clearly|slightly|overall|the|a|an|much|far|somewhat|marginally|generally"
    r"|therefore|thus|significantly|probably|likely)\s+){0,3}"
)
_QUALITY = (
    r"(?:stronger|strongest|better|best|superior|preferable|preferred|favou?red|right|correct"
    r"|winner|winning|(?:more|most)\s+(?:persuasive|convincing|compelling|accurate|appropriate"
    r"|helpful|likely|plausible|suitable)|appropriate)"
)
_HEAD_NOUN = (
    r"(?:\s+(?:case|argument|answer|label|one|choice|option|side|position|response|output|party"
    r"|outcome|verdict|classification|stance|candidate|prediction|here|overall|of\s+the\s+two"
    r"|in\s+this\s+case)){0,2}"
)


@dataclass(frozen=True, slots=True)
class _Announcement:
    """A label that a reply gives as its answer, and where the announcement ends."""

    label: Label
    end: int


def find_label(text: str, labels: tuple[Label, ...]) -> tuple[Label, bool]:
    """Return the label that a whole reply states, and whether the reply is only that label.

    Raises:
        UnreadableError: it states no label, or more than one, or breaks off in a list of labels.
    """
    text = drop_bracketed_choices(_drop_tables(simplify_marks(text)), labels)
    text = _drop_item_numbers(drop_symbols(text, labels), labels)
    if not text.endswith(CUT):
        bare = _read_bare(text, labels)
        if bare is not None:
            return bare, True
    _refuse_open_list(text, labels)
    announcements = list(_find_announcements(text, labels))
    try:
        label, exact = _read_opening(text, labels)
    except UnreadableError:
        if not announcements:
            raise
        label, exact = announcements[0].label, False
    else:
        announcements.append(_Announcement(label, 0))
    stated_labels = {announcement.label for announcement in announcements}
    first_label = _first_sentence_label(text, labels)
    if first_label is not None:
        stated_labels.add(first_label)
    stated_labels.update(_find_reasoned_labels(text, labels))
    if len(stated_labels) > 1:
        raise UnreadableError(f"states {' and '.join(sorted(map(str, stated_labels)))}")
    start = min(item.end for item in announcements)
    is_revised = _REVISION.search(text, max(start - 1, 0)) is not None
    if is_revised or is_taken_back(text[max(start - 1, 0) :], labels, label):
        raise UnreadableError(f"the words behind {label} take it back")
    _refuse_later_answer(text, labels, label, start)
    return label, exact


def _read_bare(text: str, labels: tuple[Label, ...]) -> Label | None:
    """Return the label that `text` is, apart from marks around it; None for any other text."""
    try:
        label, is_bare = read_label(text, labels)
    except UnreadableError:
        return None
    return label if is_bare else None


def is_hypothetical(text: str) -> bool:
    """Return whether an announcement after `text` is contrary to the facts or a party's.

    Only the sentence in which the announcement stands counts. Examples are "If the lease had
    ended, " and "According to the tenant, ".
    """
    clause = re.split(r"[.!?;\n]", text)[-1]
    return bool(_COUNTERFACTUAL.fullmatch(clause) or _OF_A_PARTY.search(clause))


def is_taken_back(text: str, labels: tuple[Label, ...], label: Label | None) -> bool:
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


def _drop_tables(text: str) -> str:
    """Return `text` without the rows of Markdown tables, since their cells are not answers."""
    if not _TABLE_RULE.search(text):
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("|"))


def _drop_item_numbers(text: str, labels: tuple[Label, ...]) -> str:
    """Return `text` without the numbers of a list's items, if labels are numbers.

    The number 1 may begin such a list if the reply is cut off.
    """
    has_numbers = any(str(label).isdecimal() for label in labels)
    items = _NUMBERED_ITEM.findall(text) if has_numbers else []
    is_list = len(items) > 1 or (items == ["1"] and text.endswith(CUT))
    return _NUMBERED_ITEM.sub("", text) if is_list else text


def _read_opening(text: str, labels: tuple[Label, ...]) -> tuple[Label, bool]:
    """Return the label that the text opens with.

    If the text is cut off, it must continue after the label.
    """
    if not text.endswith(CUT):
        return read_label(text, labels)
    label, exact = read_label(text.removesuffix(CUT) + ".", labels)
    label_match = match_opening(LEAD_IN.sub("", unwrap_label(text)).lstrip(WRAPPING), labels)
    rest = label_match[1].string[label_match[1].end() :] if label_match else "x"
    if exact or not rest.strip(WRAPPING + CUT):
        raise UnreadableError(f"'{shorten(text)}' is cut off")
    return label, exact


def _first_sentence_label(text: str, labels: tuple[Label, ...]) -> Label | None:
    """Return the label that the first sentence or its first clause states, without the rest.

    None if the text opens with a list of the labels.
    """
    sentence = _SENTENCE.search(text)
    if sentence is None or _lists_options(text, labels):
        return None
    try:
        return read_label(sentence[0].removesuffix(CUT), labels)[0]
    except UnreadableError:
        label_match = match_opening(LEAD_IN.sub("", sentence[0]).lstrip(WRAPPING), labels)
    if label_match is None:
        return None
    label, match = label_match
    return label if EXPLANATION.match(match.string[match.end() :]) else None


def _find_reasoned_labels(text: str, labels: tuple[Label, ...]) -> Iterator[Label]:
    """Yield the labels, in capitals, with which a sentence opens to give a reason for them."""
    for match in _SENTENCE.finditer(text):
        label_match = match_opening(match[0].lstrip(WRAPPING), labels)
        if label_match is None or not label_match[1][0].isupper():
            continue
        if _REASON.match(label_match[1].string, label_match[1].end()):
            yield label_match[0]


def _lists_options(text: str, labels: tuple[Label, ...]) -> bool:
    """Return whether lines of `text` present two labels or more, each once."""
    presented = [
        fold_text(match["label"])
        for line in text.splitlines()
        if (match := _option_pattern(labels).fullmatch(line)) and _presents_option(match)
    ]
    return len(presented) == len(set(presented)) > 1


def _opens_prose(match: re.Match[str]) -> bool:
    """Return whether a line continues after a label in capitals: "PLAINTIFF cites the lease"."""
    return len(match["label"]) > 1 and match["label"].isupper() and bool(match["text"].strip())


def _presents_option(match: re.Match[str]) -> bool:
    return bool(match["mark"] and match["text"].strip())


def find_announced(text: str, labels: tuple[Label, ...]) -> Iterator[Label]:
    """Yield every label that `text` announces as its answer.

    Raises:
        UnreadableError: an announcement names labels without choosing one.
    """
    plain = drop_symbols(drop_bracketed_choices(simplify_marks(text), labels), labels)
    for announcement in _find_announcements(plain, labels):
        yield announcement.label


def _find_announcements(text: str, labels: tuple[Label, ...]) -> Iterator[_Announcement]:
    spelling = label_spellings(labels)
    for match in _BRACKETED.finditer(text):
        label = spelling.get(fold_text(unwrap_label(match[1] or match[2])))
        if label is not None:
            yield _Announcement(label, match.end())
    position = 0
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        position = end
        label = _read_bare(line, labels)
        if label is not None:
            yield _Announcement(label, end)
            continue
        for match in _STATED_ANSWER.finditer(line):
            if is_hypothetical(line[: match.start() + 1]):
                continue
            label = _read_announced(match["value"], labels)
            if label is not None:
                yield _Announcement(label, end - len(line) + match.end())
    for match in _SENTENCE.finditer(text):
        label = _read_conclusion(match[0], labels)
        if label is not None:
            yield _Announcement(label, match.end())


def _read_announced(value: str, labels: tuple[Label, ...]) -> Label | None:
    """Return the label after an introduction; None if the words there name no label.

    Raises:
        UnreadableError: they name labels and choose none.
    """
    value = _OPTION_LETTER.sub(r"\1, ", value)
    sentence = _FIRST_SENTENCE.split(value, maxsplit=1)[0]
    bracketed = [
        label
        for match in _BRACKETED.finditer(sentence)
        if (label := label_spellings(labels).get(fold_text(match[1] or match[2]))) is not None
    ]
    if bracketed:
        spelled = find_spelled_mentions(sentence, labels)
        if spelled - {fold_text(str(bracketed[0]))}:
            raise UnreadableError(f"'{shorten(sentence)}' names several labels")
        return bracketed[0]
    try:
        return read_label(sentence, labels)[0]
    except EchoError:
        return None
    except UnreadableError:
        conclusion = _read_conclusion(sentence, labels)
        if conclusion is None and find_mentions(sentence, labels):
            raise
        return conclusion


@lru_cache(maxsize=512)
def _conclusion_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    """Return a pattern of a whole sentence that calls one label better, right or the winner."""
    label = "|".join(label_regex(word) for word in sorted(map(str, labels), key=len, reverse=True))
    noun = (
        r"(?:['’]s?\s+(?:\w+\s+)?(?:case|arguments?|position|side|claims?|response|answer|output))?"
    )
    verdict = (
        rf"(?:(?:is|are|seems|appears|would\s+be|remains)\s+{_ADVERB}{_QUALITY}{_HEAD_NOUN}"
        rf"|has\s+(?:made\s+)?the\s+(?:better|stronger|best|strongest){_HEAD_NOUN}"
        r"|(?:wins|prevails|should\s+(?:win|prevail)|deserves\s+to\s+win)(?:\s+(?:the|"
        r"this)\s+\w+)?)"
    )
    than = rf"(?:\s+(?:than|over|compared\s+to)\s+(?:the\s+)?(?:{label}|\w+)(?:['’]s)?)?"
    return re.compile(
        rf"[*_>\-\s]*+{_CONNECTIVE}(?:(?:i|we)\s+(?:think|believe|find|conclude|"
        r"say)\s+(?:that\s+)?)?"
        rf"(?:the\s+)?[\"'“*_]*{OPTION_NOUN}(?P<label>{label})[)\]]?[\"'”*_]*{noun}"
        rf"\s+{verdict}{than}\s*[*_]*[.!。！]",
        re.IGNORECASE,
    )


def _read_conclusion(sentence: str, labels: tuple[Label, ...]) -> Label | None:
    match = _conclusion_pattern(labels).fullmatch(sentence)
    return label_spellings(labels).get(fold_text(match["label"])) if match else None


@lru_cache(maxsize=512)
def _option_pattern(labels: tuple[Label, ...]) -> re.Pattern[str]:
    """Return a pattern of a line that presents one label: "- PRO: ...", "(A) ...", "选项B、"."""
    label = "|".join(re.escape(word) for word in sorted(map(str, labels), key=len, reverse=True))
    return re.compile(
        r"[\s>]*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?[*_\"'“]*"
        r"(?:(?:option|choice|label|arguments?\s+(?:for|against)|case\s+for|选项|選項)\s*)?"
        rf"[(（\[]?(?P<label>{label})[*_\"'”]*\s*(?P<mark>[:：.、)\]）—–=|-]*)[*_\s]*"
        rf"(?P<text>.*)",
        re.IGNORECASE | re.DOTALL,
    )


def _refuse_open_list(text: str, labels: tuple[Label, ...]) -> None:
    """Raise UnreadableError if the text ends at a bare label within a list of the labels.

    "PRO: it praises the tram. / CON:" is such a list. A label that the list has already presented
    is an answer below the list.
    """
    lines = [line for line in text.removesuffix(CUT).splitlines() if line.strip()]
    if len(lines) < 2:
        return
    last = _option_pattern(labels).fullmatch(lines[-1])
    if last is None or last["text"].strip(WRAPPING + CUT):
        return
    presented: set[str] = set()
    for line in lines[:-1]:
        match = _option_pattern(labels).fullmatch(line)
        if match and (_presents_option(match) or _opens_prose(match)):
            presented.add(fold_text(match["label"]))
    is_heading = last["mark"].endswith((":", "：")) and bool(find_mentions(text, labels))
    last_label = fold_text(last["label"])
    if presented - {last_label} and (is_heading or last_label not in presented):
        raise UnreadableError("cut off within a list of the labels")


def _refuse_later_answer(text: str, labels: tuple[Label, ...], label: Label, start: int) -> None:
    """Raise UnreadableError if a sentence after `start` holds an answer word, then another label.

    Labels that are denied and choices of labels do not count.
    """
    for match in _SENTENCE.finditer(text, start):
        sentence = match[0]
        word = _ANSWER_WORD.search(sentence)
        if word is None or is_hypothetical(sentence[: word.start()]):
            continue
        rest = denial_pattern(labels).sub("", sentence[word.end() :])
        mentions = find_spelled_mentions(rest, labels)
        if lists_choice(rest, labels) or len(mentions) != 1:
            continue
        if mentions != {fold_text(str(label))}:
            raise UnreadableError(f"a later answer word names another label than {label}")
