"""Capitalised words of opinions that do not name people, and words that tell the kind of a name."""

import re
from collections.abc import Collection, Sequence
from functools import cache

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|"
    "Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New"
    " Hampshire|New Jersey|New Mexico|New York|North Carolina|North"
    " Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South"
    " Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West"
    " Virginia|Wisconsin|Wyoming|Puerto Rico|District of Columbia"
)
STATE_WORDS = frozenset(word for state in STATES.lower().split("|") for word in state.split())
ROLES = (
    "plaintiff defendant appellant appellee petitioner respondent claimant worker employer insurer"
    " taxpayer buyer seller husband wife father mother child decedent landlord tenant lessor lessee"
    " borrower lender creditor debtor contractor subcontractor owner homeowner intervenor applicant"
    " protestant garnishee guardian trustee executor administrator representative beneficiary"
    " victim grandmother grandfather stepfather stepmother daughter son brother sister prosecutor"
    " employee licensee grandparents parents children relator complainant prisoner inmate patient"
    " passenger"
).split()
ROLE_WORDS = frozenset(ROLES) | {f"{role}s" for role in ROLES}
PARTY_ROLES = frozenset(ROLES) - frozenset(  # those by which an opinion calls a party
    (
        "decedent guardian representative beneficiary victim stepfather stepmother daughter son"
        " brother sister prosecutor employee children complainant prisoner inmate patient passenger"
    ).split()
)
FAMILY_ROLES = frozenset(
    (
        "husband",
        "wife",
        "mother",
        "father",
        "child",
        "grandmother",
        "grandfather",
        "grandparents",
        "parents",
    )
)
"""These are party roles only with a capital: "Mother" is a party, "his mother" is not."""
HONORIFICS = (
    "mr mrs ms miss messrs dr judge justice officer detective agent deputy sergeant sgt lieutenant"
    " lt captain capt trooper sheriff chief attorney prosecutor professor warden inspector nurse"
    " patrolman investigator superintendent senator governor representative reverend rev president"
    " director secretary commissioner examiner magistrate coroner doctor physician special corporal"
    " marshal hon honorable"
).split()
KINDS_BY_TITLE = {
    "dr": "doctor", "doctor": "doctor", "physician": "doctor", "nurse":
        "nurse", "judge": "judge", "justice": "judge",
    "magistrate": "judge", "officer": "officer", "detective":
        "officer", "agent": "officer", "deputy": "officer",
    "sergeant": "officer", "sgt": "officer", "lieutenant": "officer",
        "lt": "officer", "captain": "officer",
    "capt": "officer", "trooper": "officer", "inspector": "officer",
        "patrolman": "officer", "corporal": "officer",
    "sheriff": "officer", "marshal": "officer", "hon": "judge", "honorable": "judge",
}  # fmt: skip
FORMS_OF_ADDRESS = frozenset(("mr", "mrs", "ms", "miss"))
PERSONAL_TITLES = frozenset(KINDS_BY_TITLE) | FORMS_OF_ADDRESS
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
    " viii ix xi xii lot block tract unit caucasian african african-american okay ok"
).split()
COMMON_WORDS = (
    frozenset(_CUSTOMARY_WORDS)
    | frozenset(ROLES)
    | frozenset(role + "s" for role in ROLES if role not in ("brother", "victim"))
    | frozenset(MONTHS.lower().split("|"))
)
"""Words that legal prose capitalises within a sentence and that do not name people."""

