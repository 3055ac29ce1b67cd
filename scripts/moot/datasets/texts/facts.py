"""What the legal text data sets share: facts cut and masked by stated rules, outcome phrases counted, safe splits."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from moot.core.cases import Case, Split, Task
from moot.core.errors import UserError
from moot.datasets import DatasetOptions, LoadContext, Loaded
from moot.datasets.texts.leakage import Mask, cut, masked, outcome_rules_met
from moot.datasets.texts.near_duplicates import NearDuplicate, near_duplicates, splits_by_family


class LegalTextOptions(DatasetOptions):
    """Options of every data set of legal facts."""

    path: str = Field("", description="the file below data_root; empty for the usual one")
    files: dict[Split, str] = Field(
        default_factory=dict, description="files below data_root by split, where the splits are as published"
    )
    encoding: str = Field("utf-8-sig", description="of the files; CAIL2018 also comes in gb18030")
    outcome_phrases: Literal["keep", "mask", "drop"] = Field(
        "keep", description="what to do with facts that state the outcome: count only, replace the sentence, leave out"
    )
    mask: tuple[Mask, ...] = Field((), description="give-aways to replace: title, date, charge, outcome")
    max_characters: int = Field(6000, ge=200, description="longer facts lose what lies between their opening and end")
    similarity: float = Field(0.7, gt=0, le=1, description="of shingles, from which two texts are near-duplicates")


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source, checked, before it becomes a case; `split` is None where the source has none."""

    row: int
    text: str
    target: str
    split: Split | None = None
    attributes: dict[str, str] = field(default_factory=dict)


def source_files(options: LegalTextOptions, context: LoadContext, usual: str, sample: str) -> dict[Path, Split | None]:
    """The files to read, and the published split of each (None: to be split by hash).

    Raises:
        UserError: both `path` and `files` are given, or `files` has no test split.
    """
    if options.source == "sample":
        return {context.shipped / "data" / "samples" / sample: None}
    if options.path and options.files:
        raise UserError(f"data set {context.name}: found both path and files; expected one of them. Remove the other.")
    if options.files and "test" not in options.files:
        raise UserError(
            f"data set {context.name}: files name {', '.join(options.files)}; expected a test split. Add `test:`."
        )
    if options.files:
        return {context.data_root / name: split for split, name in options.files.items()}
    return {context.data_root / (options.path or usual): None}


def require_text(path: Path, row: object, column: str, text: str) -> str:
    """The text without blanks around it; facts that are empty are an error."""
    if not text.strip():
        raise UserError(
            f"{path}: row {row}, column '{column}': empty; expected the facts of a case. Fill it or remove the row."
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
) -> Loaded:
    """Turn checked records into cases: outcome phrases, masks, cuts, near-duplicates, splits; all of it counted.

    Args:
        records: in the order of their files.
        task: what is asked of the cases.
        options: the data set's.
        context: where and for which data set.
        court: whose outcome rules apply, a key of `leakage.OUTCOME_RULES`.
        cleaning: what the loader counted so far; this function adds to it.
        sources: the files that were read.

    Raises:
        UserError: nothing is left, or a training split as published holds a single label.
    """
    records = _without_leakage(records, options, court, cleaning)
    texts = [cut(record.text, options.max_characters) for record in records]
    cleaning[f"facts cut to {options.max_characters} characters"] = sum(
        text != record.text for text, record in zip(texts, records, strict=True)
    )
    if not records:
        raise UserError(f"data set {context.name}: no case is left; loosen outcome_phrases or name another file.")
    ids = _case_ids(context.name, texts, cleaning)
    pairs = near_duplicates(dict(zip(ids, texts, strict=True)), task.language, options.similarity)
    targets = {case_id: record.target for case_id, record in zip(ids, records, strict=True)}
    hashed = splits_by_family(targets, pairs, context.seed)
    splits = {case_id: record.split or hashed[case_id] for case_id, record in zip(ids, records, strict=True)}
    leaks = _leaks(pairs, splits, cleaning)
    cases = [
        Case(
            case_id=case_id,
            dataset=context.name,
            split=splits[case_id],
            text=text,
            target=record.target,
            labels=task.labels,
            attributes=record.attributes | ({"near_duplicate_of": leaks[case_id]} if case_id in leaks else {}),
            source_row=record.row,
        )
        for case_id, text, record in zip(ids, texts, records, strict=True)
    ]
    _require_both_classes(cases, context)
    return Loaded(cases, task, cleaning=cleaning, sources=sources)


def _without_leakage(
    records: Sequence[Record], options: LegalTextOptions, court: str, cleaning: dict[str, int]
) -> list[Record]:
    """Count facts that meet an outcome rule, then keep, mask or leave them out; then the other masks."""
    rules_met = [outcome_rules_met(record.text, court) for record in records]
    for rule, count in sorted(Counter(rule for met in rules_met for rule in met).items()):
        cleaning[f"outcome phrase: {rule}"] = count
    done = {"keep": "kept", "mask": "masked", "drop": "left out"}[options.outcome_phrases]
    cleaning[f"facts that state an outcome ({done})"] = sum(bool(met) for met in rules_met)
    if options.outcome_phrases == "drop":
        records = [record for record, met in zip(records, rules_met, strict=True) if not met]
    kinds: list[Mask] = [*(["outcome"] if options.outcome_phrases == "mask" else []), *options.mask]  # type: ignore[list-item]
    changed = 0
    result = []
    for record in records:
        text = masked(record.text, kinds, court)
        changed += text != record.text
        result.append(Record(record.row, text, record.target, record.split, record.attributes))
    if kinds:
        cleaning[f"facts with masked {', '.join(dict.fromkeys(kinds))}"] = changed
    return result


def _case_ids(name: str, texts: Sequence[str], cleaning: dict[str, int]) -> list[str]:
    """An id from each text's own digest, so that rows may move; a repeated text gets a number."""
    seen: Counter[str] = Counter()
    ids = []
    for text in texts:
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        seen[digest] += 1
        ids.append(f"{name}-{digest}" + (f"-{seen[digest]}" if seen[digest] > 1 else ""))
    cleaning["repeated texts"] = sum(count - 1 for count in seen.values())
    return ids


def _leaks(pairs: Sequence[NearDuplicate], splits: dict[str, Split], cleaning: dict[str, int]) -> dict[str, str]:
    """Training and validation cases that resemble a test case, with that case's id; both kinds of pairs are counted."""
    leaks: dict[str, str] = {}
    across = 0
    for pair in pairs:
        across += splits[pair.first] != splits[pair.second]
        for mine, other in ((pair.first, pair.second), (pair.second, pair.first)):
            if splits[mine] != "test" and splits[other] == "test":
                leaks.setdefault(mine, other)
    cleaning["near-duplicate pairs"] = len(pairs)
    cleaning["near-duplicate pairs across splits"] = across
    return leaks


def _require_both_classes(cases: Sequence[Case], context: LoadContext) -> None:
    training = {case.target for case in cases if case.split == "train"}
    if len(training) < 2:  # noqa: PLR2004 - nothing can be learnt from one class
        found = ", ".join(sorted(training)) or "no case at all"
        raise UserError(
            f"data set {context.name}: the training split holds {found}; expected at least two labels. "
            "Add training cases of the other labels."
        )
