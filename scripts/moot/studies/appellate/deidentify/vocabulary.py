"""Words with a capital in opinions that name no person, and words that say what kind of thing a name names."""

import re

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|"
    "Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|"
    "Montana|"
    "Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|"
    "Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|"
    "West Virginia|Wisconsin|Wyoming|Puerto Rico|District of Columbia"
)
ROLES = (
    "plaintiff defendant appellant appellee petitioner respondent claimant worker employer insurer taxpayer buyer "
    "seller husband wife father mother child decedent landlord tenant lessor lessee borrower lender creditor "
    "debtor contractor subcontractor owner homeowner intervenor applicant protestant garnishee guardian trustee "
    "executor administrator representative beneficiary victim grandmother grandfather stepfather stepmother "
    "daughter son brother sister prosecutor employee licensee grandparents parents children relator complainant "
    "prisoner inmate patient passenger"
).split()
PARTY_ROLES = frozenset(  # of those, the ones by which an opinion calls a party
    (
        "plaintiff defendant appellant appellee petitioner respondent claimant worker employer insurer taxpayer buyer "
        "seller husband wife father mother child landlord tenant lessor lessee borrower lender creditor debtor "
        "contractor subcontractor owner homeowner intervenor applicant protestant garnishee trustee executor "
        "administrator grandmother grandfather grandparents parents relator licensee"
    ).split()
)
FAMILY_ROLES = frozenset(
    ("husband", "wife", "mother", "father", "child", "grandmother", "grandfather", "grandparents", "parents")
)
"""Party roles only with a capital: "Mother" is a party, "his mother" is not."""
HONORIFICS = (
    "mr mrs ms miss messrs dr judge justice officer detective agent deputy sergeant sgt lieutenant lt captain "
    "capt trooper sheriff chief attorney prosecutor professor warden inspector nurse patrolman investigator "
    "superintendent senator governor representative reverend rev president director secretary commissioner "
    "examiner magistrate coroner doctor physician special corporal marshal hon honorable"
).split()
TITLED = {
    "dr": "doctor", "doctor": "doctor", "physician": "doctor", "nurse": "nurse", "judge": "judge", "justice": "judge",
    "magistrate": "judge", "officer": "officer", "detective": "officer", "agent": "officer", "deputy": "officer",
    "sergeant": "officer", "sgt": "officer", "lieutenant": "officer", "lt": "officer", "captain": "officer",
    "capt": "officer", "trooper": "officer", "inspector": "officer", "patrolman": "officer", "corporal": "officer",
    "sheriff": "officer", "marshal": "officer", "hon": "judge", "honorable": "judge",
}  # fmt: skip
_CUSTOMARY = (
    "court courts state states act acts section sections rule rules article articles constitution amendment "
    "amendments code statute statutes board commission department district county city town village legislature "
    "congress government united america american federal national supreme appeals appeal circuit superior "
    "judicial justice justices judges judge chief division bureau office agency authority committee council "
    "assembly house senate president governor attorney general public counties municipal metropolitan magistrate "
    "children youth families family human services social security health welfare labor workers compensation tax "
    "taxation revenue motor vehicle vehicles insurance company corporation incorporated limited partnership "
    "association union bank estate hospital medical center clinic university college school schools police fire "
    "sheriff jail prison correctional corrections facility penitentiary count counts exhibit exhibits appendix "
    "paragraph paragraphs subsection subsections chapter title part parts volume footnote order orders "
    "opinion judgment decision motion motions complaint indictment information petition brief answer reply trial "
    "hearing record transcript uniform instruction instructions civil criminal procedure habitual offender first "
    "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth due "
    "process equal protection clause rights commerce english spanish indian indians tribal tribe nation pueblo "
    "internet bible mexican hispanic european sunday monday tuesday wednesday thursday friday saturday christmas "
    "thanksgiving easter id ibid the this that these those there here he she they it we i you his her its our and "
    "but or nor for so as an a in on at by from of to administration laws pamp supp cum repl orig standard "
    "proceedings affirmed reversed remanded doctrine restatement torts contracts evidence internal dna hiv aids "
    "dwi dui uji usa us usc cfr esq jr sr et al ex rel aka dba fka street avenue road highway interstate route "
    "drive boulevard apartment suite no nos number numbers type class grade level phase schedule app jud "
    "dist ct engineer examiner secretary director commissioner commissioners superintendent clerk deputy officer "
    "officers detective agent detention probation parole veterans army navy air force marine patrol border "
    "certiorari mandamus habeas corpus subpoena id. am pm ii iii iv vi vii viii ix xi xii lot block tract unit "
    "caucasian african african-american okay ok"
).split()
COMMON = (
    frozenset(_CUSTOMARY)
    | frozenset(ROLES)
    | frozenset(role + "s" for role in ROLES if role not in ("brother", "victim"))
    | frozenset(MONTHS.lower().split("|"))
)
"""Words that legal prose writes with a capital within a sentence, and that name no person."""

