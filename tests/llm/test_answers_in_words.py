"""Test which answers in words are read, and that an incomplete reply states no opposite answer."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_labels import DISPUTES, LABEL_SETS, LETTERS, SIDES, YES_NO, grade_of, label_of
from moot.llm.parsing.ladder import parse_reply
from reply_forms import LABELS, NASTY, PROTOCOL_FORMS
from table_rows import check_each


def articles_of(reply: str) -> object:
    return (parse_reply(reply, PROTOCOL_FORMS["articles"]).value or {}).get("prediction")


FRAMES = [
    "{}<|im_end|>", "{}</s>\n", "{}<eos>", "## {}\n\nThe lease had run out.", "[[{}]]", "【{}】",
    r"$\boxed{{{}}}$", r"\[ \boxed{{\textbf{{{}}}}} \]", "The rent was paid late. [[{}]]",
    "Final answer: {}", "The correct answer is {}.", "The best label for this text is {}.",
    "My answer to the question is {}.", "Most likely {}.", "Probably {}", "Therefore, {} is right.",
    "Both have a point. Overall, {} is the better choice.", "In conclusion, {} is correct.",
    "We weighed it all.\n\nSo, the outcome is: **{}**", "正确答案是：{}", "【答案】{}",
    "答案选{}。", "{} 解析：本题考查租赁。", "综上，应选{}。",
]  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("labels", LABEL_SETS)
def test_a_label_in_common_words_is_read(frame: str, labels: tuple[str, ...]) -> None:
    for label in labels:
        assert label_of(frame.format(label), labels) == label


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("labels", LABEL_SETS)
def test_two_different_answers_count_as_none(frame: str, labels: tuple[str, ...]) -> None:
    reply = frame.format(labels[0])
    for later_label in labels[1:]:
        for later in (
            f"[[{later_label}]]",
            f"On second thoughts my answer is {later_label}.",
            f"\n{later_label}",
        ):
            assert label_of(f"{reply}\n{later}", labels) != later_label
            assert label_of(f"{reply.rstrip()} \n{later}", labels) in (None, labels[0]) or (
                "<" not in frame
            )
        if "<" not in frame:
            assert (
                label_of(f"{reply}\nOn reflection the right answer is {later_label}.", labels)
                is None
            )


REASONS = [
    "The two tenants cannot be helped any more.", "It is impossible to undo the contract.",
    "Neither rent nor deposit matters here.", "Perhaps the letter was lost, but that is no matter.",
    "It is unclear whether the letter arrived.", "The witness was not sure of the date.",
    "There is no doubt about a date.", "The clerk could not find a receipt.",
]  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("labels", LABEL_SETS)
def test_doubt_about_the_facts_is_not_doubt_about_the_answer(
    reason: str, labels: tuple[str, ...]
) -> None:
    for label in labels:
        assert label_of(f"{label}. {reason}", labels) == label
        assert label_of(f"{label}: {reason}", labels) == label


DOUBTS = [
    ", but I am not sure.", ". I cannot say.", ", or not.", " (uncertain)", ", maybe not.",
    ". But it is hard to say.", ", though I'm really not certain.", ". We do not know.",
    ", unsure.", ". It cannot be determined.", ". It may as well be the opposite.", "。我不确定。",
]  # fmt: skip


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize("labels", LABEL_SETS)
def test_doubt_about_the_answer_leaves_none(doubt: str, labels: tuple[str, ...]) -> None:
    for label in labels:
        assert label_of(f"{label}{doubt}", labels) is None


OPTION_LINES = ["{}: it favours the rent.", "- {}: a short reason", "({}) some words", "{}) words",
                "* **{}**: many words", "1. {} - words", "Option {}: words",
                "选项{}：租金"]  # fmt: skip


@pytest.mark.parametrize("line", OPTION_LINES)
@pytest.mark.parametrize("labels", LABEL_SETS)
@pytest.mark.parametrize("end", ["{}:", "{}", "- {}:", "**{}**:", "({})", "{}："])
def test_a_list_of_the_labels_that_breaks_off_chooses_none(
    line: str, labels: tuple[str, ...], end: str
) -> None:
    for count in range(1, len(labels)):
        lines = [line.format(label) for label in labels[:count]]
        reply = "\n".join([*lines, end.format(labels[count])])
        assert label_of(reply, labels) is None, reply


@pytest.mark.parametrize("labels", LABEL_SETS)
def test_an_answer_below_a_whole_list_of_the_labels_is_read(labels: tuple[str, ...]) -> None:
    options = "\n".join(f"{label}: some words" for label in labels)
    for label in labels:
        assert label_of(f"{options}\n\nAnswer: {label}", labels) == label
        assert label_of(f"{options}\n\n{label}", labels) == label


CONCLUSIONS = [
    "Therefore, {} is stronger.",
    "So {} has the better case.",
    "Hence {} prevails.",
    "Overall, {} is more convincing than {}.",
    "I conclude that {} is right.",
]


@pytest.mark.parametrize("conclusion", CONCLUSIONS)
@pytest.mark.parametrize(("label", "rejected_label"), [SIDES, SIDES[::-1]])
def test_a_concluding_sentence_states_the_answer(
    conclusion: str, label: str, rejected_label: str
) -> None:
    reasons = f"{rejected_label} cites the lease; {label} cites two letters. "
    assert label_of(reasons + conclusion.format(label, rejected_label), SIDES) == label
    qualified = f"{label} is better on the facts. {rejected_label} is better on the law."
    assert label_of(qualified, SIDES) is None
    both = f"{conclusion.format(label, rejected_label)} {conclusion.format(rejected_label, label)}"
    assert label_of(both, SIDES) is None
    assert label_of(f"{reasons}Therefore, {label} is not stronger.", SIDES) is None
    assert label_of(f"{label}. But the {rejected_label.lower()} is stronger.", SIDES) is None


@pytest.mark.parametrize("choice", ["yes/no", "YES or NO", "Yes or No", "NO, YES"])
def test_a_choice_in_brackets_is_not_an_answer(choice: str) -> None:
    assert label_of(f"Answer ({choice}): NO", YES_NO) == "NO"
    assert label_of(f"My decision ({choice}) is YES.", YES_NO) == "YES"
    assert label_of(f"Answer ({choice}):", YES_NO) is None


@pytest.mark.parametrize("label", LETTERS)
def test_a_label_of_one_letter_is_matched_by_case(label: str) -> None:
    other_labels = [other_label for other_label in LETTERS if other_label != label]
    assert label_of(f"Answer: {label}, because a clerk saw a letter.", LETTERS) == label
    assert label_of(f"{label}. a man, b. 1950, held a degree (b.a.)", LETTERS) in (None, label)
    for other_label in other_labels:
        assert label_of(f"{label}. But {other_label} is as good.", LETTERS) is None
        assert label_of(f"正确答案：{label}、{other_label}", LETTERS) is None
        assert label_of(f"{label}{other_label}", LETTERS) is None


@pytest.mark.parametrize("reply", [
    "Option {}", "Option {}.", "The correct option is {}.", "Therefore, Output {} is better.",
    "Overall, option ({}) is the best choice.", "My pick: {}", "Answer: option {}",
    "I weighed it as a judge. The final grade is {}.", "Based on this, the grade would be {}",
])  # fmt: skip
@pytest.mark.parametrize("label", LETTERS)
def test_an_option_is_named_by_its_letter(reply: str, label: str) -> None:
    assert label_of(reply.format(label), LETTERS) == label
    other_label = next(letter for letter in LETTERS if letter != label)
    assert label_of(f"{reply.format(label)} Or option {other_label}?", LETTERS) in (None, label)
    assert label_of(f"Answer: {label}. Option {other_label} is wrong.", LETTERS) in (None, label)
    assert label_of(f"The grade is not {label}.", LETTERS) is None


@pytest.mark.parametrize("introduction", ["类别：{}", "属于{}", "该案属于{}。", "纠纷类型：{}<eoa>",
                                          "因此，本案应属于{}。", "[类别]{}<eoa>"])  # fmt: skip
@pytest.mark.parametrize("label", DISPUTES)
def test_chinese_introductions_are_read(introduction: str, label: str) -> None:
    assert label_of(introduction.format(label), DISPUTES) == label
    assert label_of(f"该案不属于{label}。", DISPUTES) is None


RATINGS = ["{}", "**{}**", "{}: it is short", "{}/10", "{} out of 10", "Score: {}", "Grade: **{}**",
           "The grade is {}.", "My rating is {}.", "I would give it a {}.", "评分：{}", "[[{}]]",
           "It keeps to the form in 3 parts.\n\nRating: [[{}]]", '{{"score": {}, "reason": "r"}}',
           "{} - it has 2 good parts", r"\boxed{{{}}}", "Overall, the score is {}/10."]  # fmt: skip


@pytest.mark.parametrize("rating", RATINGS)
@pytest.mark.parametrize("number", [0, 2, 7, 10])
def test_a_single_requested_number_is_read(rating: str, number: int) -> None:
    assert grade_of(rating.format(number)) == number


@pytest.mark.parametrize("rating", RATINGS)
@pytest.mark.parametrize("number", ["6.5", "7 or 8", "7-8", "11", "-1", "6 to 7", "7, maybe 8"])
def test_no_number_is_chosen_rounded_or_moved_into_the_range(rating: str, number: str) -> None:
    assert grade_of(rating.format(number)) is None


@pytest.mark.parametrize("reply", [
    "1. It is short.\n2. It is clear.", "1) It is short", "2. Short.\n3. Clear.",
    "Score: 7. Score: 8",
    "Score: 7. On reflection, the right score is 8.", "The top score is 10.", "4/5", "The 7 points",
    "between 6 and 7", "7? Hard to say.", "7, but I am not sure", "no score",
    '{"score": 7, "rating": 8}',
    "7. No, 8.",
])  # fmt: skip
def test_other_numbers_are_not_read_as_grades(reply: str) -> None:
    assert grade_of(reply) is None


HEADINGS = ["", "[法条]", "【法条】", "法条：", "相关法条:"]
ARTICLES = ["刑法第{}条", "第{}条", "《刑法》第{}条", "中华人民共和国刑法第{}条", "第{}条第二款"]
SEPARATORS = ["、", "，", "和", "；", "\n", " and "]


@pytest.mark.parametrize("heading", HEADINGS)
@pytest.mark.parametrize("article", ARTICLES)
def test_a_list_of_articles_is_read_whatever_its_form(heading: str, article: str) -> None:
    numbers = ["234", "264"]
    assert articles_of(heading + article.format(numbers[0])) == numbers[:1]
    for separator in SEPARATORS:
        article_list = separator.join(article.format(number) for number in numbers)
        assert articles_of(heading + article_list) == numbers
        assert articles_of(f"{heading}{article_list}、") is None
        assert articles_of(f"{heading}{article_list}、<eoa>") == numbers
        assert articles_of(f'{{"prediction": "{article_list}"}}'.replace("\n", "、")) == numbers
    assert articles_of(f"{heading}{article.format(133)}之一") is None
    assert articles_of(f"{heading}{article.format(234)}、第2") is None


@pytest.mark.parametrize("labels", LABEL_SETS)
def test_a_label_at_the_end_of_a_reply_that_was_cut_off_is_not_read(
    labels: tuple[str, ...],
) -> None:
    for label in labels:
        for reply in (label, f"The answer is {label}", f"Reasons.\n\n{label}"):
            assert label_of(reply, labels) == label
            assert label_of(reply, labels, is_cut=True) is None
        assert label_of(f"{label}, because the rent was", labels, is_cut=True) == label
        assert label_of(f"{label}\n\nThe rent was", labels, is_cut=True) == label
    assert grade_of("7") == 7
    assert grade_of("7", is_cut=True) is None
    assert grade_of("7: it keeps to", is_cut=True) == 7


REASONING = [
    "The rent was paid late.", "Here {0} cites the lease.", "On the facts {0} is stronger.",
    "Is it {0} or {1}?",
    "The court below chose {0}.", "Perhaps {0}.", "There is no letter from the {0}.",
]  # fmt: skip
STATEMENTS = [
    "{0} is stronger.", "Therefore, {0} is right.", "Answer: {0}", "My final answer is {0}.",
    "[[{0}]]", "{0}, because of the letter.", "It is {0} rather than {1}.", "I would say {0}.",
    "On reflection the correct answer is {0}.", "Judgment for the {0}.", "正确答案：{0}", "{0}",
    "{0} has the better case.", "I predict {0}.", r"\boxed{{{0}}}", "**Verdict**: {0}",
]  # fmt: skip


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    labels = draw(st.sampled_from(LABEL_SETS))
    sentences = draw(st.lists(st.sampled_from(REASONING), max_size=4))
    sentences += draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=2))
    sentences += draw(st.lists(st.sampled_from(REASONING), max_size=2))
    filled_sentences = [sentence.format(*draw(st.permutations(labels))) for sentence in sentences]
    return draw(st.sampled_from([" ", "\n", "\n\n"])).join(filled_sentences), labels


@given(replies())
@settings(max_examples=400, derandomize=True)
def test_no_answer_flips_when_a_reply_is_cut_at_60_percent(
    reply_and_labels: tuple[str, tuple[str, ...]],
) -> None:
    reply, labels = reply_and_labels
    full_label = label_of(reply, labels)
    cut = reply[: round(len(reply) * 0.6)]
    for part in (label_of(cut, labels), label_of(cut, labels, is_cut=True)):
        assert None in (full_label, part) or part == full_label, (reply, cut)


@pytest.mark.parametrize(
    ("labels", "rows"), [(("pro", "con", "neutral"), NASTY), (LABELS["stance_label"], NASTY[:300])]
)
def test_nasty_replies_do_not_change_their_answer_if_cut(
    labels: tuple[str, ...], rows: list[dict[str, Any]]
) -> None:
    def check_cut_reply(row: dict[str, Any]) -> None:
        reply = row["reply"]
        full_label = label_of(reply, labels)
        part = label_of(reply[: round(len(reply) * 0.6)], labels)
        assert None in (full_label, part) or part == full_label

    check_each(rows, check_cut_reply)
