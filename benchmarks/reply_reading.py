"""Count how replies are read: right, asked again, or misread.

python benchmarks/run.py reply_reading.py             prints all tables
python benchmarks/run.py reply_reading.py --write     writes the table of natural replies into the
                                                      page docs/faults.md

Natural replies are made here: forms in which models state a label, and forms that state none, for
17 sets of labels. Real replies and cases are read from `../shared`, where it exists: of many
public models, each with the label that its authors read.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, create_model

from moot.core.cases import Task
from moot.llm.parsing.replies import parse_label, parse_reply
from moot.protocols.reply_schemas import prediction_schema
from moot.studies.conference.forms import Grade

PROJECT = Path(__file__).resolve().parents[1]
PAGE = PROJECT / "docs" / "faults.md"
SHARED = PROJECT.parent / "shared"
MARKS = ("<!-- written by benchmarks/reply_reading.py -->\n", "<!-- end -->\n")
OUTCOMES = ("right", "asked again", "misread")
COUNT, SEED = 7_200, 7

LABEL_SETS: tuple[tuple[str, ...], ...] = (
    ("NO", "YES"),
    ("GUILTY", "NOT GUILTY"),
    ("AFFIRM", "NOT AFFIRM", "REMAND"),
    ("PLAINTIFF", "DEFENDANT"),
    ("PRO", "CON", "NEUTRAL"),
    ("A", "B", "C", "D"),
    ("1", "2", "3", "4", "5"),
    ("WON", "LOST"),
    ("TRUE", "FALSE"),
    ("SUPPORTED", "NOT SUPPORTED", "NOT ENOUGH INFO"),
    ("VIOLATION", "NO VIOLATION"),
    ("AGREEMENT", "MORE DEBATE"),
    ("KEEP", "REMOVE"),
    ("POSITIVE", "NEGATIVE", "MIXED"),
    ("是", "否"),
    ("支持", "反对"),
    ("盗窃", "诈骗", "抢夺"),
)
REASONS = (
    "The notice came two weeks late and the deposit was never returned.",
    "Two witnesses saw the van leave, and the receipt was not disputed.",
    "The text weighs cost against benefit. It never mentions the tram again.",
    "If he had paid in May, things might look different. He had no money left.",
)
STATEMENTS = (
    *("{0}", "{0}.", "**{0}**", "# {0}", '"{0}"', "- {0}", "({0})", "{0}!", "`{0}`", "{0}</s>"),
    *("{0}. {why}", "{0}: {why}", "{0}\n\n{why}", "**{0}**\n{why}", "{0} because {why}"),
    *("Answer: {0}", "**Answer:** {0}", "The answer is {0}.", "Final answer: **{0}**"),
    *("My verdict is {0}. {why}", "Verdict: {0}\n{why}", "The final decision is: {0}"),
    *("Prediction: {0}", "[[{0}]]", "{why} [[{0}]]", "{why}\n\n\\boxed{{\\text{{{0}}}}}"),
    *("{why}\n\n{0}", "{why}\n{0}.", "{why} Therefore, the answer is {0}.", "{why}\nLabel: {0}"),
    *("I considered {1}. {why} The answer is {0}.", "The answer is {0}, since {why}"),
    *("<think>It may be {1}.</think>{0}", "<think>{1}? No.</think>\nAnswer: {0}"),
    *('{{"prediction": "{0}"}}', "In my view the right label is {0}.", "On balance, {0}."),
    *("{why} The stance of the text is {0}.", "The answer ({0} or {1}) is {0}."),
    *("I'd go with {0}.", "I vote {0}.", "{why} Hence: {0}", "<answer>{0}</answer>", "Result: {0}"),
    *("### Final Answer\n{0}", "{why} So the prediction is **{0}**.", "{0}\nConfidence: 80"),
    *("{0}, with little doubt.", "{why}\n---\n{0}", "Sure! The answer is {0}.", "Thus, {0}."),
    *("The ruling is {0}.", "Thus, {0} is right.", "The best choice here is {0}.", "Choice: {0}"),
)
UNDECIDED = (
    *("{0} or {1}", "It is {0}, or {1}.", "Either {0} or {1}.", "The answer is {0} or {1}."),
    *("Answer: {0}/{1}", "It could be {0}.", "If the facts hold, {0}; otherwise {1}."),
    *("If he is right, the answer is {0}.", "I cannot say whether it is {0}.", "Not {0}."),
    *("It is not {0}.", "The answer is not {0}.", "Neither {0} nor {1}.", "Unclear. {why}"),
    *("I cannot decide this case.", "{0}: it is late.\n{1}: it is early.", "{0}) late\n{1}) early"),
    *("Possible answers: {0}, {1}.", "Answer with one word: {0} or {1}.", "{0} / {1}"),
    *("Answer: {0}\nAnswer: {1}", "The answer is {0}. On reflection, the answer is {1}."),
    *("{0}. But {1} is as good.", "Is it {0}?", "Maybe {0}? I am not sure.", "<think>{0}"),
    *("One side asks for {0}, the other for {1}.", "{0} and {1} are both possible."),
    *("It might be {0}, but the evidence is thin.", "Unless the lease ended, {0}.", "[ ] {0}"),
    *("I would say {0} only if he paid.", "The answer is neither {0} nor {1}.", "{why}"),
    *("Verdict: {0}\n\n{why}\nVerdict: {1}", "[[{0}]] or [[{1}]]", "It is hard to call it {0}."),
    *("It is hardly {0}.", "Far from {0}.", "Perhaps {0}.", "It fails to be {0}.", "Hardly {0}."),
    *("This rules out {0}.", "They asked us to find {0}.", "The lower court said {0}."),
    *("Let me think about {0} first.", "The answer is anything but {0}.", "In no way {0}."),
    *("The answer was thought to be {0}, yet that is mistaken.", "{0}? Hardly.", "Both."),
    *("There is no reason to say {0}.", "Assuming that she paid, {0}.", "50% {0}, 50% {1}."),
    *("Whether the answer is {0} depends on the log.", "The verdict should not be {0}."),
    *("The answer is {0}. Wait, no, it is {1}.", "{0} seems tempting, but it is wrong."),
    *("He claims that the answer is {0}.", "He claims the answer is {0}.", "He says it is {0}."),
    *("Had the notice come, {0}.", "I lack the facts to say {0}.", "I hesitate to say {0}."),
    *("{0} is what the other side wants.", "I ask that you answer {0}.", "I can rule out {0}."),
    *("My colleague's answer is {0}.", "In the first vote my verdict was {0}.", "{0} was denied."),
    *("In the dissent's view it is {0}.", "With more evidence, {0}.", "The gold label was {0}."),
)
DENIALS = ("Not {0}.", "It is not {0}.", "The answer is not {0}.")
"""Forms that state "NOT GUILTY" where that is a label, and otherwise nothing."""
CHINESE_REASONS = (
    "被告迟交了两周。",
    "证人看到货车离开。",
    "原告没有提交收据。",
    "如果他付了钱，就不会有争议。",
)
CHINESE_STATED = (
    *("{0}", "{0}。", "**{0}**", "【{0}】", "答案：{0}", "答案是{0}。", "正确答案：{0}。{why}"),
    *(
        "[答案]{0}",
        "{why}因此答案为{0}。",
        "结论：{0}",
        "判决：{0}。{why}",
        "{why}\n{0}",
        "{0}。{why}",
    ),
    *("{why}\n类别：{0}", "最终答案是：{0}。", "<think>可能是{1}。</think>{0}", "预测：{0}"),
    *("{0}，因为{why}", "[[{0}]]", "{why}[[{0}]]", "{0}：{why}", "答案（{0}或{1}）：{0}"),
    *("我的回答是{0}。", "判决结果：{0}", "{why}所以答案是{0}。", "<answer>{0}</answer>"),
)
CHINESE_UNDECIDED = (
    *(
        "{0}或{1}",
        "可能是{0}。",
        "不是{0}。",
        "答案不是{0}。",
        "既不是{0}，也不是{1}。",
        "无法判断。",
    ),
    *("如果他付了钱，答案是{0}。", "答案是{0}或者{1}。", "{0}：迟交。\n{1}：未迟交。", "{why}"),
    *("很难说是{0}。", "并非{0}。", "未必{0}。", "谈不上{0}。", "{0}还是{1}？", "也许{0}。"),
    *("答案：{0}\n答案：{1}", "是否应为{0}，难以判断。", "请回答{0}或{1}。", "答案：{0}、{1}"),
)


def natural_replies() -> list[tuple[tuple[str, ...], str, str | None]]:
    """Return the labels, the reply and the label that it states (None for none) of each reply."""
    replies = []
    for labels in LABEL_SETS:
        is_chinese = not labels[0].isascii()
        statement_set = CHINESE_STATED if is_chinese else STATEMENTS
        undecided = CHINESE_UNDECIDED if is_chinese else UNDECIDED
        reasons = CHINESE_REASONS if is_chinese else REASONS
        for form in (*statement_set, *undecided):
            for position, label in enumerate(labels):
                second = labels[(position + 1) % len(labels)]
                right_count = label if form in statement_set else None
                if form in DENIALS and f"NOT {label}" in labels:
                    right_count = f"NOT {label}"
                texts = [form.format(label, second, why=reason) for reason in reasons]
                replies += [(labels, text, right_count) for text in texts]
    return random.Random(SEED).sample(sorted(replies, key=str), COUNT)


def outcome(value: object, right_count: object) -> str:
    """Return the outcome of a reading, one of `OUTCOMES`."""
    if value == right_count:
        return "right"
    return "asked again" if value is None else "misread"


@cache
def count_natural() -> dict[tuple[str, ...], Counter[str]]:
    """Count the natural replies with each outcome by set of labels."""
    counts: dict[tuple[str, ...], Counter[str]] = {labels: Counter() for labels in LABEL_SETS}
    for labels, reply, right_count in natural_replies():
        value = (parse_label(reply, labels).value or {}).get("prediction")
        counts[labels][outcome(value, right_count)] += 1
    return counts


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of JSON lines; none without the file."""
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def count_real() -> dict[str, Counter[str]]:
    """Count public replies by source: agree, contradict, asked again, and those without a label."""
    form = prediction_schema(Task("case", "Did he?", ("no", "yes")))
    counts: dict[str, Counter[str]] = {}
    for row in read_lines(SHARED / "data" / "real_replies.jsonl"):
        is_object = row["kind"] == "json"
        parsed = (
            parse_reply(row["reply"], form)
            if is_object
            else parse_label(row["reply"], row["labels"])
        )
        value, right_count = (parsed.value or {}).get("prediction"), row["authors_reading"]
        if right_count is None:
            kind = "authors read none, asked again" if value is None else "authors read none, read"
        else:
            kind = {"right": "agree", "misread": "contradict"}.get(
                outcome(value, right_count), "asked again"
            )
        counts.setdefault(row["source"], Counter())[kind] += 1
    return counts


