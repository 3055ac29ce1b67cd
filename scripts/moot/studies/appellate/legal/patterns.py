"""The patterns that recognise a disposition in a sentence, and whose act it is.

Most patterns are applied to the text before the verb. `CONDITION_AFTER` and `REMEDY_REQUIRED` are
applied to the text behind it.
"""

import re

VERBS = {
    "affirm": r"affirm(?:s|ed|ing|ances?)?|uph(?:olds?|olding|eld)|sustain(?:s|ed|ing)?",
    "reverse": (
        r"r[eé]vers(?:es?|ed|ing|als?)|overturn(?:s|ed|ing)?|set(?:s|ting)?"
        r" aside|quash(?:es|ed|ing)?"
        r"|annul(?:s|led|ling)?"
    ),
    "vacate": r"vacat(?:es?|ed|ing|ur)",
    "remand": (
        r"remand(?:s|ed|ing)?|remit(?:s|ted|ting)?|(?:send(?:s|ing)?|sent|return(?:s|ed|ing)?) "
        r"(?:it|(?:this|the|that) (?:case|matter|cause|action|proceedings?)) (?:be )?(?:back|to"
        r" the)|(?:is|are) sent back"
    ),
    "dismiss": r"dismiss(?:es|ed|ing|als?)?",
}
DISPOSITION_VERB = re.compile(
    "|".join(rf"(?P<{name}>\b(?:{verb})\b)" for name, verb in VERBS.items()), re.IGNORECASE
)

