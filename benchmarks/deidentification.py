"""Measure the de-identification of opinions: passed opinions, remaining names, revealed outcomes.

Opinions are split into two halves by a hash of their ids. The rules are tuned on the half `tuning`,
and the numbers in scripts/moot/studies/appellate/README.md come from the half `report`. The
check of names does not use the extractor: it runs the trained recogniser (the extra `ner`) on the
finished text, and ignores words that legal prose writes with a capital.
"""

import argparse
import hashlib
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from moot.studies.appellate.deidentify import DeidentifiedOpinion, Opinion, deidentify
from moot.studies.appellate.deidentify.recogniser import is_installed, recognise_names
from moot.studies.appellate.deidentify.replacing import lower_pseudonyms
from moot.studies.appellate.deidentify.words import COMMON_WORDS
from moot.studies.appellate.legal.rubric import OUTCOMES
from moot.studies.appellate.legal.rules import find_opinion_outcome
from moot.studies.appellate.opinion_reading import find_announced_outcome, read_opinions

PASSAGE = 1_000  # characters for a person to read
FOLDS = 5
SHUFFLES = 20
LEAST_FOR_CLASSIFIER = 40


def half_of(opinion_id: str) -> str:
    """Return the half of an opinion, by a hash of its id: tuning or report."""
    return ("tuning", "report")[int(hashlib.sha256(opinion_id.encode()).hexdigest(), 16) % 2]


def surviving_names(facts: str) -> list[str]:
    """Return the names in finished facts, without common words and pseudonyms."""
    names = [name for name, _ in recognise_names(lower_pseudonyms(facts))]
    return [name for name in names if set(_capitalised(name)) - COMMON_WORDS]


def _capitalised(name: str) -> list[str]:
    return [re.sub(r"['’]s?$", "", word).lower() for word in re.findall(r"[A-Z][\w'’]+", name)]


def balanced_accuracy(texts: Sequence[str], stands: Sequence[bool]) -> float:
    """Return the cross-validated balanced accuracy of a bag-of-words model that predicts from the
    facts whether the decision stands.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    guess = make_pipeline(words, LogisticRegression(class_weight="balanced", max_iter=1000))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return float(
        cross_val_score(guess, texts, stands, cv=folds, scoring="balanced_accuracy").mean()
    )


def outcome_lines(opinions: Sequence[Opinion]) -> list[str]:
    """Return accuracy and recall of the four classes, from the text that the loader reads and from
    marked sentences.
    """
    lines = []
    for name, find_outcome in (
        ("text that the loader reads", lambda opinion: find_announced_outcome(opinion.text)),
        (
            "marked sentences",
            lambda opinion: find_opinion_outcome(" ".join(opinion.marked_sentences))[0],
        ),
    ):
        right_counts = Counter(
            opinion.outcome for opinion in opinions if find_outcome(opinion) == opinion.outcome
        )
        label_counts = Counter(opinion.outcome for opinion in opinions)
        recall = ", ".join(
            f"{label} {right_counts[label]}/{label_counts[label]}"
            for label in OUTCOMES
            if label_counts[label]
        )
        lines.append(
            f"- outcome from the {name}: {right_counts.total()}/{label_counts.total()} right"
            f" ({recall})"
        )
    return lines


def measure(finished: Sequence[tuple[Opinion, DeidentifiedOpinion]]) -> list[str]:
    """Return the lines of the report on some opinions."""
    opinions = [opinion for opinion, _ in finished]
    passed = [(opinion, result) for opinion, result in finished if result.report.passed]
    reasons, rules = Counter[str](), Counter[str]()
    for _, result in finished:
        reasons.update(result.report.reasons)
        rules.update(result.report.party_rules)
    lines = [
        f"- {len(passed)} of {len(opinions)} opinions pass; excluded for"
        f" {dict(reasons) or 'nothing'}"
    ]
    lines.append(f"- parties found by {dict(rules)}")
    if is_installed():
        survivors = {
            opinion.opinion_id: names
            for opinion, result in passed
            if (names := surviving_names(result.facts))
        }
        lines.append(
            f"- the recogniser sees a name in {len(survivors)} passed opinions:"
            f" {survivors or 'none'}"
        )
    return (
        [*lines, *_classifier_lines(passed), *outcome_lines(opinions)]
        if any(o.outcome for o in opinions)
        else lines
    )


def passages(
    finished: Sequence[tuple[Opinion, DeidentifiedOpinion]], count: int, seed: int, start: int
) -> list[str]:
    """Return passages of passed opinions for a person to read, drawn by a seed among opinions that
    are long enough.
    """
    passed = [
        (opinion, result)
        for opinion, result in finished
        if result.report.passed and len(result.facts) >= start + PASSAGE / 2
    ]
    sample = random.Random(seed).sample(passed, min(count, len(passed)))
    return [
        f"\n{opinion.opinion_id} ({opinion.outcome}): {result.facts[start : start + PASSAGE]}"
        for opinion, result in sample
    ]


def _classifier_lines(passed: Sequence[tuple[Opinion, DeidentifiedOpinion]]) -> list[str]:
    stands = [opinion.outcome in ("affirm", "dismiss") for opinion, _ in passed]
    if len(passed) < LEAST_FOR_CLASSIFIER or min(Counter(stands).values()) < FOLDS:
        return []
    facts = [result.facts for _, result in passed]
    accuracy = balanced_accuracy(facts, stands)
    shuffled = [
        balanced_accuracy(facts, random.Random(seed).sample(stands, len(stands)))
        for seed in range(SHUFFLES)
    ]
    chance = (
        f"with shuffled outcomes {min(shuffled):.3f} to {max(shuffled):.3f} in {SHUFFLES} trials"
    )
    return [
        f"- a bag of words guesses from the facts whether the decision stands: {accuracy:.3f}"
        f" ({chance})"
    ]


def main() -> None:
    """Print the report on one half, or on both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "path",
        type=Path,
        help="opinions whose outcome is known, as the data set `opinions` reads them",
    )
    parser.add_argument("--half", choices=("tuning", "report", "all"), default="report")
    parser.add_argument(
        "--characters",
        type=int,
        default=2_000,
        help="of an opinion's facts, as the data set keeps them",
    )
    parser.add_argument("--no-ner", action="store_true", help="de-identify by rule alone")
    parser.add_argument(
        "--sample", type=int, default=0, help="number of opinions drawn by the seed; 0: all"
    )
    parser.add_argument(
        "--read", type=int, default=0, help="number of passed opinions whose passages are printed"
    )
    parser.add_argument(
        "--start", type=int, default=0, help="the character of the facts at which a passage begins"
    )
    parser.add_argument("--seed", type=int, default=1, help="the seed of --sample and --read")
    arguments = parser.parse_args()
    recognise = recognise_names if is_installed() and not arguments.no_ner else None
    opinions = [
        o for o in read_opinions(arguments.path) if arguments.half in ("all", half_of(o.opinion_id))
    ]
    opinions = random.Random(arguments.seed).sample(
        opinions, min(arguments.sample or len(opinions), len(opinions))
    )
    print(f"{arguments.path.name}, half: {arguments.half}")
    finished = [
        (opinion, deidentify(opinion, arguments.characters, recognise)) for opinion in opinions
    ]
    print(
        "\n".join(
            [
                *measure(finished),
                *passages(finished, arguments.read, arguments.seed, arguments.start),
            ]
        )
    )


if __name__ == "__main__":
    main()
