"""Read the prompts that the papers print from extracts of the papers, which moot does not ship."""

import re
import shutil
from pathlib import Path

SHIPPED = Path(__file__).resolve().parents[2] / "config" / "prompts_published"


def copy_with_words(folder: str, words: dict[str, str], parent: Path) -> Path:
    """Copy a shipped folder of prompts and add the words of the paper."""
    target = shutil.copytree(
        SHIPPED / folder, parent / folder, ignore=shutil.ignore_patterns("words")
    )
    for name, text in words.items():
        path = target / "words" / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return target


def printed_prompts(papers: Path) -> dict[str, dict[str, str]]:
    """Return the text of each file in each folder of config/prompts_published.

    Slots are named as in its README.
    """
    rearrest = (papers / "agenticsimlaw-courtroom.txt").read_text("utf-8")
    appeals = (
        (papers / "appellate-panel-debate.txt").read_text("utf-8").partition("PROMPT STRUCTURES")[2]
    )
    extract = (papers / "debate-feedback.txt").read_text("utf-8").partition("1. Initial Step")[2]
    judgments = " ".join(re.sub(r"</?p>", "", extract).split())
    persona = text_between(rearrest, "prompt_persona: |", "system1: |")
    with_shots = text_between(rearrest, "cot-nshot: |", "Appendix B").replace("```", "")
    labels = "[\\Plaintiff wins\\,\\Defendant wins\\]"
    initial = (
        text_between(judgments, "# input:", "The case, ").replace(labels, "{labels}")
        + "{background}"
    )
    first_speech = text_between(judgments.partition("Debater 2")[2], "# input:", "...").replace(
        labels, "{labels}"
    )
    rebuttal = text_between(judgments, "# input Now", "...")
    final = text_between(judgments, "from Step 1}", "[\\In the case")
    panel_round = text_between(appeals, "[Insert case facts]", "Phase 2")
    script = text_between(appeals, "Phase 1: Synthetic Debate", "[Insert")
    seats = (
        text_between(appeals, "Phase 2: Multiagent Debate", "[Insert"),
        text_between(appeals, "AI Debate", "[Insert"),
    )
    later_round = strip_quotes(panel_round).partition(".")[0] + "."
    return {
        "agenticsimlaw/zero_shot": {
            "persona": persona,
            "system1": text_between(rearrest, "system1: |", "  cot: |"),
        },
        "agenticsimlaw/cot": {
            "persona": persona,
            "cot": text_between(rearrest, "  cot: |", "  cot-nshot: |"),
        },
        "agenticsimlaw/n_shot_cot": {"persona": persona, "cot-nshot": with_shots},
        "triem/synthetic_panel": {
            "instructions": strip_quotes(script),
            "round": strip_quotes(panel_round),
        },
        "triem/panel": {"instructions": strip_quotes(seats[0]), "round": later_round},
        "triem/human_panel": {"instructions": strip_quotes(seats[1]), "round": later_round},
        "debate_feedback/zero_shot": {"initial": initial},
        "debate_feedback/feedback": {
            "initial": initial,
            "opening": first_speech + "{background}",
            "rebuttal": f"Now{rebuttal}{{opinions}}",
            "final": final + "{summary} {reliability}",
        },
    }


def text_between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


def strip_quotes(text: str) -> str:
    """Remove the quotation marks of Triem's prompts, and write their slots as moot does."""
    words = " ".join(text.split()).strip("“” ")
    return words.replace("[x]", "{judge}").replace("[n]", "{round}")