OTHER_JUDGE_OR_COURT = (
    r"(?:(?:court of (?:criminal |civil |special"
    r" )?appeals?|(?:district|trial|lower|circuit|superior|county|supreme|"
    r"high|appeals|appellate|metropolitan|municipal|magistrate|bankruptcy|children's|family|"
    r"probate|juvenile|"
    r"common pleas|intermediate appellate|workers' compensation|tax|crown|divisional|same|en"
    r" banc|original|former|"
    r"previous|second) court|(?:appellate division|full court|panel below|courts? below|judge"
    r" below|trial judge|"
    r"magistrate judge|district judge|chancellor|arbitrator|hearing"
    r" officer|alj|wcj|bia|board|commission(?:er)?|agency|"
    r"department|tribunal|secretary|director|bankruptcy appellate panel|majority|dissent|other"
    r" (?:judges?|members?)|"
    r"(?:my )?colleagues?|(?:ai |human )?judge [a-c1-9]|(?:ai|human)"
    r" judge|jury|legislature|(?:first|second|third|"
    r"fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|federal|d\.c\.) circuit)))"
)
# A court below, but no judge of this bench.
LOWER_COURT = (
    rf"(?!(?:(?:ai|human) )*judge [a-c1-9]\b|(?:ai|human) judge\b|(?:my"
    rf" )?colleagues?\b|majority\b|dissent\b|other )"
    rf"{OTHER_JUDGE_OR_COURT}"
)
PARTY = (
    r"(?:the (?:state|government|people|crown|united"
    r" states|prosecution)|plaintiffs?|defendants?|appell(?:ants?|ees?)|"
    r"petitioners?|respondents?|claimants?|employers?|workers?|he|she|they|counsel|the"
    r" part(?:y|ies)|the (?:doctor|"
    r"physician|prisoner|veteran|officers?)|mother|father|child|husband|wife|taxpayers?|buyers?|"
    r"sellers?|insurers?|"
    r"amic[iu]s?)"
)
SPEAKER = r"(?:\b(?:we|i|let us|this court|this panel|the undersigned|our court)\b(?!'s))"
ADVERB = (
    r"(?:\s+(?:\w+ly|also|thus|therefore|hereby|now|then|later|again|likewise|so|instead|still|"
    r"too|further|once"
    r" more|"
    r"must|do|did|would|will|shall|should|have|has|had|both|either|in turn|not only|in all"
    r" respects)\b,?|,)*"
)
QUOTE = re.compile(r"(?<![\w.,;!?])[\"“](?=\S)([^\"“”]{0,1500}?)(?<=\S)[\"”]")
PARENTHESIS = re.compile(r"\([^()]*\)")
ATTRIBUTION = re.compile(
    rf"\b(?:{PARTY}|{OTHER_JUDGE_OR_COURT}|(?:appellant|defendant|plaintiff|petitioner|"
    rf"respondent)s?'s?"
    r" (?:brief|counsel|argument))\b"
    r"[^.;]{0,40}\b(?:argu(?:es?|ed|ing)|contend(?:s|ed|ing)?|claim(?:s?"
    r" that|ed|ing)|assert(?:s|ed|ing)?|maintain(?:s|"
    r"ed|ing)?|urge[sd]?|ask(?:s|ed|ing)?|seek(?:s|ing)?|sought|request(?:s|ed|ing)?"
    r" (?:that|us|this|a|an|the)|"
    r"submit(?:s|ted)?"
    r" that|suggest(?:s|ed)?|insist(?:s|ed)?|conced(?:es?|ed)|mov(?:es|ed)|pray(?:s|ed)?|"
    r"appeal(?:s|"
    r"ed)? from|believ(?:es?|ed)|petition(?:s|ed)|says|said|states?"
    r" that|stated|wants?|advocat(?:es?|ed)|thinks?|"
    r"vot(?:es|ed)|would)\b",
    re.IGNORECASE,
)
REQUESTED_OF_COURT = re.compile(
    r"\b(?:are|is|am|were|was|been) (?:\w+ )?(?:asked|urged|invited|requested)\b", re.IGNORECASE
)
HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|unless|were (?:we|this court|i) to|had (?:we|this court)|should (?:we|this"
    r" court)|even assuming|"
    r"assuming|suppose|in (?:that|the|which) event|either|in deciding|question (?:is|of)|issue"
    r" (?:is|of)|decid(?:e|"
    r"ing) between|before (?:we|i)|in order to)\b",
    re.IGNORECASE,
)
CONDITION_AFTER = re.compile(
    r"\b(?:if|unless|only|so long as|as long as|where (?:the|a|an|there)|when"
    r" (?:the|a|an|there))\b",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|can't|don't|won't|unable|declin\w+|refus\w+|unwilling|"
    r"reluctant|hesita\w+|"
    r"rather than|instead of|insufficient|without|against|oppos\w+|disagree\w*|reject\w*)\b|\bno"
    r" (?:\w+ )?(?:reason|"
    r"basis|grounds?|"
    r"cause|need|error|justification|warrant|support)\b)(?:(?!,? (?:and|but|so)"
    r" (?:i|we)\b)[^.;:]){0,50}$",
    re.IGNORECASE,
)
ADJACENT_NEGATION = re.compile(
    r"\b(?:not|never|nor|cannot|can't|don't|won't|rather than|instead of|declin\w+ to|refus\w+ to|"
    r"against)(?:\s+\w+){0,2}\s*$",
    re.IGNORECASE,
)
INSTRUCTION = re.compile(
    r"\b(?:with (?:\w+"
    r" )?(?:instructions?|directions?)|direct(?:ing|ed|s)?|ordering|instruct(?:ing|ed|s)?|mandate|"
    rf"for (?:the )?{OTHER_JUDGE_OR_COURT}|remand\w* (?:this|the|it)?[^.;]{{0,60}}(?:to|that|"
    rf"for)|so that|for"
    r" entry of)\b[^.;]*$",
    re.IGNORECASE,
)
BENCH_SHOULD = re.compile(
    r"\b(?:we|i|(?:the|this|our) (?:appellate |appeals |circuit )?(?:court|panel|"
    r"bench)(?: of appeals)?) (?:\w+ly )?(?:should|must|ought to)(?: \w+ly)?\s*$",
    re.IGNORECASE,
)
VOTE = (
    r"(?:vot(?:e|ing)|choos(?:e|ing)|opt|decid(?:e|ed|ing)|inclined?|lean(?:ing)?|like|prefer|"
    r"propose|recommend|move|"
    r"agree|continue|wish|intend|stand|want|urge|compell?ed|constrained|obliged|bound|required|"
    r"persuaded|ready|"
    r"prepared|advocate|conclud(?:e|ed)|find|believe|maintain|support|favou?r|side|concur|join|"
    r"hold)"
)
SPEAKER_INFINITIVE = re.compile(
    rf"(?:{SPEAKER}[^.;]{{0,120}}\b{VOTE}\b[^.;]{{0,60}}|\b(?:my|our|final|the"
    r" panel's)\b[^.;]{0,40}\b(?:decision|vote|"
    rf"position|stance|"
    r"judgment|opinion|inclination|recommendation|conclusion|ruling|view)\b[^.;]{0,60}|\b(?:vote|"
    r"decision|position|"
    r"stance)(?: is|:)? )to(?: \w+ly)?\s*$",
    re.IGNORECASE,
)
APPROPRIATE = re.compile(
    r"(?:\bno (?:choice|alternative|option) but|\b(?:compel|requir|oblig|constrain|lead)e?s?"
    r" (?:us|me)|"
    r"\b(?:appropriate|necessary|best|right|proper|prudent|reasonable|just|correct|fair|wise|"
    r"better|imperative|"
    r"warranted)(?: course)?(?: of action)?(?: (?:is|here is|would be))?(?: for (?:us|this"
    r" court|the court|the panel|"
    r"the appellate court))?) to(?: \w+ly)?\s*$",
    re.IGNORECASE,
)
REMEDY_REQUIRED = re.compile(
    r"\s+(?:is|are|would be|seems|appears)(?: \w+ly)?"
    r" (?:required|warranted|appropriate|necessary|proper|mandated|"
    r"justified|in order|compelled|(?:the )?(?:right|proper|appropriate|best|only))",
    re.IGNORECASE,
)
REQUIRES_REMEDY = re.compile(
    r"\b(?:requir(?:es?|ing)|warrant(?:s|ing)?|mandates?|compels?|necessitates?|justif(?:y|ies)|"
    r"calls?"
    r" for|merits?)"
    r"(?: an?| the| our)?(?: \w+)?\s*$",
    re.IGNORECASE,
)
SPEAKER_NOUN = re.compile(
    rf"(?:{SPEAKER}|\b(?:my|our)\b)[^.;]{{0,80}}\b(?:vot\w+|favou?r|support|recommend|urge|concur|"
    rf"call|advocate|conclude|"
    r"lean\w*|join|position|decision|stance)\b[^.;]{0,50}$",
    re.IGNORECASE,
)
APPEAL = (
    r"(?:(?:cross-?|interlocutory )?appeals?|petition for (?:review|certiorari)|writ of certiorari)"
)
RULING = (
    r"(?:judge?ments?|decisions?|orders?|convictions?|rulings?|verdicts?|awards?|sentences?|"
    r"decrees?|dismissal|denial)"
)
DECISION = (
    r"(?:search(?:es)?|judge?ments?|decisions?|orders?|convictions?|rulings?|verdicts?|awards?|"
    r"sentences?|dismissal|"
    r"denial|grant|findings?|determination|decree|summary"
    r" judgment|court|board|commission|revocation|assessment|"
    r"refusal|permit|termination|wcj|tariff|former)"
)


