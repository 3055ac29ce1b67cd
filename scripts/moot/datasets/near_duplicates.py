"""Near-duplicates among texts, so that no evaluated case has its twin among the cases that trained
something.

Candidates come from MinHash signatures with locality-sensitive hashing (datasketch), and each
candidate pair is then measured exactly: the share of the shorter text's shingles that the other
text has too (containment, Broder 1997), which words that were left out lower little. Shingles are
short, since each such word breaks as many as a shingle is long.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from moot.core.cases import Split, stratified_splits

RESEMBLING = "training and validation cases that resemble a test case (nothing learns from them)"
"""What the account of a data set calls the cases that `moot.core.cases.leaks` finds."""
_PERMUTATIONS = 128
_WORDS, _CHARACTERS = 3, 3
_SEED = 1


@dataclass(frozen=True, slots=True)
class Related:
    """Two cases that belong in one split: the keys of both, in their order, and how similar their
    texts are.
    """

    first: str
    second: str
    similarity: float = 1.0


def shingles(text: str, language: str = "en") -> frozenset[str]:
    """The overlapping word triples of a text; for Chinese, which has no spaces, runs of three
    characters.
    """
    if language == "zh":
        solid = re.sub(r"\s+", "", text)
        return frozenset(
            solid[i : i + _CHARACTERS] for i in range(max(1, len(solid) - _CHARACTERS + 1))
        )
    words = re.findall(r"\w+", text.lower())
    return frozenset(
        " ".join(words[i : i + _WORDS]) for i in range(max(1, len(words) - _WORDS + 1))
    )


def near_duplicates(
    texts: Mapping[str, str], language: str = "en", threshold: float = 0.7
) -> list[Related]:
    """All pairs of texts of which one has at least `threshold` of the other's shingles, in the
    order of the texts.

        Args:
            threshold: smallest share of the shorter text's shingles, above 0 and at most 1. The
                Jaccard similarity of a pair is lower: pairs are surely found where it is
                `threshold` less 0.3 or more, so a half of a text is found next to the whole by 0.7,
                a tenth is not.
    """
    from datasketch import MinHash, MinHashLSH  # takes a second, and few jobs need it

    pieces = {key: shingles(text, language) for key, text in texts.items()}
    encoded = ([piece.encode() for piece in sorted(each)] for each in pieces.values())
    signatures = dict(
        zip(pieces, MinHash.generator(encoded, num_perm=_PERMUTATIONS, seed=_SEED), strict=True)
    )
    # The index is asked for less than is wanted: it estimates another measure, the exact one
    # decides.
    index = MinHashLSH(threshold=max(0.05, threshold - 0.3), num_perm=_PERMUTATIONS)
    position = {key: place for place, key in enumerate(texts)}
    pairs = []
    for key, signature in signatures.items():
        for other in sorted(index.query(signature), key=position.__getitem__):
            similarity = len(pieces[key] & pieces[other]) / min(
                len(pieces[key]), len(pieces[other])
            )
            if similarity >= threshold:
                pairs.append(Related(other, key, similarity))
        index.insert(key, signature)
    return pairs


def families(keys: Sequence[str], pairs: Sequence[Related]) -> dict[str, str]:
    """Each key's family, named by its smallest key: near-duplicates of near-duplicates belong
    together.
    """
    family = {key: key for key in keys}

    def head(key: str) -> str:
        while family[key] != key:
            key = family[key]
        return key

    for pair in pairs:
        first, second = sorted((head(pair.first), head(pair.second)))
        family[second] = first
    return {key: head(key) for key in keys}


def splits_by_family(
    targets: Mapping[str, str], pairs: Sequence[Related], seed: int
) -> dict[str, Split]:
    """Stratified splits by hash, where each member of a family follows the first: no other case
    moves.
    """
    family = families(list(targets), pairs)
    splits = stratified_splits(targets, seed)
    return {key: splits[family[key]] for key in targets}


def resembled_tests(splits: Mapping[str, Split], pairs: Sequence[Related]) -> dict[str, str]:
    """The training and validation cases that are related to a test case: case id to the first such
    test case's id.

        Cases are related to their relatives' relatives too: of three opinions of one lawsuit each
        leaks the others.
    """
    family = families(list(splits), pairs)
    tested = {family[key]: key for key in reversed(list(splits)) if splits[key] == "test"}
    return {
        key: tested[head]
        for key, head in family.items()
        if splits[key] != "test" and head in tested
    }


def account_of_pairs(
    what: str, splits: Mapping[str, Split], pairs: Sequence[Related]
) -> dict[str, int]:
    """How many pairs of related cases there are, and how many of them are in two splits."""
    across = sum(splits[pair.first] != splits[pair.second] for pair in pairs)
    return {what: len(pairs), f"{what} across splits": across}


def sharing(marks: Mapping[str, Collection[str]]) -> list[Related]:
    """The cases (by id) that share a mark, as pairs of the first that has it and each of the
    others.
    """
    first: dict[str, str] = {}
    pairs = {
        (first.setdefault(mark, key), key): None
        for key, held in marks.items()
        for mark in sorted(held)
    }
    return [Related(one, other) for one, other in pairs if one != other]


def leaking(
    trained: Mapping[str, str], evaluated: Mapping[str, str], language: str
) -> dict[str, str]:
    """Which training texts are evaluated too, or nearly: training key to the evaluated key that it
    resembles most.

        A key that is on both sides leaks, for any texts.
    """
    both = {("evaluated", key): text for key, text in evaluated.items()}
    both.update({("trained", key): text for key, text in trained.items()})
    numbered = {str(place): key for place, key in enumerate(both)}
    pairs = near_duplicates({number: both[key] for number, key in numbered.items()}, language)
    found = {key: (2.0, key) for key in trained if key in evaluated}
    for pair in pairs:
        (side, evaluated_key), (other_side, trained_key) = (
            numbered[pair.first],
            numbered[pair.second],
        )
        if side != other_side and pair.similarity > found.get(trained_key, (0.0, ""))[0]:
            found[trained_key] = (pair.similarity, evaluated_key)
    return {key: match for key, (_, match) in found.items()}
