"""The words before and after an answer, as regular expressions: "My answer is", ", because".

Chinese words are among them, since some data sets have Chinese cases.
"""

import re

_NOUN = (
    r"(?:answer|verdict|prediction|decision|judge?ment|conclusion|label|stance|ruling|"
    r"classification"
    r"|outcome|choice|vote|disposition|category|class|position|result)"
)
_HAN_NOUN = (
    r"(?:正确|正確|最终|最終)?"
    r"(?:(?:答案|回答|预测|預測|结论|結論|判断|判斷|判决|判決|立场|立場|类别|類別|分类|分類|类型|類型"
    r"|选项|選項|选择|選擇|结果|結果){1,2})"
)
ANSWER_NOUN = rf"(?:{_NOUN}|{_HAN_NOUN})"
_SUBJECT = (
    r"(?:text|case|question|document|passage|statement|article|post|tweet|comment|debate|dispute"
    r"|author|writer|matter|claim|appeal|paragraph|speech|problem)"
)
_ABOUT = (  # "The stance of the text is", "My answer to this question is"
    rf"(?:\s+(?:of|for|in|on|to)\s+(?:the|this)\s+(?:given\s+)?{_SUBJECT}|\s+here)?"
)
_HAN_SUBJECT = r"(?:(?:该|本|此)?(?:案件|案|题|纠纷|争议|文本|文章|文)?)"
_HAN_CONCLUSION = (
    r"(?:(?:综上所述|综上|因此|所以|故|最终|最終|我的|正确|正確|最佳|我们?认为)[，,]?\s*)*"
)
_COPULA_OR_COLON = (
    r"(?:\s*(?:->|=>|→|[:=：＝])\s*|\s+(?:is|would be|should be|must be)\s*:?\s+(?:that\s+)?"
    r"|\s*(?:应该|应当|应|就)?(?:是|为|為|选择|選擇|选|選|属于|屬於)\s*[:：]?\s*)"
)
_INTERJECTIONS = (
    "sure", "sure thing", "certainly", "of course", "absolutely", "ok", "okay", "all right",
    "alright", "understood", "got it",
)  # fmt: skip
_INTERJECTION = rf"(?:(?:{'|'.join(_INTERJECTIONS)})[!.,]+\s+)?"
CONNECTIVES = (
    "so", "thus", "therefore", "hence", "overall", "in conclusion", "in summary", "in sum",
    "to conclude", "consequently", "accordingly", "finally", "ultimately", "on balance",
    "all in all", "to summarize", "for (?:this|these) reasons?", "as a result",
)  # fmt: skip
_CONNECTIVE = rf"(?:(?:{'|'.join(CONNECTIVES)}),?\s+)?"
_DEGREE = (
    r"(?:(?:(?:very|most|quite|highly|almost)\s+)?(?:probably|likely|certainly|clearly|definitely"
    r"|presumably|surely)[:,]?\s+)"
)
_DEGREES_OF_SURETY = (
    "fairly", "quite", "very", "reasonably", "pretty", "absolutely", "completely", "almost",
    "highly",
)  # fmt: skip
_I_AM_SURE = (  # "I am 70% confident that the answer is"
    r"i(?:['’]m|\s+am)\s+(?:(?:about|around)\s+)?"
    rf"(?:(?:[5-9]\d|100)\s?%\s+|(?:{'|'.join(_DEGREES_OF_SURETY)})\s+)?"
    r"(?:confident|sure|certain|convinced)\s+that\s+"
)
_AUTHORS = (
    "text", "author", "writer", "speaker", "post", "tweet", "comment", "passage", "article",
    "document", "speech",
)  # fmt: skip
_SPEAKER = (
    rf"{_CONNECTIVE}"
    rf"(?:(?:i|we)\s+(?:think|believe|conclude|say|predict)\s+(?:that\s+)?|{_I_AM_SURE})?"
    r"(?:(?:my|the|our|final|overall|correct|right|best|proper|appropriate|likely|likeliest|most"
    r"|predicted|chosen)\s+)*"
    rf"(?:(?:{'|'.join(_AUTHORS)})['’]s\s+(?:overall\s+)?)?"
)
_I_SAY = (  # "I predict YES", "I would classify this as PRO"
    r"(?:i|we)\s+(?:(?:would|will|therefore|thus)\s+){0,2}"
    r"(?:(?:predict|vote|answer|conclude|choose|select)(?:\s+(?:that|for))?(?:\s*:)?"
    rf"|(?:classify|label|rate)\s+(?:it|this|(?:this|the)\s\w{{1,20}})\s+as)\s+{_DEGREE}?"
)
_FOR = (  # "Judgment for the DEFENDANT", "I find in favor of the PLAINTIFF"
    r"(?:(?:judge?ment|verdict|decision|ruling)\s*:?|(?:i|we)\s+(?:(?:would|will)\s+)?"
    r"(?:find|rule|decide|side|vote))\s+(?:for|with|in\s+favou?r\s+of)\s+(?:the\s+)?"
)
_HAN_CHOOSES = (
    rf"{_HAN_CONCLUSION}{_HAN_SUBJECT}(?:应该|应当|应)?"
    r"(?:选择|選擇|选|選|属于|屬於|认定为|定性为)[:：]?\s*"
)
_HAN_BRACKETED = rf"[\[【(（]{_HAN_NOUN}[\]】)）]\s*[:：]?\s*"
_HAN_ANSWER_LETTER = r"(?:正确|正確)?答案\s*(?=[A-Z](?![A-Za-z]))"
_STATING_NOUN = rf"(?:{_NOUN}|grade|option|pick|selection|winner)"
_MEASURES = (
    "sentiment", "emotion", "tone", "polarity", "attitude", "risk", "relevance", "severity",
    "toxicity", "leaning", "finding", "topic", "intent", "relation", "relationship", "response",
    "winner", "type",
)  # fmt: skip
_MEASURED = (  # "Sentiment: negative", "Risk level: high"
    rf"(?:{'|'.join(_MEASURES)})(?:\s+(?:label|level|class))?[*_\"'`]*\s*[:：]\s*"
)
_CONCLUDES = rf"(?:{'|'.join(CONNECTIVES)})\s*[:：]\s*"  # "Overall: PRO"
OPTION_NOUN = (  # "Option B", "Output (a)"
    r"(?:(?:the\s+)?(?:option|choice|output|response|assistant|candidate)\s+[(\[]?"
    r"(?=(?-i:[A-Z])[\W]|(?-i:[A-Z])$))?"
)
ANSWER_INTRODUCTION = (
    rf"(?:{_SPEAKER}{_STATING_NOUN}{_ABOUT}[*_\"'`]*{_COPULA_OR_COLON}{_DEGREE}?"
    rf"|{_HAN_CONCLUSION}{_HAN_SUBJECT}(?:的)?{_HAN_NOUN}[*_\"'`]*{_COPULA_OR_COLON}"
    rf"|{_HAN_BRACKETED}|{_HAN_ANSWER_LETTER}|{_HAN_CHOOSES}"
    rf"|{_CONNECTIVE}{_FOR}|{_CONCLUDES}|{_SPEAKER}{_MEASURED}"
    rf"|{_CONNECTIVE}{_I_SAY})"
)
LEAD_IN = re.compile(
    rf"^{_INTERJECTION}(?:{ANSWER_INTRODUCTION}|{_CONNECTIVE}{_DEGREE})?{OPTION_NOUN}",
    re.IGNORECASE,
)
"""All that may stand before the answer at the beginning of a phrase."""
COPULA = re.compile(  # "It's PRO", "The text is CON", "I would say PRO"
    r"^(?:(?:(?:i|we)(?:['’]d|\s+would)?\s+say(?:\s+that)?:?\s+)?"
    r"(?:(?:it|this|that)(?:['’]s|\s+is|\s+would\s+be)|(?:the|this)\s+\w{1,20}\s+is)\s+"
    rf"|(?:i|we)(?:['’]d|\s+would)?\s+say(?:\s+that)?:?\s+){_DEGREE}?",
    re.IGNORECASE,
)
THE_WINNER = re.compile(
    r"^the\s+(?=\w+\s+(?:wins|prevails|should|will|would|must)\b)", re.IGNORECASE
)
OTHER_SCRIPT = re.compile(r"^[^\W\d_a-zA-Z不非没無无未否]{1,12}\s?(?=[(（])")
# "Plaintiff wins the case", "AGREEMENT has been reached", "MORE DEBATE is needed", "选项" behind A
PREDICATE = re.compile(
    r"\s+(?:(?:wins|prevails|(?:should|will|would|must)\s+(?:win|prevail))(?:\s+(?:the|this)\s\w+)?"
    r"|(?<=agreement )(?:has|have)\s+(?:now\s+)?been\s+reached"
    r"|(?<=debate )is\s+(?:needed|required|necessary))(?!\w)"
    r"|(?<=guilty)\s+(?:beyond\s+(?:a|any|all)?\s*(?:reasonable\s+)?doubt|by\s+reason\s+of\s+\w+"
    r"|as\s+charged|on\s+all\s+counts|of\s+all\s+charges)"
    r"|\s?(?:选项|項|项|类别|類別|类型|類型|类案件|一类|类)",
    re.IGNORECASE,
)
EXPLANATION = re.compile(
    r"[\s\"'`*_)\]”’」】]*(?:$|\.(?!\s*\d)|[,;:!。，；：！、—(（\n]"
    r"|\s[-–]\s|\s(?:because|since|with|due to|given|based on)\s|因为|因為"
    r"|\s*[\[【]?(?:解析|分析|理由|解释|说明|原因))",
    re.IGNORECASE,
)
"""The end of a label, after which reasons may follow."""
