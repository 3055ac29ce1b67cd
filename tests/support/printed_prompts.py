"""The prompts that the papers print, read from extracts of the papers that do not come with
moot.
"""

import re
from pathlib import Path


def printed_prompts(papers: Path) -> dict[str, dict[str, str]]:
    """Folder of config/prompts_published to file name to words, slots as its README says."""
    rearrest = (papers / "agenticsimlaw-courtroom.txt").read_text("utf-8")
    appeals = (
        (papers / "appellate-panel-debate.txt").read_text("utf-8").partition("PROMPT STRUCTURES")[2]
    )
    extract = (papers / "debate-feedback.txt").read_text("utf-8").partition("1. Initial Step")[2]
    judgments = " ".join(re.sub(r"</?p>", "", extract).split())
    persona = between(rearrest, "prompt_persona: |", "system1: |")
    with_shots = between(rearrest, "cot-nshot: |", "Appendix B").replace("```", "")
    labels = "[\\Plaintiff wins\\,\\Defendant wins\\]"
    initial = (
        between(judgments, "# input:", "The case, ").replace(labels, "{labels}") + "{background}"
    )
    opening = between(judgments.partition("Debater 2")[2], "# input:", "...").replace(
        labels, "{labels}"
    )
    rebuttal = between(judgments, "# input Now", "...")
    final = between(judgments, "from Step 1}", "[\\In the case")
    told = between(appeals, "[Insert case facts]", "Phase 2")
    script = between(appeals, "Phase 1: Synthetic Debate", "[Insert")
    seats = (
        between(appeals, "Phase 2: Multiagent Debate", "[Insert"),
        between(appeals, "AI Debate", "[Insert"),
    )
    goes_on = unquoted(told).partition(".")[0] + "."
    return {
        "agenticsimlaw/zero_shot": {
            "persona": persona,
            "system1": between(rearrest, "system1: |", "  cot: |"),
        },
        "agenticsimlaw/cot": {
            "persona": persona,
            "cot": between(rearrest, "  cot: |", "  cot-nshot: |"),
        },
        "agenticsimlaw/n_shot_cot": {"persona": persona, "cot-nshot": with_shots},
        "triem/synthetic_panel": {"instructions": unquoted(script), "round": unquoted(told)},
        "triem/panel": {"instructions": unquoted(seats[0]), "round": goes_on},
        "triem/human_panel": {"instructions": unquoted(seats[1]), "round": goes_on},
        "debate_feedback/zero_shot": {"initial": initial},
        "debate_feedback/feedback": {
            "initial": initial,
            "opening": opening + "{background}",
            "rebuttal": f"Now{rebuttal}{{opinions}}",
            "final": final + "{summary} {reliability}",
        },
    }


def between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


def unquoted(text: str) -> str:
    """Triem's prompts, without quotation marks, with moot's slots."""
    return " ".join(text.split()).strip("“” ").replace("[x]", "{judge}").replace("[n]", "{round}")
