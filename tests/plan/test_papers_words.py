"""A run counts as the paper's if its prompts have the paper's words, to the word, in moot's
templates around them.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.commands.paper_prompts import write_prompts
from moot.core.cases import Case
from moot.core.errors import UserError
from moot.core.shipped_files import prompt_folders
from moot.llm.prompts import Prompts, fill
from moot.llm.request import Request
from moot.plan.as_published import compare_with_papers, paper_plan
from moot.plan.wording import OTHER_WORDING, PAPER_WORDING, Wordings, words_digest
from moot.report import TABLES
from moot.report.content import PaperMatch
from moot.report.published import OUR_WORDING
from moot.report.tables import notes_under
from moot.studies.appellate import tables
from moot.studies.appellate import tables_beyond as beyond
from moot.studies.appellate.data_opinions import TASK as APPEAL
from printed_prompts import printed_prompts
from results_on_disk import REARREST
from scripted_model import PROJECT, WINNER, hold
from shown_values import differences
from uniform_scores import STUDIES, make_plan, make_study, unanimous_phases

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
SHIPPED = PROJECT / "config" / "prompts_published"


@pytest.fixture
def papers(shared_data: Path) -> Path:
    folder = shared_data.parent / "papers"
    if not folder.is_dir():
        pytest.skip(f"no extracts of the papers at {folder}")
    return folder


def typed(folder: str, words: dict[str, str], to: Path) -> Path:
    """A copy of a shipped folder with words typed into it."""
    copied = shutil.copytree(SHIPPED / folder, to / folder, ignore=shutil.ignore_patterns("words"))
    for name, text in words.items():
        path = copied / "words" / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return copied


def compare(folder: str, prompts: Path | str) -> PaperMatch:
    experiment, model = RUNS[folder]
    plan = make_plan({"experiments": {experiment: {"prompts": str(prompts)}}}, paper=True)
    return compare_with_papers(plan).run(experiment, model)


@pytest.mark.parametrize("folder", RUNS)
def test_the_papers_words_count_as_the_papers_and_one_other_word_does_not(
    folder: str, papers: Path, tmp_path: Path
) -> None:
    words = printed_prompts(papers)[folder]
    found = compare(folder, typed(folder, words, tmp_path / "typed"))
    assert RUNS[folder][0] in found.repeats
    if folder.startswith("triem/"):
        assert found.our_wording, "facts and scripts stay moot's own"
        assert not [text for text in found.departures if "simulated for research" in text]
        assert ["facts" in found.departures[0], "scripts" in found.departures[-1]] == [
            True,
            folder == "triem/human_panel",
        ]
    else:
        assert (found.our_wording, found.departures) == (False, ())
    name = max(words, key=lambda name: len(words[name]))
    broken = {**words, name: re.sub(r"\s+", "\n", words[name])}
    assert compare(folder, typed(folder, broken, tmp_path / "broken")).repeats == found.repeats
    changed = {**words, name: words[name].replace("our ", "our own ", 1).replace("You ", "We ", 1)}
    assert changed != words
    found = compare(folder, typed(folder, changed, tmp_path / "changed"))
    assert (found.repeats, found.difference) == ((), "another wording of prompts")


PAPERS = {
    "agenticsimlaw": "agenticsimlaw-courtroom.txt",
    "triem": "appellate-panel-debate.txt",
    "debate_feedback": "debate-feedback.txt",
}


@pytest.mark.parametrize("paper", PAPERS)
def test_words_that_are_taken_from_a_paper_count_as_the_papers(
    paper: str, papers: Path, tmp_path: Path
) -> None:
    write_prompts(str(papers / PAPERS[paper]), PROJECT, tmp_path)
    folders = [folder for folder in RUNS if folder.startswith(f"{paper}/")]
    printed = printed_prompts(papers)
    for folder in folders:
        assert RUNS[folder][0] in compare(folder, tmp_path / folder).repeats
        for name, words in printed[folder].items():
            text = (tmp_path / folder / "words" / f"{name}.txt").read_text("utf-8")
            assert words_digest(text) == words_digest(words)
    assert {path.parts[-2:] for path in tmp_path.glob("*/*")} == {
        tuple(folder.split("/")) for folder in folders
    }


def test_heller_prints_no_prompts(papers: Path, tmp_path: Path) -> None:
    message = write_prompts(
        str(papers / "decision-conference-agreement.txt"), PROJECT, tmp_path / "out"
    )
    assert "Finding Common Ground" in message and "prints no prompts" in message
    assert not (tmp_path / "out").exists()


def test_the_words_of_the_authors_code_count_as_the_papers(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    shutil.copytree(PROJECT / "config", shipped / "config")
    shutil.copytree(PROJECT / "data" / "published", shipped / "data" / "published")
    table = shipped / "data/published/prompts_code.csv"
    rows = pd.read_csv(table, dtype=str, keep_default_na=False)
    texts = {
        file: " ".join(f"{{{slot}}}" for slot in slots.split()) or f"Words of {file}."
        for file, slots in zip(rows["file"], rows["slots"], strict=True)
    }
    rows["sha256"] = [words_digest(texts[file]) for file in rows["file"]]
    rows.to_csv(table, index=False)
    folder = "agenticsimlaw_code/courtroom"
    words = {Path(file).stem: text for file, text in texts.items()}
    wordings = Wordings(shipped)
    ours = Prompts(*prompt_folders(PROJECT))

    def classify(name: str) -> str:
        prompts = ours.overlaid(typed(folder, words, tmp_path / name), "courtroom/")
        return wordings.classify(prompts, "courtroom", "nlsy97", "courtroom/")

    assert classify("typed") == PAPER_WORDING
    words["rules"] += " And brief."
    assert classify("changed") == OTHER_WORDING


def test_words_in_another_template_are_another_wording(papers: Path, tmp_path: Path) -> None:
    folder = "agenticsimlaw/zero_shot"
    copied = typed(folder, printed_prompts(papers)[folder], tmp_path)
    template = copied / "prompting" / "zero_shot.jinja"
    template.write_text(template.read_text("utf-8") + "\nBe brief.")
    assert compare(folder, copied).difference == "another wording of prompts"


def test_moots_own_wording_is_said_with_what_matters() -> None:
    found = compare("agenticsimlaw/zero_shot", "")
    assert "paper-zero-shot" in found.repeats and found.our_wording
    assert any("names no rearrest" in said for said in found.departures)
    courtroom = compare_with_papers(make_plan(paper=True)).run("paper-courtroom", "gemma-2")
    assert courtroom.departures[0] == "The paper prints no prompts of this protocol on these data."


def test_words_that_are_not_typed_are_named() -> None:
    with pytest.raises(
        UserError, match=r"words/\w+\.txt: not found; type the paper's words into it"
    ):
        compare("agenticsimlaw/cot", SHIPPED / "agenticsimlaw/cot")


def test_a_slot_that_is_not_typed_is_named_and_slots_of_a_case_stay() -> None:
    assert fill('{a} {"b": 1}', a="{b}") == '{b} {"b": 1}'
    with pytest.raises(UserError, match=r"no \{a\} in the words 'Decide\.'"):
        fill("Decide.", a="x")


def test_every_prompt_of_the_papers_has_its_digest_and_every_departure_a_run(papers: Path) -> None:
    known = Wordings(PROJECT)
    for folder, words in printed_prompts(papers).items():
        (printed,) = [
            found
            for (protocol, data), found in known.printed.items()
            if protocol == folder.partition("/")[2]
            and (data == "caselaw") == folder.startswith("debate_feedback")
        ]
        assert {
            f"words/{name}.txt": words_digest(text) for name, text in words.items()
        } == printed.words
        assert printed.templates
    plan = paper_plan(PROJECT)
    ran = {
        (run.config.protocol, plan.datasets[run.config.dataset].loader or run.config.dataset)
        for run in plan.experiments.values()
    }
    assert set(known._departures) <= ran


# What is sent


CASE = Case("c1", "toy", "test", "Facts of {labels}.", "affirm", APPEAL.labels, {}, 5)


def sent(request: Request) -> str:
    return " ".join("\n".join(message.content for message in request.messages).split())


def anything(request: Request) -> Any:
    if request.choices:
        return dict.fromkeys(request.choices, -1.0)
    return "I would affirm. I predict YES. Plaintiff wins. Confidence: 70"


@pytest.mark.parametrize(
    ("folder", "task", "case", "params"),
    [
        (
            "agenticsimlaw/zero_shot",
            REARREST,
            Case("c1", "t", "test", "sex is male", "yes", ("no", "yes")),
            {},
        ),
        (
            "agenticsimlaw/n_shot_cot",
            REARREST,
            Case("c1", "t", "test", "sex is male", "yes", ("no", "yes")),
            {"shots": 1},
        ),
        ("triem/synthetic_panel", APPEAL, CASE, {}),
        ("triem/panel", APPEAL, CASE, {}),
        (
            "debate_feedback/feedback",
            WINNER,
            Case("c1", "t", "test", "A sold B a {x}.", "plaintiff", WINNER.labels),
            {},
        ),
    ],
)
async def test_the_papers_words_are_what_is_sent(
    folder: str, task: Any, case: Case, params: dict[str, Any], papers: Path, tmp_path: Path
) -> None:
    words = printed_prompts(papers)[folder]
    shots = [Case("c2", "t", "train", "sex is female", "no", ("no", "yes"))]
    _, _, model = await hold(
        folder.partition("/")[2],
        case,
        task,
        anything,
        shots,
        wording=typed(folder, words, tmp_path),
        **params,
    )
    asked = [sent(request) for request in model.requests]
    for text in words.values():
        parts = [" ".join(part.split()) for part in re.split(r"\{\w+\}", text)]
        assert any(all(part in prompt for part in parts) for prompt in asked), text
    assert any(case.text in prompt for prompt in asked)
    assert not any(
        re.search(r"\{(judge|round|background|opinions|summary|risk_factors)\}", prompt)
        for prompt in asked
    )


# What tables show of it


@pytest.mark.parametrize("study", STUDIES)
def test_differences_of_runs_in_moots_words_stand_in_a_column_of_their_own(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (tables, beyond):
        monkeypatch.setattr(module, "list_phases", unanimous_phases)
    plan = make_plan(paper=True)
    results = make_study(plan, study, tmp_path, compare_with_papers(plan))
    found = [(name, row) for name, row in differences(results) if OUR_WORDING in row]
    trained = ("trained", "trained on the training split")
    ours = [
        (name, row)
        for name, row in found
        if not {row.get("asked"), row.get("setting")} & set(trained)
    ]
    ours = [(name, row) for name, row in ours if name != "courtroom/table3_tabpfn"]
    assert ours
    for name, row in ours:
        assert np.isnan(row["difference"]), (name, row)
        gap = row[OUR_WORDING]
        assert gap == pytest.approx(
            row["ours" if "ours" in row else "total"]
            - row["published" if "published" in row else "published total"]
        )
        if row.get("published n", "unknown") != "unknown":
            assert row["difference low"] <= gap <= row["difference high"], (name, row)


def test_the_note_under_a_table_says_what_of_the_wording_matters(tmp_path: Path) -> None:
    plan = make_plan(paper=True)
    results = make_study(plan, "courtroom", tmp_path, compare_with_papers(plan))
    notes = " ".join(notes_under(TABLES["courtroom/table4_prompting"].build(results), results))
    assert (
        f"`{OUR_WORDING}`: the same difference for prompts, facts or scripts in our wording."
        in notes
    )
    assert re.search(
        r"paper-zero-shot[^:]*: The paper's prompt asks whether the risk factors indicate high"
        r" risk",
        notes,
    )
