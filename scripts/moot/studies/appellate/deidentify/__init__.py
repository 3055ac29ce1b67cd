"""De-identify appellate opinions: reduce a full text to facts without names and outcome.

The steps are: split the opinion, select its facts, drop the sentences that reveal the outcome or
cite cases, replace references by letters and names by roles and letters, and run the gates on the
result. The map from names to pseudonyms is written to a file next to the cases and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from moot.studies.appellate.deidentify.caption import Opinion, add_caption_names
from moot.studies.appellate.deidentify.entities import collect_naming_words, find_entities
from moot.studies.appellate.deidentify.facts import (
    drop_remnants,
    iter_background_sentences,
    select_facts,
)
from moot.studies.appellate.deidentify.gates import GateReport, Recogniser, run_gates
from moot.studies.appellate.deidentify.lexicon import Lexicon
from moot.studies.appellate.deidentify.mentions import MentionFinder
from moot.studies.appellate.deidentify.references import (
    cites_cases,
    replace_references,
    show_letters,
)
from moot.studies.appellate.deidentify.replacing import lower_ordinary_words, replace_names


@dataclass(frozen=True, slots=True)
class DeidentifiedOpinion:
    """The de-identified facts of an opinion.

    Attributes:
        facts: the text that models read.
        names: the pseudonym of every replaced form of a name. No model sees this map.
        report: the findings of the gates.
    """

    facts: str
    names: Mapping[str, str]
    report: GateReport


def deidentify(
    opinion: Opinion, max_chars: int, recogniser: Recogniser | None = None
) -> DeidentifiedOpinion:
    """De-identify one opinion.

    Args:
        opinion: the opinion as its source gives it.
        max_chars: the most characters of facts to keep, in whole sentences.
        recogniser: a trained recogniser. It finds further names in the facts and checks the
            finished text.

    Returns:
        Facts, names and gate report. A case whose report did not pass must not be used.
    """
    opinion = add_caption_names(opinion)
    lexicon = Lexicon([opinion.text])
    sentences = list(iter_background_sentences(opinion.text))
    background = " ".join(sentence.text for sentence in sentences if not cites_cases(sentence.text))
    facts = select_facts(sentences, max_chars)
    facts = replace_references(lexicon.join_broken_names(facts))
    recognised_names = recogniser(facts) if recogniser else []
    naming_words = collect_naming_words(opinion, background, lexicon, recognised_names)
    entities = find_entities(opinion, background, lexicon, naming_words)
    mentions = MentionFinder(lexicon, naming_words, entities.aliases).find_mentions(facts)
    mentions_with_entities = [(mention, entities.add(mention)) for mention in mentions]
    entities.count_recognised_people(recognised_names)
    entities.assign_pseudonyms()
    facts = lower_ordinary_words(facts, mentions, lexicon)
    facts = drop_remnants(show_letters(replace_names(facts, mentions_with_entities)))
    report = run_gates(opinion, facts, recogniser)
    return DeidentifiedOpinion(facts, entities.map_pseudonyms(), report)


__all__ = ["DeidentifiedOpinion", "Opinion", "Recogniser", "deidentify"]
