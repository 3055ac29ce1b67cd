"""De-identification of appellate opinions: from full text to facts that name no person and do not
tell the outcome.

The chain: split the opinion, take its facts, drop the sentences that tell the outcome or cite
cases, replace references by letters and names by roles and letters, and let the gates judge the
result. The map from names to roles is for the file next to the cases alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify.facts import background_sentences, facts_of
from moot.studies.appellate.deidentify.gates import GateReport, check
from moot.studies.appellate.deidentify.lexicon import Lexicon
from moot.studies.appellate.deidentify.mentions import Finder, written_small
from moot.studies.appellate.deidentify.names import find_entities, pseudonyms, strong_words
from moot.studies.appellate.deidentify.opinion import Opinion, with_caption
from moot.studies.appellate.deidentify.references import (
    cites_cases,
    replace_references,
    with_letters,
)
from moot.studies.appellate.deidentify.replacing import replace_names
from moot.studies.appellate.deidentify.survivors import Recogniser


@dataclass(frozen=True, slots=True)
class Deidentified:
    """What the chain makes of an opinion.

    Attributes:
        facts: what a model may see.
        names: every replaced form to its pseudonym; kept in a file next to the cases, never shown
            to a model.
        report: what the gates found.
    """

    facts: str
    names: Mapping[str, str]
    report: GateReport


def _up_to(sentences: Sequence[str], limit: int) -> str:
    """The first sentences, up to `limit` characters, and at least one."""
    kept: list[str] = []
    length = 0
    for sentence in sentences:
        length += len(sentence) + 1
        if length > limit and kept:
            break
        kept.append(sentence)
    return " ".join(kept)


def deidentify(opinion: Opinion, limit: int, recognise: Recogniser | None = None) -> Deidentified:
    """De-identify one opinion.

    Args:
        opinion: as it comes from its source.
        limit: the most characters of facts that are kept, in whole sentences.
        recognise: a trained recogniser, which finds further names in the facts and judges the
            finished text.

    Returns:
        facts, map and gate report; a report that did not pass says why the case must not be used.
    """
    complete = with_caption(opinion)
    lexicon = Lexicon([complete.text])
    sentences = list(background_sentences(complete.text))
    background = " ".join(sentence.text for sentence in sentences if not cites_cases(sentence.text))
    facts = replace_references(lexicon.joined(_up_to(list(facts_of(sentences)), limit)))
    recognised = [name for name, kind in recognise(facts) if kind == "person"] if recognise else []
    named = strong_words(complete, background, lexicon, recognised)
    entities = find_entities(complete, background, lexicon, named)
    mentions = Finder(lexicon, named, entities.aliases).find(facts)
    mentioned = [
        (mention, entities.add(mention.words, mention.kind, mention.name)) for mention in mentions
    ]
    entities.name_all()
    finished = with_letters(replace_names(written_small(facts, mentions, lexicon), mentioned))
    return Deidentified(finished, pseudonyms(entities), check(complete, finished, recognise))


def recheck(opinion: Opinion, facts: str, recognise: Recogniser | None = None) -> GateReport:
    """All gates again, on facts that something else has rewritten."""
    return check(with_caption(opinion), facts, recognise)


__all__ = ["Deidentified", "Opinion", "Recogniser", "deidentify", "recheck"]