OPENERS = frozenset(
    (
        "a about above according accordingly acting actually additionally after afterward afterwards again against "
        "ago all allegedly almost along already also although altogether always among an and another any anyone "
        "anything apart apparently applicability approximately around as asked aside assuming at based be because "
        "before beginning behind being believing below beside besides between both briefly but by can certain "
        "certainly citing clearly concerned concerning concluding consequently considering construing contrary "
        "conversely counsel curiously defense despite determining did do does driving due during each earlier either "
        "eluding employees else emphasis enclosed enough essentially even eventually every everyone everything "
        "evidently except facts fearing few finally finding first following for former formerly forensic from fully "
        "further furthermore given had has have having hearing hence here how however if immediately important "
        "importantly in incidents indeed initially inside instead interestingly investigators is it just key last "
        "lastly later law lawyers least less likely likewise many material maybe me meanwhile members merely more "
        "moreover most much my namely near nearly neither never nevertheless next nine no nobody none nonetheless nor "
        "normally not nothing notwithstanding now obviously of off officers often on once one only onto or ordinarily "
        "other others otherwise our out outside over overall own part particularly people perhaps permeating pointing "
        "police possibly presumably previously prior probably promptly prosecutors purchasers pursuant quite rather "
        "recently recognizing regarding relying reserve residents responding rotating said seeing several sewing "
        "shall she shortly should significantly similarly since so some somebody someone something sometime sometimes "
        "somewhat soon still studies subsequently such surely technically ten than that the their them then there "
        "thereafter thereby therefore thereupon these they things this those though three through throughout thus "
        "timely to today together too toward towards twice two typically ultimately unable under undisputed "
        "unfortunately unless unlike until up upon use usually various very viewing voters waiver was we well were "
        "what whatever when whenever where whereas wherever whether which while who whoever whose why will with "
        "within without witnesses would yes yesterday yet you your zoning six seven eight four five eleven twelve "
        "fifteen twenty thirty forty fifty sixty eighty ninety eighteen businesses companies neighbors paramedics "
        "doctors nurses teachers students landowners insureds insurers drivers taxpayers homeowners jurors detectives "
        "agents deputies detention arriving realizing noting stating claiming alleging arguing seeking using upset "
        "angry alone nowhere no-one two-thirds one-half documents blood alcohol drugs cocaine heroin marijuana water "
        "land title interest payment payments premiums damages medical testimony evidence records photographs letters "
        "minutes moments days weeks months years"
    ).split()
)
"""Ordinary words that open sentences; an opinion need not write them small elsewhere."""

ALSO_NAMES = frozenset(
    (
        "abbey amber angel apple archer art ash baker banks barber bass battle bean bear bell berry best bill bird "
        "bishop black bloom blue bob bond booth bowl branch brand brook brooks brown buck burns bush butcher butler "
        "cain call candy carpenter carter case cash chance chandler chase chip christian church clay cliff cloud "
        "coffee cole collier cook cooper couch crane crystal cross crow dale dawn day dean diamond dick dove drake "
        "drew duke earl eagle early faith farmer fear field fields fisher flood flowers ford forest fox frank franks "
        "frost fuller gene gentry gill ginger glass glen gold golden good gore grace grant graves gray green grey "
        "grove guy hale hall ham hammer hand hands hardy harper hart hatch hawk hay hays head heath heather hill "
        "hills holly hood hook hope horn house howl hunt hunter ivy jack jay jewel joy judge june keen key king "
        "kitchen knight lake lamb lance land lane law leaf light lily little long love loving lush major mark marsh "
        "marshall mason may mercy merit merry miles mill miller mills misty moody moon moore moss nash noble north "
        "oakes olive page park parker parks parson parsons pat paul peace pearl penny pepper perch peters pike pine "
        "pitt pity pool pope porter post potter powers precious price priest prince pride quick ray reed reese rich "
        "ring rivers road rob robin rock roman rose ruby rush rusty sage sales sandy sands savage self sergeant "
        "sexton shade sharp shepherd short silver singer skinner small smart smith snow sparks speed spencer spring "
        "star steel steele stern steward stone storm street strong sue summer summers swan sweet swift tanner taylor "
        "temple thorn thorne tinker tripp turner tyler underwood vale victor violet wade walker wall waller walls "
        "ward warden waters watts weaver webb webster weeks wells west wheat wheeler white wild wilder will winter "
        "winters wise wolf wood woods woody worth wright yates young flor mesa sierra rio loma vista bonita leal "
        "delgado rubio blanco moreno rojo luna paz cruz brothers english french german"
    ).split()
)
"""Ordinary words that are people's names as well: with a capital and no article they name somebody."""

