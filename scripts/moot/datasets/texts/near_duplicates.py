"""Near-duplicates among texts, so that no evaluated case has its twin among the cases that trained something.

Candidates come from MinHash signatures with locality-sensitive hashing (datasketch), and each candidate pair is then
measured exactly: the Jaccard similarity of the two texts' shingles (Broder 1997).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moot.core.cases import Split, stratified_splits

_PERMUTATIONS = 128
_WORDS, _CHARACTERS = 4, 5
_SEED = 1


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two texts that share most of their shingles: the keys of both, in the order of the texts, and the similarity."""

    first: str
    second: str
    similarity: float


def shingles(text: str, language: str = "en") -> frozenset[str]:
    """The overlapping word quadruples of a text; for Chinese, which has no spaces, runs of five characters."""
    if language == "zh":
        solid = re.sub(r"\s+", "", text)
        return frozenset(solid[i : i + _CHARACTERS] for i in range(max(1, len(solid) - _CHARACTERS + 1)))
    words = re.findall(r"\w+", text.lower())
    return frozenset(" ".join(words[i : i + _WORDS]) for i in range(max(1, len(words) - _WORDS + 1)))


def near_duplicates(texts: Mapping[str, str], language: str = "en", threshold: float = 0.7) -> list[NearDuplicate]:
    """All pairs of texts whose shingles' Jaccard similarity is at least `threshold`, in the order of the texts.

    Args:
        texts: key to text.
        language: decides what a shingle is.
        threshold: smallest similarity, above 0 and at most 1.
    """
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415 - takes a second, and few jobs need it

    pieces = {key: shingles(text, language) for key, text in texts.items()}
    encoded = ([piece.encode() for piece in sorted(each)] for each in pieces.values())
    signatures = dict(zip(pieces, MinHash.generator(encoded, num_perm=_PERMUTATIONS, seed=_SEED), strict=True))
    # The index is asked for less than is wanted: it estimates, the exact measure decides.
    index = MinHashLSH(threshold=max(0.05, threshold - 0.2), num_perm=_PERMUTATIONS)
    position = {key: place for place, key in enumerate(texts)}
    pairs = []
    for key, signature in signatures.items():
        for other in sorted(index.query(signature), key=position.__getitem__):
            shared = len(pieces[key] & pieces[other])
            similarity = shared / (len(pieces[key]) + len(pieces[other]) - shared)
            if similarity >= threshold:
                pairs.append(NearDuplicate(other, key, similarity))
        index.insert(key, signature)
    return pairs


def families(keys: Sequence[str], pairs: Sequence[NearDuplicate]) -> dict[str, str]:
    """Each key's family, named by its first member: near-duplicates of near-duplicates belong together."""
    family = {key: key for key in keys}

    def head(key: str) -> str:
        while family[key] != key:
            key = family[key]
        return key

    position = {key: place for place, key in enumerate(keys)}
    for pair in pairs:
        first, second = sorted((head(pair.first), head(pair.second)), key=position.__getitem__)
        family[second] = first
    return {key: head(key) for key in keys}


def splits_by_family(targets: Mapping[str, str], pairs: Sequence[NearDuplicate], seed: int) -> dict[str, Split]:
    """Stratified splits by hash that keep every family of near-duplicates in one split.

    Args:
        targets: case id to target.
        pairs: the near-duplicates among the cases.
        seed: the configuration's seed.
    """
    family = families(list(targets), pairs)
    heads = {key: target for key, target in targets.items() if family[key] == key}
    splits = stratified_splits(heads, seed)
    return {key: splits[family[key]] for key in targets}


def leaking(
    trained: Mapping[str, str], evaluated: Mapping[str, str], language: str = "en", threshold: float = 0.7
) -> dict[str, str]:
    """Which training texts are evaluated too, or nearly: training key to the evaluated key that it resembles most.

    A key that stands on both sides leaks, whatever its texts.
    """
    both = {("evaluated", key): text for key, text in evaluated.items()}
    both.update({("trained", key): text for key, text in trained.items()})
    numbered = {str(place): key for place, key in enumerate(both)}
    pairs = near_duplicates({number: both[key] for number, key in numbered.items()}, language, threshold)
    found = {key: (2.0, key) for key in trained if key in evaluated}
    for pair in pairs:
        (side, evaluated_key), (other_side, trained_key) = numbered[pair.first], numbered[pair.second]
        if side != other_side and pair.similarity > found.get(trained_key, (0.0, ""))[0]:
            found[trained_key] = (pair.similarity, evaluated_key)
    return {key: match for key, (_, match) in found.items()}
