"""Words of opinions: roles, titles, customary capitals, and nouns that tell the kind of a name."""

import re
from collections.abc import Collection, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from moot.studies.appellate.deidentify.recogniser import MODEL

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|"
    "Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|"
    "New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|"
    "Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|"
    "West Virginia|Wisconsin|Wyoming|Puerto Rico|District of Columbia"
)
STATE_WORDS = frozenset(re.split(r"[| ]", STATES.lower()))
_SIDES = (
    "plaintiff defendant appellant appellee petitioner respondent claimant worker employer insurer"
    " taxpayer buyer seller tenant landlord lessor lessee borrower lender creditor debtor"
    " contractor subcontractor owner homeowner purchaser intervenor applicant protestant"
    " garnishee trustee executor administrator licensee relator"
).split()
FAMILY_ROLES = frozenset(
    "husband wife mother father child grandmother grandfather grandparents parents".split()
)
"""These are party roles only with a capital: "Mother" is a party, "his mother" is not."""
PARTY_ROLES = frozenset(_SIDES) | FAMILY_ROLES
_OTHER_ROLES = (
    "decedent guardian representative beneficiary victim stepfather stepmother daughter son"
    " brother sister prosecutor employee children complainant prisoner inmate patient passenger"
).split()
ROLES = sorted(PARTY_ROLES) + _OTHER_ROLES
ROLE_WORDS = frozenset(ROLES) | {f"{role}s" for role in ROLES}
PLURAL_ROLES = frozenset(f"{role}s" for role in ROLES)
KINDS_BY_TITLE = (
    dict.fromkeys("dr doctor physician".split(), "doctor")
    | dict.fromkeys("judge justice magistrate hon honorable".split(), "judge")
    | dict.fromkeys(
        "officer detective agent deputy sergeant sgt lieutenant lt captain capt trooper inspector"
        " patrolman corporal sheriff marshal".split(),
        "officer",
    )
)
FORMS_OF_ADDRESS = frozenset(("mr", "mrs", "ms", "miss"))
PERSONAL_TITLES = frozenset(KINDS_BY_TITLE) | FORMS_OF_ADDRESS | {"nurse"}
TITLES = (
    PERSONAL_TITLES
    | {f"{title}s" for title in KINDS_BY_TITLE}
    | frozenset(
        "messrs deputies chief attorney prosecutor professor warden investigator superintendent"
        " senator governor representative reverend rev president director secretary commissioner"
        " examiner coroner special principal".split()
    )
)
_CUSTOMARY_WORDS = (
    "court courts state states act acts section sections rule rules article articles constitution"
    " amendment amendments code statute statutes board commission department district county city"
    " town village legislature congress government united america american federal national supreme"
    " appeals appeal circuit superior judicial justice justices judges judge chief division bureau"
    " office agency authority committee council assembly house senate president governor attorney"
    " general public counties municipal metropolitan magistrate children youth families family"
    " human services social security health welfare labor workers compensation tax taxation revenue"
    " motor vehicle vehicles insurance company corporation incorporated limited partnership"
    " association union bank estate hospital medical center clinic university college school"
    " schools police fire sheriff jail prison correctional corrections facility penitentiary count"
    " counts exhibit exhibits appendix paragraph paragraphs subsection subsections chapter title"
    " part parts volume footnote order orders opinion judgment decision motion motions complaint"
    " indictment information petition brief answer reply trial hearing record transcript uniform"
    " instruction instructions civil criminal procedure habitual offender first second third fourth"
    " fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth due process"
    " equal protection clause rights commerce english spanish indian indians tribal tribe nation"
    " pueblo internet bible mexican hispanic european sunday monday tuesday wednesday thursday"
    " friday saturday christmas thanksgiving easter id ibid the this that these those there here he"
    " she they it we i you his her its our and but or nor for so as an a in on at by from of to"
    " administration laws pamp supp cum repl orig standard proceedings affirmed reversed remanded"
    " doctrine restatement torts contracts evidence internal dna hiv aids dwi dui uji usa us usc"
    " cfr esq jr sr aka dba fka street avenue road highway interstate route drive boulevard"
    " apartment suite no nos number numbers type class grade level phase schedule app jud dist ct"
    " engineer examiner secretary director commissioner commissioners superintendent clerk deputy"
    " officer officers detective agent detention probation parole veterans army navy air force"
    " marine patrol border certiorari mandamus habeas corpus subpoena id. am pm ii iii iv vi vii"
    " viii ix xi xii lot block tract unit caucasian african african-american okay ok wcj"
    " wca mvd ada faa epa irs fbi ad litem conservator"
).split()
COMMON_WORDS = (
    frozenset(_CUSTOMARY_WORDS)
    | (ROLE_WORDS - {"brothers", "victims"})
    | frozenset(MONTHS.lower().split("|"))
)
"""Words that legal prose capitalises within a sentence and that do not name people."""
_OPENING_WORDS = (
    "according accordingly acting actually additionally afterward agents ago alcohol allegedly"
    " alleging altogether angry apart apparently applicability approximately arguing arriving aside"
    " asked assuming based beginning believing blood briefly businesses certain certainly citing"
    " claiming clearly cocaine companies concerned concerning concluding consequently considering"
    " construing contrary conversely counsel curiously damages days defense deputies despite"
    " detectives detention determining did doctors documents does drivers driving drugs earlier"
    " eighteen eighty eluding emphasis employees enclosed essentially eventually evidence evidently"
    " facts fearing finally finding following forensic fully furthermore given having hearing"
    " heroin homeowners immediately important importantly incidents initially inside instead"
    " insureds insurers interestingly investigators jurors just key land landowners lastly later"
    " law lawyers letters likely likewise marijuana material maybe medical members merely minutes"
    " moments months near nearly neighbors ninety no-one nonetheless normally noting"
    " notwithstanding nurses obviously officers one-half ordinarily outside overall paramedics"
    " particularly payment payments people permeating photographs pointing police possibly premiums"
    " presumably previously prior probably promptly prosecutors purchasers pursuant quite realizing"
    " recently recognizing records regarding relying reserve residents responding rotating said"
    " seeing seeking seven sewing shall shortly significantly similarly somebody somewhat soon"
    " stating students studies subsequently surely taxpayers teachers technically testimony things"
    " thirty timely title today twice two-thirds typically ultimately unable undisputed"
    " unfortunately unless unlike upset use using usually various viewing voters waiver water weeks"
    " witnesses years yes yesterday zoning"
).split()
ALSO_NAMES = frozenset(
    (
        "abbey cox eddy garner garrison hull jade kern lee peck randy ransom raven slaughter stout"
        " tucker ware welch amber angel apple archer art ash baker banks barber bass battle"
        " bean bear bell"
        " berry best bill bird bishop black blanco bloom blue bob bond bonita booth bowl branch"
        " brand brook brooks brothers brown browning buck burns bush butcher butler cain call candy"
        " carpenter carter case cash chance chandler channing chase chip christian church clay"
        " cliff cloud coffee cole collier cook cooper couch crane cross crow cruz crystal cushing"
        " dale dawn day dean delgado diamond dick dove downing drake drew duke eagle earl early"
        " english faith farmer fear field fields fisher fleming flood flor flowers ford forest fox"
        " frank franks french frost fuller gene gentry german gill ginger glass glen gold golden"
        " golding good gore grace grant graves gray green grey grove guy hale hall ham hammer hand"
        " hands harding hardy harper hart hatch hawk hay hays head heath heather hill hills holly"
        " hood hook hope horn house howl hunt hunter ivy jack jay jewel joy judge june keating keen"
        " key king kitchen knight lake lamb lance land lane law leaf leal light lily little loma"
        " long love loving luna lush major manning mark marsh marshall mason may mercy merit merry"
        " mesa miles mill miller mills misty moody moon moore moreno moss nash noble north oakes"
        " olive page park parker parks parson parsons pat paul paz peace pearl penny pepper perch"
        " peters pike pine pitt pity pool pope porter post potter powers precious price pride"
        " priest prince quick ray reed reese rich ring rio rivers road rob robin rock rojo roman"
        " rose rubio ruby rush rusty sage sales sands sandy savage self sergeant sexton shade sharp"
        " shepherd short sierra silver singer skinner small smart smith snow sparks speed spencer"
        " spring star steel steele sterling stern steward stone storm street strong sue summer"
        " summers swan sweet swift tanner taylor temple thorn thorne tinker tripp turner tyler"
        " underwood vale victor violet vista wade walker wall waller walls ward warden waring"
        " waters watts weaver webb webster weeks wells west wheat wheeler white wild wilder will"
        " winter winters wise wolf wood woods woody worth wright yates young"
    ).split()
)
"""Ordinary words that are also people's names: with a capital and no article they are names."""
COMMON_SURNAMES = frozenset(
    (
        "april august bank banks bible block christmas council drive easter english house june"
        " justice law laws lot march marine may post road street"
    ).split()
)
"""Customary words that are also surnames: they name people behind a title or a given name."""
_COMMON_PLACES = ("pueblo", "union", "superior", "center", "village", "security", "house")
NAMED_WITH_FOR = frozenset("citizens friends coalition alliance residents committee".split())
LINKING_WORDS = frozenset("of the de la los del van von y and for &".split())
_LEGAL_FORMS = "inc incorporated corp corporation co company companies llc llp lp ltd pc pa".split()
_NOUNS_BY_KIND = {
    "company": [*_LEGAL_FORMS, *"enterprises partners partnership industries".split()],
    "organization": (
        "store fund gas oil resources association union society league foundation federation"
        " brotherhood club institute academy"
        " insurance assurance casualty indemnity mutual savings center ministries diocese group"
        " services service systems associates construction airlines railway railroad press journal"
        " department bureau agency commission board authority administration division council"
        " police district jail prison penitentiary facility motors local trust stores restaurant"
    ).split(),
    "place": (
        "river creek lake mountain mountains canyon ranch park subdivision mesa valley dam"
    ).split(),
    "statute": "act code amendment statute ordinance restatement doctrine treaty clause".split(),
}
_KINDS_SAID_BY_NOUN = (
    "bank hospital clinic school university college church county city town village street avenue"
    " road drive lane highway boulevard"
).split()
"""Nouns that are themselves the kind: "First Bank" is "Bank A"."""
KIND_BY_NOUN = {noun: kind for kind, nouns in _NOUNS_BY_KIND.items() for noun in nouns} | {
    noun: noun for noun in _KINDS_SAID_BY_NOUN
}
KIND_BY_NOUN |= {"schools": "school", **dict.fromkeys(NAMED_WITH_FOR, "organization")}
DOCUMENT_NOUN = re.compile(
    r"(?:act|code|law|amendment|clause|constitution|judgment|petition|motion|deed|agreement|notice|"
    r"order|statute|doctrine|contract|lease|certificate|regulation|instruction)s?"
)
ORGANISATION_KINDS = frozenset(
    "company organization bank hospital clinic school university college church".split()
)
PLACE_KINDS = frozenset(KIND_BY_NOUN.values()) - ORGANISATION_KINDS - {"statute"} | {"state"}
COMPANY_STARTS = frozenset(
    "american national federal united general superior security standard metropolitan".split()
)
"""Words that open a company's name, and name it by themselves: "National had failed"."""
_STREETS = frozenset("street road avenue drive boulevard lane highway trail parkway".split())
_INSTITUTIONS = frozenset(
    "hospital clinic center bank insurance school church university college".split()
)
_PUBLIC_WORDS = LINKING_WORDS | frozenset(
    "state county city federal public district municipal medical motor vehicle children youth human"
    " us services social detention correctional corrections probation health veterans tribal indian"
    " university old interstate".split()
)
_COMPANY_ENDS = frozenset("company corporation motor motors center service union".split())
_NAMED_WITH_OF = frozenset(
    "bank association society institute federation brotherhood league college university".split()
)


