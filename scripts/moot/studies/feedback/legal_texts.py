"""Shared code of the legal text data sets: cuts, masks, outcome phrases, and safe splits."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import Field

from moot.core.cases import (
    NEAR_DUPLICATE_OF,
    Case,
    SplitName,
    Task,
    resembles_test_case,
    stable_fraction,
)
from moot.core.errors import UserError
from moot.datasets import DatasetOptions, LoadContext, Loaded
from moot.datasets.near_duplicates import (
    RESEMBLING,
    RelatedCases,
    count_pairs,
    find_near_duplicates,
    find_resembled_tests,
    group_families,
    split_by_family,
)

_VERBS = (
    r"(?:affirm|revers|vacat|remand|uphold|upheld|overturn|overrul|reject|dismiss|rul(?:ed|es|"
    r"ing)|held|holds|"
    r"conclud|decid|determin|found|finds|sided|agreed)\w*"
)
_FOR_A_PARTY = (
    r"(?:in (?:his|her|its|their|the)?\s?(?:\w+(?:'s|’s)?\s){0,4}favou?r|in favou?r of|against"
    r" the|for the)"
)

_IN_THE_END = re.compile(
    r"(?i)\b(?:ultimately|in the end|in its final (?:judgment|decision))\b[^.]{0,60}?\b"
    r"(?:affirm|revers|rul(?:ed|ing)|found|decid|determin|conclud|reject|award|dismiss|prevail|"
    r"side[ds])\w*"
)

# One set of rules per deciding court. A lower court's decision is history, which the facts may
# state.
OUTCOME_RULES: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "state court": {
        "decision of the highest court": re.compile(
            rf"\b(?:Supreme Court(?: of Illinois)?|Justices?)\s(?:[a-z]\w*\s){{0,3}}?{_VERBS}\b"
        ),
        "outcome after all": _IN_THE_END,
        "judgment left or set aside": re.compile(
            r"(?i)\b(?:judgment|decree|decision|ruling|order|verdict|"
            r"conviction)s?\b[^.]{0,40}?\b(?:was|were|is|are|be)\b"
            r"\s(?:\w+\s)?(?:affirmed|reversed|vacated|upheld|set aside)\b"
        ),
        "ruling for a party": re.compile(
            r"(?i)\bcourt\b[^.]{0,40}?\b(?:rul(?:ed|es|ing)|found|decid(?:ed|es)|judgment|"
            r"decree)\b[^.]{0,30}?\b" + _FOR_A_PARTY
        ),
    },
    "chinese court": {
        "charge named": re.compile(r"(?:构成|犯有?|涉嫌|以|触犯)[^。；，×]{1,30}罪"),
        "sentence asked or passed": re.compile(r"判处|判决如下|量刑建议"),
        "article cited": re.compile(
            r"《[^》]{2,20}》[^。；]{0,4}第[一二三四五六七八九十百零〇\d]{1,8}条"
        ),
    },
}

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(A-Z])")
_SENTENCE_ZH = re.compile(r"(?<=[。；！？])")
REPLACEMENT = "[…]"


def outcome_rules_met(text: str, court: str) -> list[str]:
    """Return the names of the rules in `OUTCOME_RULES[court]` that a text meets, in their order."""
    return [name for name, pattern in OUTCOME_RULES[court].items() if pattern.search(text)]


def without_outcome(text: str, court: str) -> str:
    """Return the text with "[…]" in place of each sentence that meets an outcome rule.

    Tabs between the parts of the text stay.
    """
    chinese = court == "chinese court"
    parts = []
    for part in text.split("\t"):
        sentences = (_SENTENCE_ZH if chinese else _SENTENCE).split(part)
        visible = (
            REPLACEMENT if outcome_rules_met(sentence, court) else sentence
            for sentence in sentences
        )
        parts.append(("" if chinese else " ").join(visible))
    return "\t".join(parts)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text.

    They are its first three quarters and last quarter, with "[…]" between.

    Facts begin with the events and end with the evidence and the pleas, so the middle is left out.
    """
    if len(text) <= limit:
        return text
    room = limit - len(REPLACEMENT)
    head = room * 3 // 4
    return f"{text[:head]}{REPLACEMENT}{text[len(text) - (room - head) :]}"


