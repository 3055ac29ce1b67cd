"""Words that opinions write with a capital and that name nobody, and words that say what kind of thing a name names."""

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
ROLES = (  # noqa: SIM905
    "plaintiff defendant appellant appellee petitioner respondent claimant worker employer insurer taxpayer buyer "
    "seller "
    "husband wife father mother child decedent landlord tenant lessor lessee borrower lender creditor debtor "
    "contractor "
    "subcontractor owner homeowner intervenor applicant protestant garnishee guardian trustee executor administrator "
    "personal representative beneficiary victim grandmother grandfather stepfather stepmother daughter son brother "
    "sister "
    "prosecutor employee licensee grandparents parents children relator complainant prisoner inmate patient passenger"
).split()
HONORIFICS = (  # noqa: SIM905
    "mr mrs ms miss dr judge justice officer detective agent deputy sergeant lieutenant captain trooper sheriff chief "
    "attorney prosecutor professor warden inspector nurse patrolman investigator superintendent senator governor "
    "representative reverend father sister president director secretary commissioner examiner magistrate coroner "
    "doctor "
    "physician special"
).split()
_LEGAL = (  # noqa: SIM905
    "court courts state states act acts section sections rule rules article articles constitution amendment amendments "
    "code statute statutes board commission department district county city town village legislature congress "
    "government "
    "united america american federal national supreme appeals appeal circuit superior judicial justice justices judges "
    "chief division bureau office agency authority committee council assembly house senate president governor attorney "
    "general public county counties municipal metropolitan magistrate children youth families family human "
    "services social "
    "security health welfare labor workers compensation tax taxation revenue motor vehicle vehicles insurance company "
    "corporation incorporated limited partnership association union bank trust estate fund hospital medical center "
    "clinic "
    "university college school schools church police fire sheriff county jail prison correctional facility "
    "penitentiary "
    "count counts exhibit exhibits appendix paragraph paragraphs subsection subsections chapter title part parts "
    "volume "
    "page footnote note notes order orders opinion judgment decision motion motions complaint indictment information "
    "petition brief answer reply trial hearing jury record transcript tape evidence uniform instruction "
    "instructions civil "
    "criminal procedure habitual offender first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
    "twelfth thirteenth fourteenth due process equal protection clause bill rights commerce establishment free "
    "exercise "
    "english spanish indian tribal tribe nation pueblo internet bible god mexican hispanic african european black "
    "white "
    "sunday monday tuesday wednesday thursday friday saturday christmas thanksgiving easter id ibid see cf also "
    "but and "
    "the this that these those there here when where while although because since if unless until after before during "
    "however therefore thus accordingly moreover furthermore finally additionally similarly likewise instead rather "
    "indeed first next then later subsequently consequently nevertheless nonetheless meanwhile he she they it we i "
    "you his "
    "her their its our my your who whom whose which what how why not no nor neither either both each every all any "
    "some "
    "most many few several one two three four five six seven eight nine ten in on at by for from of to with "
    "without under "
    "over between among against about upon into through per pursuant regarding concerning according following "
    "based given "
    "as an a is are was were be been being has have had do does did will would shall should can could may might must "
    "background facts factual procedural history discussion analysis conclusion introduction issues issue argument "
    "standard review jurisdiction merits summary statement proceedings below affirmed reversed remanded dissent "
    "concurring dissenting concur chapter doctrine restatement torts contracts property evidence internal dna hiv "
    "aids dwi "
    "dui usa us usc cfr esq jr sr inc co corp ltd llc llp pc pa lp et al ex rel aka dba fka nmsa nmra uji dr mr mrs ms "
    "north south east west northern southern eastern western street avenue road highway interstate route drive lane "
    "boulevard apartment suite room building floor number numbers type class grade level phase category schedule form "
    "plan policy program project agreement contract lease deed note mortgage will code notice letter report memorandum "
    "jud dist ct app supp cum repl pamp jan feb mar apr jun jul aug sept oct nov dec reporter rep "
    "affidavit request response objection order proposed amended final interim temporary permanent preliminary"
).split()
COMMON = (
    frozenset(_LEGAL)
    | frozenset(ROLES)
    | frozenset(role + "s" for role in ROLES)
    | frozenset(MONTHS.lower().split("|"))
)
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