def form_of_case(row: dict[str, Any]) -> type[BaseModel]:
    """Return the schema of a case, whose first field is the answer."""
    if row["form"].startswith("grade"):
        return create_model("Form", grade=Grade.__annotations__["grade"])
    if row["form"].startswith("YES/NO"):
        return create_model("Form", conclusion=Literal["NO", "YES"])
    is_article = row["form"] == "list of articles"
    labels = tuple(map(str, range(1, 453))) if is_article else tuple(row["labels"])
    return prediction_schema(Task("case", "Which?", labels, multilabel=True))


def count_cases() -> Counter[str]:
    """Count the cases of replies with each outcome."""
    counts = Counter[str]()
    for row in read_lines(SHARED / "cases" / "replies" / "cases.jsonl"):
        if row["form"] == "bare label":
            parsed = parse_label(row["reply"], row["labels"])
        else:
            parsed = parse_reply(row["reply"], form_of_case(row))
        value = next(iter((parsed.value or {"": None}).values()))
        counts[outcome(value, row["right"])] += 1
    return counts


def render_section() -> str:
    """Return the table of natural replies as Markdown."""
    counts = count_natural()
    lines = [f"| labels | {' | '.join(OUTCOMES)} |", "|---|" + "--:|" * len(OUTCOMES)]
    lines += [render_row(", ".join(labels), counts[labels]) for labels in LABEL_SETS]
    lines.append(render_row(f"**all {COUNT:,}**", sum(counts.values(), Counter[str]())))
    return "\n".join(lines) + "\n"


def render_row(title: str, counts: Counter[str]) -> str:
    """Return a row of the table: the number of replies with each outcome."""
    return f"| {title} | {' | '.join(str(counts[name]) for name in OUTCOMES)} |"


def replace_section(page: str) -> str:
    """Return a page with a new section between its marks."""
    start, end = MARKS
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{start}\n{render_section()}\n{end}", page)


def print_tables() -> None:
    """Print all tables."""
    print(render_section())
    real = count_real()
    total = sum(real.values(), Counter[str]())
    kinds = sorted(total)
    for source, counts in [*real.items(), ("all", total)]:
        print(f"{source}: {', '.join(f'{kind} {counts[kind]}' for kind in kinds)}")
    print(f"cases: {', '.join(f'{name} {count}' for name, count in count_cases().items())}")


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(replace_section(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print_tables()
