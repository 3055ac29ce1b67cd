"""A run repeats the paper if its prompts have exactly the paper's words in moot's templates."""

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from changed_plans import make_plan
from messages import refusal
from moot.core.cases import Case
from moot.core.shipped_files import prompt_folders
from moot.llm.prompts import Prompts, fill
from moot.llm.request import Request
from moot.papers.paper_prompts import write_prompts
from moot.papers.wording import CODE_WORDING, OTHER_WORDING, Wordings, words_digest
from moot.plan.papers_of_run import compare_with_papers
from moot.report.study_results import PaperMatch
from moot.studies.appellate.data_opinions import TASK as APPEAL
from printed_prompts import SHIPPED, copy_with_words, printed_prompts
from results_on_disk import REARREST
from scripted_model import PROJECT, WINNER, hold, request_text

RUNS = {
    "agenticsimlaw/zero_shot": ("paper-zero-shot", "gemma-2"),
    "agenticsimlaw/cot": ("paper-cot", "gemma-2"),
    "agenticsimlaw/n_shot_cot": ("paper-n-shot-cot", "gemma-2"),
    "triem/synthetic_panel": ("paper-synthetic-panel", "gpt-3.5-turbo"),
    "triem/panel": ("paper-multiagent-panel", "gpt-3.5-turbo"),
    "triem/human_panel": ("paper-human-ai-panel", "gpt-3.5-turbo"),
    "debate_feedback/zero_shot": ("paper-gpt-caselaw", "gpt-4o"),
    "debate_feedback/feedback": ("paper-feedback-single-caselaw", "gpt-4o"),
}


def match_with_paper(folder: str, prompts: Path | str) -> PaperMatch:
    experiment, model = RUNS[folder]
    plan = make_plan({"experiments": {experiment: {"prompts": str(prompts)}}}, paper=True)
    return compare_with_papers(plan).run(experiment, model)


@pytest.mark.parametrize("folder", RUNS)
def test_the_papers_words_repeat_the_paper_and_changed_words_do_not(
    folder: str, papers: Path, tmp_path: Path
) -> None:
    words = printed_prompts(papers)[folder]
    match = match_with_paper(folder, copy_with_words(folder, words, tmp_path / "typed"))
    assert RUNS[folder][0] in match.repeats
    if folder.startswith("triem/"):
        assert match.our_wording, "facts and scripts stay moot's own"
    else:
        assert not match.our_wording
    name = max(words, key=lambda name: len(words[name]))
    broken = {**words, name: re.sub(r"\s+", "\n", words[name])}
    broken_folder = copy_with_words(folder, broken, tmp_path / "broken")
    assert match_with_paper(folder, broken_folder).repeats == match.repeats
    changed = {**words, name: words[name].replace("our ", "our own ", 1).replace("You ", "We ", 1)}
    assert changed != words
    match = match_with_paper(folder, copy_with_words(folder, changed, tmp_path / "changed"))
    assert match.repeats == () and match.wording.startswith(OTHER_WORDING)


PAPERS = {
    "agenticsimlaw": "agenticsimlaw-courtroom.txt",
    "triem": "appellate-panel-debate.txt",
    "debate_feedback": "debate-feedback.txt",
}


@pytest.mark.parametrize("paper", PAPERS)
def test_words_that_are_read_from_a_paper_repeat_it(
    paper: str, papers: Path, tmp_path: Path
) -> None:
    write_prompts(str(papers / PAPERS[paper]), PROJECT, tmp_path)
    folders = [folder for folder in RUNS if folder.startswith(f"{paper}/")]
    printed = printed_prompts(papers)
    for folder in folders:
        assert RUNS[folder][0] in match_with_paper(folder, tmp_path / folder).repeats
        for name, words in printed[folder].items():
            text = (tmp_path / folder / "words" / f"{name}.txt").read_text("utf-8")
            assert words_digest(text) == words_digest(words)
    assert {path.parts[-2:] for path in tmp_path.glob("*/*")} == {
        tuple(folder.split("/")) for folder in folders
    }