def find_kind(keys: Sequence[str]) -> str:
    """Return the kind that the nouns of a name tell, or "".

    The last noun decides, a noun before "of" included: "Hale Bank" and "Bank of Hale" are banks.

    >>> find_kind(["hale", "bank", "inc"]), find_kind(["hale", "bank", "road"])
    ('bank', 'road')
    """
    if "of" in keys[1:] and keys[keys.index("of", 1) - 1] in KIND_BY_NOUN:
        return KIND_BY_NOUN[keys[keys.index("of", 1) - 1]]
    kinds = [KIND_BY_NOUN[key] for key in keys if key in KIND_BY_NOUN]
    if kinds[1:] and kinds[-1] == "company" and kinds[-2] in _KINDS_SAID_BY_NOUN:
        return kinds[-2]
    return kinds[-1] if kinds else ""


def is_name_of_common_words(keys: Sequence[str]) -> bool:
    """Whether customary words make up a name; a single word does not.

    The name is a company's ("National General"), an institution's ("Family Medical Center", not
    "the Medical Center"), a street's ("School Road"), or has an "of" ("Bank of America").
    """
    if tuple(keys[:2]) == ("united", "states"):
        return is_name_of_common_words(keys[2:])
    if len(keys) < 2 or DOCUMENT_NOUN.fullmatch(keys[0]):
        return False
    is_company = keys[0] in COMPANY_STARTS and (
        keys[-1] in ("association", "bank", "insurance")
        or all(key in COMPANY_STARTS | _COMPANY_ENDS for key in keys)
    )
    has_distinctive_word = any(key not in _PUBLIC_WORDS for key in keys[:-1])
    return (
        is_company
        or (keys[-1] in _INSTITUTIONS | _STREETS and has_distinctive_word)
        or (keys[0] in _NAMED_WITH_OF and keys[1] == "of" and len(keys) > 2)
    )