_OPENING_WORDS = frozenset(
    (
        "according accordingly acting actually additionally afterward agents ago alcohol allegedly"
        " alleging altogether angry apart apparently applicability approximately arguing arriving"
        " aside asked assuming based beginning believing blood briefly businesses certain certainly"
        " citing claiming clearly cocaine companies concerned concerning concluding consequently"
        " considering construing contrary conversely counsel curiously damages days defense"
        " deputies despite detectives detention determining did doctors documents does drivers"
        " driving drugs earlier eighteen eighty eluding emphasis employees enclosed essentially"
        " eventually evidence evidently facts fearing finally finding following forensic fully"
        " furthermore given having hearing heroin homeowners immediately important importantly"
        " incidents initially inside instead insureds insurers interestingly investigators jurors"
        " just key land landowners lastly later law lawyers letters likely likewise marijuana"
        " material maybe medical members merely minutes moments months near nearly neighbors ninety"
        " no-one nonetheless normally noting notwithstanding nurses obviously officers one-half"
        " ordinarily outside overall paramedics particularly payment payments people permeating"
        " photographs pointing police possibly premiums presumably previously prior probably"
        " promptly prosecutors purchasers pursuant quite realizing recently recognizing records"
        " regarding relying reserve residents responding rotating said seeing seeking seven sewing"
        " shall shortly significantly similarly somebody somewhat soon stating students studies"
        " subsequently surely taxpayers teachers technically testimony things thirty timely title"
        " today twice two-thirds typically ultimately unable undisputed unfortunately unless unlike"
        " upset use using usually various viewing voters waiver water weeks witnesses years yes"
        " yesterday zoning"
    ).split()
)


@cache
def list_opening_words() -> frozenset[str]:
    """Ordinary words that open sentences; an opinion need not write them small elsewhere."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS) | _OPENING_WORDS


ALSO_NAMES = frozenset(
    (
        "abbey amber angel apple archer art ash baker banks barber bass battle bean bear bell berry"
        " best bill bird bishop black bloom blue bob bond booth bowl branch brand brook brooks"
        " brown buck burns bush butcher butler cain call candy carpenter carter case cash chance"
        " chandler chase chip christian church clay cliff cloud coffee cole collier cook cooper"
        " couch crane crystal cross crow dale dawn day dean diamond dick dove drake drew duke earl"
        " eagle early faith farmer fear field fields fisher flood flowers ford forest fox frank"
        " franks frost fuller gene gentry gill ginger glass glen gold golden good gore grace grant"
        " graves gray green grey grove guy hale hall ham hammer hand hands hardy harper hart hatch"
        " hawk hay hays head heath heather hill hills holly hood hook hope horn house howl hunt"
        " hunter ivy jack jay jewel joy judge june keen key king kitchen knight lake lamb lance"
        " land lane law leaf light lily little long love loving lush major mark marsh marshall"
        " mason may mercy merit merry miles mill miller mills misty moody moon moore moss nash"
        " noble north oakes olive page park parker parks parson parsons pat paul peace pearl penny"
        " pepper perch peters pike pine pitt pity pool pope porter post potter powers precious"
        " price priest prince pride quick ray reed reese rich ring rivers road rob robin rock roman"
        " rose ruby rush rusty sage sales sandy sands savage self sergeant sexton shade sharp"
        " shepherd short silver singer skinner small smart smith snow sparks speed spencer spring"
        " star steel steele stern steward stone storm street strong sue summer summers swan sweet"
        " swift tanner taylor temple thorn thorne tinker tripp turner tyler underwood vale victor"
        " violet wade walker wall waller walls ward warden waters watts weaver webb webster weeks"
        " wells west wheat wheeler white wild wilder will winter winters wise wolf wood woods woody"
        " worth wright yates young flor mesa sierra rio loma vista bonita leal delgado rubio blanco"
        " moreno rojo luna paz cruz brothers english french german browning channing cushing"
        " downing fleming golding harding keating manning sterling waring"
    ).split()
)
"""Ordinary words that are also people's names: with a capital and no article they are names."""

COMMON_SURNAMES = frozenset(
    (
        "house law laws justice english bible marine street road block lot drive council post march"
        " april may june august christmas easter bank banks"
    ).split()
)
"""Customary words that are also surnames: they name people behind a title or a given name."""

COMMON_PLACES = frozenset(("pueblo", "union", "superior", "center", "village", "security", "house"))
"""Customary words that are also towns: they name one behind a preposition without an article."""


def match_any(words: Collection[str]) -> str:
    """Return a regular expression that matches any of the words, capitalised."""
    return "|".join(sorted(word.capitalize() for word in words))