def test_the_words_of_the_authors_code_repeat_the_paper(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    shutil.copytree(PROJECT / "config", shipped / "config")
    shutil.copytree(PROJECT / "data" / "published", shipped / "data" / "published")
    table = shipped / "data/published/prompts_code.csv"
    rows = pd.read_csv(table, dtype=str, keep_default_na=False)
    texts = {}
    for file, slots in zip(rows["file"], rows["slots"], strict=True):
        texts[file] = re.sub(r"(\w+)", r"{\1}", slots) or f"Words of {file}."
    rows["sha256"] = [words_digest(texts[file]) for file in rows["file"]]
    rows.to_csv(table, index=False)
    folder = "agenticsimlaw_code/courtroom"
    words = {Path(file).stem: text for file, text in texts.items()}
    wordings = Wordings(shipped)
    ours = Prompts(*prompt_folders(PROJECT))

    def classify(name: str) -> str:
        prompts = ours.overlaid(copy_with_words(folder, words, tmp_path / name), "courtroom/")
        return wordings.classify(prompts, "courtroom", "nlsy97", "courtroom/")

    assert classify("typed") == CODE_WORDING
    words["rules"] += " And brief."
    assert classify("changed") == OTHER_WORDING


def test_words_in_another_template_are_another_wording(papers: Path, tmp_path: Path) -> None:
    folder = "agenticsimlaw/zero_shot"
    target = copy_with_words(folder, printed_prompts(papers)[folder], tmp_path)
    template = target / "prompting" / "zero_shot.jinja"
    template.write_text(template.read_text("utf-8") + "\nBe brief.")
    assert match_with_paper(folder, target).wording == OTHER_WORDING


def test_moots_own_wording_is_reported() -> None:
    match = match_with_paper("agenticsimlaw/zero_shot", "")
    assert "paper-zero-shot" in match.repeats and match.our_wording


def test_missing_words_are_an_error() -> None:
    with refusal():
        match_with_paper("agenticsimlaw/cot", SHIPPED / "agenticsimlaw/cot")


def test_a_missing_slot_is_an_error_and_braces_in_a_case_stay() -> None:
    assert fill('{a} {"b": 1}', a="{b}") == '{b} {"b": 1}'
    with refusal():
        fill("Decide.", a="x")


# Prompts that are sent


CASE = Case("c1", "toy", "test", "Facts of {labels}.", "affirm", APPEAL.labels, {}, 5)


def prompt_words(request: Request) -> str:
    """Return the words of a request with single spaces."""
    return " ".join(request_text(request).split())


def contains_all(text: str, parts: list[str]) -> bool:
    """Return whether a text contains all the parts."""
    return all(part in text for part in parts)


def reply_to_any(request: Request) -> Any:
    """Return a reply that answers every request."""
    if request.choices:
        return dict.fromkeys(request.choices, -1.0)
    return "I would affirm. I predict YES. Plaintiff wins. Confidence: 70"


@pytest.mark.parametrize(
    ("folder", "task", "case", "params"),
    [
        (
            "agenticsimlaw/n_shot_cot",
            REARREST,
            Case("c1", "t", "test", "sex is male", "yes", ("no", "yes")),
            {"shots": 1},
        ),
        ("triem/synthetic_panel", APPEAL, CASE, {}),
        (
            "debate_feedback/feedback",
            WINNER,
            Case("c1", "t", "test", "A sold B a {x}.", "plaintiff", WINNER.labels),
            {},
        ),
    ],
)
async def test_the_papers_words_are_sent(
    folder: str, task: Any, case: Case, params: dict[str, Any], papers: Path, tmp_path: Path
) -> None:
    words = printed_prompts(papers)[folder]
    shots = [Case("c2", "t", "train", "sex is female", "no", ("no", "yes"))]
    _, _, model = await hold(
        folder.partition("/")[2],
        case,
        task,
        reply_to_any,
        shots,
        wording=copy_with_words(folder, words, tmp_path),
        **params,
    )
    prompts = [prompt_words(request) for request in model.requests]
    for text in words.values():
        parts = [" ".join(part.split()) for part in re.split(r"\{\w+\}", text)]
        assert any(contains_all(prompt, parts) for prompt in prompts), text
    assert any(case.text in prompt for prompt in prompts)
    assert not any(
        re.search(r"\{(judge|round|background|opinions|summary|risk_factors)\}", prompt)
        for prompt in prompts
    )