class LegalTextOptions(DatasetOptions):
    """Options of every data set of legal facts."""

    path: str = Field("", description="the file below data_root; empty for the usual one")
    files: dict[SplitName, str] = Field(
        default_factory=dict,
        description="files below data_root by split, if the splits are published",
    )
    encoding: str = Field("utf-8-sig", description="of the files; CAIL2018 also comes in gb18030")
    outcome_phrases: Literal["keep", "mask", "drop"] = Field(
        "keep",
        description=(
            "what to do with facts that state the outcome: count only, replace the sentence,"
            " leave out"
        ),
    )
    max_characters: int = Field(
        6000, ge=200, description="longer facts lose what lies between their opening and end"
    )
    similarity: float = Field(
        0.7,
        gt=0,
        le=1,
        description=(
            "share of a text's shingles in another text, from which they are near-duplicates"
        ),
    )
    validation: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description=(
            "share of the published training cases kept for validation, where `files` names no such"
            " file"
        ),
    )

    def own_files(self, data_root: Path) -> tuple[Path, ...]:
        """Return the files that replace the usual one."""
        return tuple(data_root / name for name in (self.path, *self.files.values()) if name)


@dataclass(frozen=True, slots=True)
class Record:
    """A checked record of a source, before it becomes a case.

    Its `split` is None if the source has none.
    """

    row: int
    text: str
    target: str
    split: SplitName | None = None


def source_files(
    options: LegalTextOptions, context: LoadContext, usual: str, sample: str
) -> dict[Path, SplitName | None]:
    """Return the files to read, and the published split of each (None: to be split by hash).

    Raises:
        UserError: both `path` and `files` are given, or `files` has no test split.
    """
    if options.source == "sample":
        return {context.shipped / "data" / "samples" / sample: None}
    if options.path and options.files:
        raise UserError(
            f"data set {context.name}: found both path and files; expected one of them. Remove the"
            " other."
        )
    if options.files and "test" not in options.files:
        raise UserError(
            f"data set {context.name}: files name {', '.join(options.files)}; expected a test"
            " split. Add `test:`."
        )
    if options.files:
        return {context.data_root / name: split_name for split_name, name in options.files.items()}
    return {context.data_root / (options.path or usual): None}


def require_text(path: Path, row: object, column: str, text: str) -> str:
    """Return the text without blanks around it; facts that are empty are an error."""
    if not text.strip():
        raise UserError(
            f"{path}: row {row}, column '{column}': empty; expected the facts of a case. Fill it or"
            " remove the row."
        )
    return text.strip()


def prepare(
    records: Sequence[Record],
    task: Task,
    options: LegalTextOptions,
    context: LoadContext,
    *,
    court: str,
    cleaning: dict[str, int],
    sources: Sequence[Path],
    min_cases: int = 0,
) -> Loaded:
    """Turn checked records into cases, and count every step.

    The steps are outcome phrases, masks, cuts, near-duplicates and splits.

    Args:
        records, task, options, context: of the data set, records in the order of their files.
        court: the court whose outcome rules apply, a key of `OUTCOME_RULES`.
        cleaning: the loader's counts so far; this function adds to them.
        sources: the files that were read.
        min_cases: a label with fewer training cases is left out, with its cases of every split.

    Raises:
        UserError: no case is left, or a published training split has a single label.
    """
    if options.source == "sample":
        task = replace(task, notes=(*task.notes, "sample cases written for moot, not real ones"))
    records = _without_leakage(records, options, court, cleaning)
    texts = [cut(record.text, options.max_characters) for record in records]
    cleaning[f"facts cut to {options.max_characters} characters"] = sum(
        text != record.text for text, record in zip(texts, records, strict=True)
    )
    if not records:
        raise UserError(
            f"data set {context.name}: no case is left; loosen outcome_phrases or name another"
            " file."
        )
    ids = _case_ids(context.name, texts, cleaning)
    texts_by_id = dict(zip(ids, texts, strict=True))
    pairs = find_near_duplicates(texts_by_id, task.language, options.similarity)
    splits = _splits(dict(zip(ids, records, strict=True)), pairs, options, context)
    cleaning.update(count_pairs("near-duplicate pairs", splits, pairs))
    resembled = find_resembled_tests(splits, pairs)
    cases = [
        Case(
            case_id=case_id,
            dataset=context.name,
            split=splits[case_id],
            text=text,
            target=record.target,
            labels=task.labels,
            attributes={NEAR_DUPLICATE_OF: resembled[case_id]} if case_id in resembled else {},
            source_row=record.row,
        )
        for case_id, text, record in zip(ids, texts, records, strict=True)
    ]
    cases, task = _enough_cases(cases, task, min_cases, context, cleaning)
    cleaning[RESEMBLING] = sum(map(resembles_test_case, cases))
    _require_both_classes(cases, options, context)
    return Loaded(cases, task, cleaning=cleaning, sources=sources)