PLACE_OF_CUSTOMARY_WORDS = re.compile(
    rf"\b(?:in|at|near|from|to|outside|through|"
    rf"toward)\s+(?P<name>{match_any(COMMON_PLACES)})\b(?!\s+[A-Z(]|\s+of\b)"
)

LINKING_WORDS = frozenset("of the de la los del van von y and for &".split())
COMPANY_STARTS = frozenset(
    "american national federal united general superior security standard public first metropolitan"
    " union".split()
)
SHORT_COMPANIES = COMPANY_STARTS - frozenset("general public first union".split())
"""Words that name a company by themselves: "National had failed", "United's list"."""
_COMPANY_ENDS = frozenset(
    "insurance company corporation bank motor motors association union center service".split()
)
_STREETS = frozenset(
    "street road avenue drive boulevard lane highway trail parkway circle loop".split()
)
_INSTITUTIONS = frozenset(
    "hospital clinic center bank insurance school church university college".split()
)
_PUBLIC_WORDS = LINKING_WORDS | frozenset(
    (
        "state county city federal public district municipal medical motor vehicle children"
        " children's youth human us services social detention correctional corrections probation"
        " health veterans tribal indian university old interstate"
    ).split()
)
_NAMED_WITH_OF = frozenset(
    "bank association society institute federation brotherhood league college university union"
    " company".split()
)


def is_name_of_common_words(keys: Sequence[str]) -> bool:
    """Whether customary words make up a name; a single word does not.

    The name is a company's ("National General"), an institution's ("Family Medical Center", not
    "the Medical Center"), a street's ("School Road"), or has an "of" ("Bank of America").
    """
    if tuple(keys[:2]) == ("united", "states"):
        return is_name_of_common_words(keys[2:])
    if len(keys) < 2:
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


_OF_COMPANIES = (
    "inc|incorporated|co|company|corp|corporation|llc|l\\.l\\.c|llp|lp|ltd|limited|partners|"
    "partnership|systems|"
    "industries|enterprises|group|associates|construction|oil|gas|motors?|railway|railroad|"
    "airlines?|realty|"
    "properties|homes|stores?|markets?|restaurants?|communications|technologies|laborator(?:y|"
    "ies)|press|news|"
    "journal|p\\.?c|p\\.?a"
)
_OF_LAWS = (
    "act|code|law|amendment|constitution|statute|rules?|regulations?|doctrine|treaty|ordinance|"
    "restatement"
)
KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for kind, words in (
        ("road", "(?:street|avenue|road|drive|lane|highway|boulevard)$"),
        (
            "hospital",
            "hospital|clinic|medical center|health(?:care)?|nursing home|infirmary|medical group",
        ),
        ("bank", "bank|bancorp|savings|credit union"),
        ("insurer", "insurance|assurance|casualty|indemnity|mutual|surety"),
        ("university", "university|college|institute|schools?|academy"),
        ("church", "church|diocese|archdiocese|ministries|temple"),
        ("county", "county|parish"),
        (
            "agency",
            "department|bureau|agency|commission|board|authority|administration|division|office|"
            "council|police",
        ),
        ("city", "city|town|village|borough|township|municipality"),
        ("prison", "correctional|prison|jail|penitentiary|detention"),
        ("agency", "services?|district"),
        ("court", "court"),
        (
            "union",
            "union|brotherhood|local|federation|association|society|league|club|foundation|post",
        ),
        ("company", _OF_COMPANIES),
        ("place", "river|creek|lake|mountains?|canyon|ranch|park|subdivision|mesa|valley|dam"),
        ("statute", _OF_LAWS),
    )
)
ORGANISATIONS = frozenset(
    (
        "hospital",
        "bank",
        "insurer",
        "university",
        "church",
        "prison",
        "agency",
        "court",
        "union",
        "company",
    )
)


def find_kind(name: str) -> str:
    """Return the kind of `KINDS` that a word of a name tells, or "".

    "Hale Bank" is a bank, "Bank Road" is a road.
    """
    return next((kind for kind, pattern in KINDS if pattern.search(name)), "")