def match_any(words: Collection[str]) -> str:
    """Return a regular expression that matches any of the words, capitalised."""
    return "|".join(sorted(word.capitalize() for word in words))


PLACE_OF_CUSTOMARY_WORDS = re.compile(
    r"\b(?:in|at|near|from|to|outside|through|toward)\s+"
    rf"(?P<name>{match_any(_COMMON_PLACES)})\b(?!\s+[A-Z(]|\s+of\b)"
)


@cache
def list_opening_words() -> frozenset[str]:
    """Ordinary words that open sentences; an opinion need not write them small elsewhere."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS) | frozenset(_OPENING_WORDS)


@cache
def list_english_lemmas(*, has_nouns: bool = True) -> frozenset[str]:
    """The lemmas of the recogniser's dictionary (WordNet's); empty without the extra `ner`.

    The nouns include names of people and towns ("john", "clovis").
    """
    model = find_spec(MODEL)
    if find_spec("spacy") is None or model is None or model.origin is None:
        return frozenset()
    from spacy.lookups import Lookups

    folder = next(Path(model.origin).parent.glob("*/lemmatizer/lookups"), None)
    if folder is None:
        return frozenset()
    lemmas_by_class = Lookups().from_disk(folder).get_table("lemma_index")
    classes = ("verb", "adj", "adv", "noun")[: 4 if has_nouns else 3]
    return frozenset().union(*(lemmas_by_class[word_class] for word_class in classes))


def is_english(word: str, *, has_nouns: bool = True) -> bool:
    """Whether a dictionary has a word or the base of its ending: "needed", "clauses", "testing"."""
    lemmas = list_english_lemmas(has_nouns=has_nouns)
    if word in lemmas:
        return True
    stem = re.sub(r"(?:ies|es|s|ed|d|ing|ly)$", "", word)
    if stem == word or len(stem) < 3:
        return False
    bases = (stem, f"{stem}e", f"{stem}y", stem[:-1])
    return any(base in lemmas for base in bases)
