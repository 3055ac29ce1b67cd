"""Near-duplicates among texts, which must not be in training and in a test split.

Candidates come from MinHash signatures with locality-sensitive hashing (datasketch). Each candidate
pair is then measured exactly by containment (Broder 1997): the share of the shorter text's shingles
that the longer text has too. Left-out words lower containment little. Shingles are short, because
each left-out word breaks as many shingles as a shingle is long.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from moot.core.cases import SplitName, stratified_splits

RESEMBLING = "training and validation cases that resemble a test case (nothing learns from them)"
"""The description, in a cleaning report, of the cases that `find_leaks` returns."""
_PERMUTATIONS = 128
_WORDS, _CHARACTERS = 3, 3
_SEED = 1


@dataclass(frozen=True, slots=True)
class RelatedCases:
    """Two cases that belong in one split.

    Attributes:
        first, second: the keys of the cases, in the order of the data set.
        similarity: the similarity of their texts, 0 to 1.
    """

    first: str
    second: str
    similarity: float = 1.0


def shingles(text: str, language: str = "en") -> frozenset[str]:
    """Return the overlapping word triples of a text; for Chinese, runs of three characters."""
    if language == "zh":
        solid = re.sub(r"\s+", "", text)
        return frozenset(
            solid[i : i + _CHARACTERS] for i in range(max(1, len(solid) - _CHARACTERS + 1))
        )
    words = re.findall(r"\w+", text.lower())
    return frozenset(
        " ".join(words[i : i + _WORDS]) for i in range(max(1, len(words) - _WORDS + 1))
    )


def find_near_duplicates(
    texts: Mapping[str, str], language: str = "en", threshold: float = 0.7
) -> list[RelatedCases]:
    """Return all pairs of texts with similar content, in the order of the texts.

    Args:
        texts: key to text.
        language: en or zh.
        threshold: smallest share of the shorter text's shingles that the longer text has, above 0
            and at most 1. The Jaccard similarity of a pair is lower. A pair is found reliably if
            its Jaccard similarity is at least `threshold` - 0.3: with 0.7, half of a text is found
            next to the whole text, but a tenth is not.
    """
    from datasketch import MinHash, MinHashLSH  # takes a second, and few jobs need it

    pieces = {key: shingles(text, language) for key, text in texts.items()}
    encoded = [_encode(shingle_set) for shingle_set in pieces.values()]
    signatures = dict(
        zip(pieces, MinHash.generator(encoded, num_perm=_PERMUTATIONS, seed=_SEED), strict=True)
    )
    # The index has a lower threshold because it estimates Jaccard similarity; containment decides.
    bands = _choose_bands(max(0.05, threshold - 0.3))
    index = MinHashLSH(num_perm=_PERMUTATIONS, params=bands)
    position = {key: place for place, key in enumerate(texts)}
    pairs = []
    for key, signature in signatures.items():
        for candidate in sorted(index.query(signature), key=position.__getitem__):
            similarity = len(pieces[key] & pieces[candidate]) / min(
                len(pieces[key]), len(pieces[candidate])
            )
            if similarity >= threshold:
                pairs.append(RelatedCases(candidate, key, similarity))
        index.insert(key, signature)
    return pairs


@cache
def _choose_bands(threshold: float) -> tuple[int, int]:
    """Return the numbers of bands and of rows in a band; hundreds of integrals find them."""
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=threshold, num_perm=_PERMUTATIONS)
    return index.b, index.r


def _encode(shingle_set: frozenset[str]) -> list[bytes]:
    return [shingle.encode() for shingle in sorted(shingle_set)]


def group_families(keys: Sequence[str], pairs: Sequence[RelatedCases]) -> dict[str, str]:
    """Return the family of each key, named by its smallest key.

    Near-duplicates of near-duplicates belong to one family.
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


def split_by_family(
    targets: Mapping[str, str], pairs: Sequence[RelatedCases], seed: int
) -> dict[str, SplitName]:
    """Split cases by hash, stratified; the members of a family get the split of the first member.

    Cases without relatives stay where the hash puts them.
    """
    family = group_families(list(targets), pairs)
    splits = stratified_splits(targets, seed)
    return {key: splits[family[key]] for key in targets}


def find_resembled_tests(
    splits: Mapping[str, SplitName], pairs: Sequence[RelatedCases]
) -> dict[str, str]:
    """Return the training and validation cases that are related to a test case.

    The relation is transitive: of three similar texts, each leaks the other two.

    Returns:
        The id of the first related test case for each such case.
    """
    family = group_families(list(splits), pairs)
    tested = {family[key]: key for key in reversed(list(splits)) if splits[key] == "test"}
    return {
        key: tested[head]
        for key, head in family.items()
        if splits[key] != "test" and head in tested
    }


def count_pairs(
    description: str, splits: Mapping[str, SplitName], pairs: Sequence[RelatedCases]
) -> dict[str, int]:
    """Count the pairs of related cases, and the pairs whose cases are in different splits."""
    across = sum(splits[pair.first] != splits[pair.second] for pair in pairs)
    return {description: len(pairs), f"{description} across splits": across}


def find_leaks(
    trained: Mapping[str, str], evaluated: Mapping[str, str], language: str
) -> dict[str, str]:
    """Return the training texts that equal or resemble an evaluated text.

    A key on both sides is a leak, whatever its texts.

    Returns:
        The key of the most similar evaluated text for each such training key.
    """
    texts = {("evaluated", key): text for key, text in evaluated.items()}
    texts.update({("trained", key): text for key, text in trained.items()})
    key_of_number = {str(place): key for place, key in enumerate(texts)}
    pairs = find_near_duplicates(
        {number: texts[key] for number, key in key_of_number.items()}, language
    )
    matches = {key: (2.0, key) for key in trained if key in evaluated}
    for pair in pairs:
        side, evaluated_key = key_of_number[pair.first]
        other_side, trained_key = key_of_number[pair.second]
        if side != other_side and pair.similarity > matches.get(trained_key, (0.0, ""))[0]:
            matches[trained_key] = (pair.similarity, evaluated_key)
    return {key: match for key, (_, match) in matches.items()}