def _without_leakage(
    records: Sequence[Record], options: LegalTextOptions, court: str, cleaning: dict[str, int]
) -> list[Record]:
    """Count facts that meet an outcome rule, then keep, mask or leave them out."""
    rules_met = [outcome_rules_met(record.text, court) for record in records]
    for rule, count in sorted(Counter(chain.from_iterable(rules_met)).items()):
        cleaning[f"outcome phrase: {rule}"] = count
    action = {"keep": "kept", "mask": "masked", "drop": "left out"}[options.outcome_phrases]
    cleaning[f"facts that state an outcome ({action})"] = sum(bool(met) for met in rules_met)
    if options.outcome_phrases == "drop":
        return [record for record, met in zip(records, rules_met, strict=True) if not met]
    if options.outcome_phrases == "mask":
        return [replace(record, text=without_outcome(record.text, court)) for record in records]
    return list(records)


def _case_ids(name: str, texts: Sequence[str], cleaning: dict[str, int]) -> list[str]:
    """Return an id for each text, made from its digest, so that rows may move.

    A repeated text gets a number, too; `cleaning` counts such texts.
    """
    counts: Counter[str] = Counter()
    ids = []
    for text in texts:
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        counts[digest] += 1
        ids.append(f"{name}-{digest}" + (f"-{counts[digest]}" if counts[digest] > 1 else ""))
    cleaning["repeated texts"] = sum(count - 1 for count in counts.values())
    return ids


def _splits(
    records: Mapping[str, Record],
    pairs: Sequence[RelatedCases],
    options: LegalTextOptions,
    context: LoadContext,
) -> dict[str, SplitName]:
    """Return the published split of each case.

    Without one it is by hash, and so is a validation share of training.

    Cases that belong together get one split, unless it is published.
    """
    hashed = split_by_family(
        {case_id: record.target for case_id, record in records.items()}, pairs, context.seed
    )
    splits = {case_id: record.split or hashed[case_id] for case_id, record in records.items()}
    if options.files and "validation" not in options.files:
        family = group_families(list(records), pairs)
        for case_id, split_name in splits.items():
            fraction = stable_fraction("validation", context.seed, family[case_id])
            if split_name == "train" and fraction < options.validation:
                splits[case_id] = "validation"
    return splits


def _enough_cases(
    cases: Sequence[Case], task: Task, minimum: int, context: LoadContext, cleaning: dict[str, int]
) -> tuple[list[Case], Task]:
    """Return the cases whose labels have enough training cases, and the task with these labels.

    A label needs at least `minimum` cases that may teach.

    Raises:
        UserError: no case is left.
    """
    counts = Counter[str]()
    for case in cases:
        if case.split == "train" and not resembles_test_case(case):
            counts.update(_labels(case))
    kept_labels = tuple(label for label in task.labels if counts[label] >= minimum)
    kept_cases = [
        replace(case, labels=kept_labels)
        for case in cases
        if {*kept_labels}.issuperset(_labels(case))
    ]
    if not kept_cases:
        raise UserError(
            f"data set {context.name}: no label has {minimum} training cases; lower min_cases."
        )
    if minimum:
        cleaning[f"labels with fewer than {minimum} training cases (left out)"] = len(
            task.labels
        ) - len(kept_labels)
        cleaning["cases with such a label (left out)"] = len(cases) - len(kept_cases)
    meaning = {label: text for label, text in task.meaning.items() if label in kept_labels}
    return kept_cases, replace(task, labels=kept_labels, meaning=meaning)


def _labels(case: Case) -> list[str]:
    return case.target.split(";")


def _require_both_classes(
    cases: Sequence[Case], options: LegalTextOptions, context: LoadContext
) -> None:
    training = {
        case.target for case in cases if case.split == "train" and not resembles_test_case(case)
    }
    if not training and not options.baselines:  # only a test file: nothing is trained
        return
    if len(training) < 2:  # nothing can be learnt from one class
        labels = ", ".join(sorted(training)) or "no case at all"
        raise UserError(
            f"data set {context.name}: the training split holds {labels}; expected at least two "
            "labels. Add training cases of the other labels, or leave `baselines` out and name "
            "only a test file."
        )
