"""Debates in the form of the published tournament, all invented: transcripts and judgment pages."""

from pathlib import Path

PARTS = ("Opening", "Rebuttal 1", "Pressure Questions", "Rebuttal 2", "Closing")
NOTED = {"Ann": "CON’s first rebuttal on lamps", "Bo": "Side A on PRO's Rebuttal 2"}
NAMES = {"red-1": "Red One (high)", "blue-2": "Blue Two"}


def debate_id(topic: int, swapped: bool) -> str:
    pro, con = ("blue-2", "red-1") if swapped else ("red-1", "blue-2")
    return f"prop_{topic:04}__{pro}__{con}__s{int(swapped)}__tpl"


def transcript(topic: int, swapped: bool, pro_words: int = 30, con_words: int = 20) -> str:
    pro, con = ("blue-2", "red-1") if swapped else ("red-1", "blue-2")
    lines = [
        f"# Debate {debate_id(topic, swapped)}\n",
        f"- topic_id: prop_{topic:04}\n- proposition: Towns should light lamps ({topic}).",
        f"- model_pro: {pro}\n- model_con: {con}\n- side_swap: {swapped}\n",
    ]
    for number in range(1, 11):
        side, model, words = ("PRO", pro, pro_words) if number % 2 else ("CON", con, con_words)
        claim, cited = f"[{side[0]}{(number + 1) // 2}.1]", "[P1.1]" if number == 2 else ""
        lines.append(
            f"## Turn {number}: {side} {PARTS[(number - 1) // 2]}\n\n- model: {model}\n- raw_words:"
            f" {words}\n- clipped_words: {words}\n- claim_ids: {claim}\n- cited_claim_ids:"
            f" {cited or '(none)'}\n- missing_claim_id_refs: (none)\n\n{claim} Lamps. {cited}\n"
        )
    return "\n".join(lines)


def page(topic: int, wins: tuple[dict[str, str], dict[str, str]]) -> str:
    """A matchup: for each of its two debates the side that each judge names."""
    text = (
        "# Debate Matchup Judgment Report\n\n- side_swap_group_id:"
        f" `prop_{topic:04}__red-1__blue-2__tpl`\n"
    )
    for letter, swapped, verdicts in (("A", False, wins[0]), ("B", True, wins[1])):
        sides = {
            "pro": NAMES["blue-2" if swapped else "red-1"],
            "con": NAMES["red-1" if swapped else "blue-2"],
        }
        pro = sum(side == "pro" for side in verdicts.values())
        con = len(verdicts) - pro
        result = (
            f"Split `{pro}-{con}`."
            if pro == con
            else (
                f"Unanimous `{max(pro, con)}-{min(pro, con)}` for"
                f" **{sides['pro' if pro > con else 'con']}**."
            )
        )
        text += (
            f"\n## Debate {letter}\n\n- debate_id: `{debate_id(topic, swapped)}`\n- roles: PRO ="
            f" **{sides['pro']}**, CON = **{sides['con']}**\n- judged result: {result}\n\n| Judge |"
            " Winner | Signed Margin (PRO+) | Normalized | Entertainment |\n| --- | --- | ---: |"
            " ---: | ---: |\n"
        )
        for judge, side in verdicts.items():
            margin = "+1.5" if side == "pro" else "-1.5"
            text += f"| {judge} | {sides[side]} | {margin} | {margin} | 7.0 |\n"
        text += "\n### Judge Notes\n\n" + "".join(
            f"- **{judge}**: Because.\n  Most decisive rebuttal noted:"
            f" {NOTED.get(judge, 'B on lamps')}.\n"
            for judge in verdicts
        )
    return text


def write(folder: Path, topics: int = 8) -> Path:
    """Ann always names PRO;
    Bo names Red One. Where the number of a topic is odd, CON uses more words.
    """
    place = folder / "recorded" / "debate_tournament"
    for name in ("transcripts", "judgments"):
        (place / name).mkdir(parents=True)
    for topic in range(topics):
        for swapped in (False, True):
            words = (20, 30) if topic % 2 else (30, 20)
            text = transcript(topic, swapped, *words)
            (place / "transcripts" / f"{debate_id(topic, swapped)}.md").write_text(text)
        verdicts = ({"Ann": "pro", "Bo": "pro"}, {"Ann": "pro", "Bo": "con"})
        (place / "judgments" / f"matchup-judgment-prop_{topic:04}-red-vs-blue.md").write_text(
            page(topic, verdicts)
        )
    return place