IMPLIED_NOT_AFFIRM = re.compile(
    rf"\b(?:{OTHER_JUDGE_OR_COURT})\b(?: \w+ly)? (?:committed (?:\w+ )?error|erred|"
    rf"should (?:not )?have"
    r" (?:granted|denied|dismissed|"
    rf"allowed|admitted|"
    r"excluded|suppressed|considered|held|given|found|\w+ed)|was (?:wrong|mistaken|incorrect|in"
    r" error)|(?:got|"
    r"had) (?:it|this) wrong|abused (?:its|his|her)"
    r" discretion|(?:overlooked|misapplied|misread|misunderstood|"
    r"failed to))"
    rf"|\b(?:should|must) (?:not|never) have been \w+ed\b|\bshould have been"
    rf" (?:granted|allowed|suppressed|excluded|"
    rf"admitted|reversed)\b"
    r"|\b(?:i|we) (?:would )?side with the appellants?\b"
    rf"|\b{DECISION}\b[^.;]{{0,80}}\b(?:cannot|can not|should not|must not) (?:stand|be"
    r" (?:sustained|upheld|"
    rf"allowed to stand))\b|\bon remand,? the {OTHER_JUDGE_OR_COURT} (?:should|shall|must|is|"
    rf"may)\b|\b(?:is|"
    rf"are) (?:therefore )?entitled to a new (?:trial|hearing)\b|\b(?:i|we) (?:\w+ly"
    rf" )?(?:disagree|(?:cannot|can't|"
    r"do not|don't) (?:\w+ly )?(?:agree|concur)|part ways|take issue) with (?:the |that"
    rf" )?(?:{LOWER_COURT}|decision|ruling|"
    rf"conviction|judgment)"
    r"|\b(?:i|we) (?:would |must )?(?:grant|allow|sustain) the appeal\b|\bappeal (?:should|must|"
    r"ought to) be (?:granted|sustained)\b|\b(?:vote|find|rule|decide) (?:in favou?r of|for) (?:the"
    r" )?appellants?\b",
    re.IGNORECASE,
)
IMPLIED_AFFIRM = re.compile(
    rf"\b(?:i|we) (?:(?:\w+ly|also|would|must|still|do|thus|therefore|continue to|am inclined to|"
    rf"tend to),? )*(?:(?:agree|concur|stand|side) (?:with|in)|support) (?:the |that )?(?:former"
    rf" |original |previous |"
    rf"lower )?(?:{LOWER_COURT}(?! (?:erred|was wrong))|"
    r"decision|ruling|conviction|judgment)"
    rf"|\b{OTHER_JUDGE_OR_COURT}\b (?:got (?:it|this) right|did not (?:err|abuse its discretion)|"
    rf"(?:was"
    r" (?:right|correct|justified)|"
    rf"(?:correctly|properly|rightly|reasonably) "
    r"\w+ed|acted (?:properly|within its discretion)|reached the"
    r" (?:right|correct)))|\b(?:decision|conviction|judgment|"
    r"ruling|order|verdict)(?: below)? (?:is \w+ and )?(?:should|must|ought to|shall)"
    r" (?:stand|remain|"
    r"be (?:left undisturbed|maintained))\b|\b(?:decision|award|conviction|ruling|judgment|order|"
    r"finding)s?(?: of [\w' ]{1,60}| \w+)? (?:was|were|is|are) (?:entirely |plainly"
    r" )?(?:correct|right|proper|"
    r"justified|sound|well[- ](?:founded|reasoned)|supported by"
    r" (?:substantial|sufficient))|\b(?:substantial|"
    r"sufficient|ample) evidence supports? (?:the|his|her)\b[^.;]{0,30}"
    r" (?:decision|verdict|award|judgment|conviction)|"
    r"\b(?:find|see|discern|perceive) no (?:\w+ )?error\b|\b(?:let|leave) (?:the|this|that|its|"
    r"their) [\w' ]{1,40} (?:stand|undisturbed|in place|intact)\b|\b(?:not|never|decline to|no"
    r" (?:reason|"
    r"basis) to) disturb\b|\b(?:reject|deny) the appeal\b|\b(?:side with|(?:vote|find|rule|decide)"
    r" (?:in favou?r of|"
    r"for)) (?:the )?appellees?\b|\bappeal (?:should|must|ought to) be (?:denied|rejected)\b|"
    r"^\W*(?:the )?petition(?: for (?:judicial )?review)?(?: is| are)?(?: hereby| therefore)?"
    r" denied\b|"
    r"\bdeny the petition for review\b|\bthe appeal (?:fails|must fail|should fail|is without"
    r" merit|lacks merit)\b",
    re.IGNORECASE,
)
DISBELIEF = re.compile(
    r"\b(?:do not|don't|cannot|can't|never) (?:\w+ly )?(?:believe|think|find|see"
    r" how|accept|agree)\b[^.;]*$",
    re.IGNORECASE,
)
PARTIAL = re.compile(
    r"\bin part\b|\b(?:in|on|as to) all other\b|\bonly (?:the|that|those)"
    r" (?:portion|part|extent)s?\b|\b(?:the|that|"
    r"those) (?:portion|part)s? of\b|\bmodified\b|\ball (?:respects|issues|grounds|counts)"
    r" (?:except|but)\b",
    re.IGNORECASE,
)
PROVISIONAL = re.compile(
    r"\b(?:initially|at first|originally|previously|in (?:my|the) (?:first|previous|last)"
    r" (?:round|statement)|"
    r"earlier)\b",
    re.IGNORECASE,
)
PETITION = re.compile(
    r"\bwrit(?: of certiorari)?(?: is| are|,)?(?: \w+ly)? quashed|quash\w* (?:the|our) writ|"
    r"order granting [^.;]{0,80}\b(?:petition|writ|certiorari|leave)\b[^.;]{0,60}vacated",
    re.IGNORECASE,
)
AUXILIARY = re.compile(
    r"\b(is|are|be|being|was|were|been|has|have|had|shall stand|stands?)\b", re.IGNORECASE
)
LEANING = re.compile(
    rf"(?:{SPEAKER}|\bmy\b)[^.;]*\b(?:favou?r|support|vote|inclined|lean\w*|join\w*|"
    rf"concur)[^.;]{{0,40}}$",
    re.IGNORECASE,
)
CURRENT_LEANING = re.compile(
    rf"(?:{SPEAKER}|\b(?:my|our)\b)[^.;]*(?:\b(?:favou?r|support|lean\w*|inclin\w+|towards?|"
    rf"recommend|suggest|propos\w+|"
    r"advocate|am|are|is)(?: \w+ly)?|,(?: thereby| thus)?|\b(?:and|or)(?: \w+ly)?)\s*$",
    re.IGNORECASE,
)
SPEAKER_TAKES_OVER = (
    r"[,;:]\s*(?:but|and so|so|and|accordingly|therefore|thus|however)?,?\s*(?=\b(?:we|i)\b)"
    r"|\b(?:and|but|so|because) (?=we\b|i\b)|, and (?=the )"
)
