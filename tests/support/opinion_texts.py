"""The text of a made-up opinion, with an ending of its own."""

CAPTION = (
    "ANNA BERG, Plaintiff, Appellee,\n\nv.\n\nNORTH MILL COMPANY, Defendant, Appellant.\n\nBefore"
    " Dorn, Chief Judge, Ilse and Korn, Circuit Judges.\n\nHans Vogel on brief for appellee.\n\n"
)
FACTS = (
    "Plaintiff Anna Berg worked at the mill of North Mill Company for ten years. In March she fell"
    " on a wet stair and broke her wrist. Berg told the foreman about the water on the stair. The"
    " foreman wrote her name into a book and sent her home. She sued the defendant in May."
)


def opinion(ending: str, *, opening_text: str = "", facts: str = FACTS) -> str:
    return (
        f"{CAPTION}Per Curiam. This is an appeal from a judgment. {opening_text}\n\n{facts}\n\n"
        f"DISCUSSION\n\n{'The rule is old, and it is plain. ' * 30}\n\n{ending}\n"
    )