COMMON_SURNAMES = frozenset(
    (
        "house law laws justice english bible marine street road block lot drive council post march "
        "april may june august christmas easter bank banks"
    ).split()
)
"""Customary words that are surnames as well: behind a personal title or a given name they name somebody."""

COMMON_PLACES = frozenset(("pueblo", "union", "superior", "center", "village", "security", "house"))
"""Customary words that are towns as well: behind a preposition of place, and without an article, they name one."""

COMPANY_STARTS = frozenset(
    "american national federal united general superior security standard public first metropolitan union".split()
)
SHORT_COMPANIES = COMPANY_STARTS - frozenset("general public first union".split())
"""Those that name a company by themselves where they act: "National had failed", "United's list"."""
COMPANY_ENDS = frozenset("insurance company corporation bank motor motors association union center service".split())
"""Customary words that name a company where two of them are adjacent: "National General", "First Union Bank"."""

NAMED_BY_OF = frozenset(
    "bank association society institute federation brotherhood league college university union company".split()
)
"""What "of" and a word with a capital make a name: "Bank of America"."""

INSTITUTIONS = frozenset("hospital clinic center bank insurance school church university college".split())
OF_INSTITUTIONS = frozenset(
    (
        "the state county city federal public district municipal medical motor vehicle children children's youth human "
        "services social detention correctional corrections probation health veterans tribal indian university"
    ).split()
)
"""Words before an institution's word that do not name it: "the Medical Center", but "Family Medical Center"."""

STREETS = frozenset("street road avenue drive boulevard lane highway trail parkway circle loop".split())
PUBLIC_ROADS = frozenset("the state county federal public city united states us interstate national old".split())
"""Words before a street word that do not name the street."""

KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for kind, words in (
        ("hospital", "hospital|clinic|medical center|health(?:care)?|nursing home|infirmary|medical group"),
        ("bank", "bank|bancorp|savings|credit union"),
        ("insurer", "insurance|assurance|casualty|indemnity|mutual|surety"),
        ("university", "university|college|institute|school|academy|schools"),
        ("church", "church|diocese|archdiocese|ministries|temple"),
        ("county", "county|parish"),
        ("city", "city|town|village|borough|township|municipality"),
        ("prison", "correctional|prison|jail|penitentiary|detention"),
        (
            "agency",
            "department|bureau|agency|commission|board|authority|administration|division|office|council|service|"
            "services|police|district",
        ),
        ("court", "court"),
        ("union", "union|brotherhood|local|federation|association|society|league|club|foundation|post"),
        (
            "company",
            "inc|incorporated|co|company|corp|corporation|llc|l\\.l\\.c|llp|lp|ltd|limited|partners|partnership|"
            "industries|"
            "enterprises|services|systems|group|associates|construction|oil|gas|motors?|railway|railroad|airlines?|"
            "properties|"
            "realty|homes|stores?|markets?|restaurants?|communications|technologies|laborator(?:y|ies)|press|news|"
            "journal|p\\.?c|p\\.?a",
        ),
        (
            "place",
            "street|avenue|road|highway|river|creek|lake|mountains?|canyon|ranch|park|subdivision|boulevard|mesa|"
            "valley|dam",
        ),
        (
            "statute",
            "act|code|law|amendment|constitution|statute|rules?|regulations?|doctrine|treaty|ordinance|restatement",
        ),
    )
)
ORGANISATIONS = frozenset(
    ("hospital", "bank", "insurer", "university", "church", "prison", "agency", "court", "union", "company")
)
