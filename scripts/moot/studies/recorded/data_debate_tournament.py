"""A tournament of debates between models, read from its published transcripts and judgment pages
(lechmazur/debate).

Two models argue a proposition in ten turns, and again with sides exchanged; each debate has one to
four judges, who name a winner and a signed margin. A case is one debate. No truth is known: what is
asked is what decides who wins. Transcripts and pages are checked against each other. No licence is
visible: nothing of it ships with moot.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal
from zipfile import BadZipFile, ZipFile, ZipInfo

from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.input_files import quoted, read_text
from moot.core.kinds import CLOSING, OPENING, SPEECH, VERDICT
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.records import JUDGES, FaultyShare, RecordedDebate, RecordedUtterance, leave_out

PLACE, METHOD = "recorded/debate_tournament", "tournament"
PRO, CON, SAME = "pro", "con", "same"
TASK = Task(
    noun="the proposition",
    question="Which side argued better?",
    labels=(CON, PRO),
    positive=PRO,
    meaning={
        PRO: "the side for the proposition argued better",
        CON: "the side against the proposition argued better",
    },
    notes=("a tournament of debates between models (lechmazur/debate); no truth is known",),
    cluster="topic",
)
_PAGE, _TRANSCRIPT = re.compile(r"matchup-judgment-.*\.md"), re.compile(r"prop_.*__s[01]__.*\.md")
_FIELD, _TURN = re.compile(r"^- (\w+): (.*)$", re.MULTILINE), re.compile(r"^## Turn ", re.MULTILINE)
_HEADING, _CLAIM = re.compile(r"(\d+): (PRO|CON) (.+)"), re.compile(r"\[([PC]\d+\.\d+)\]")
_ROLES = re.compile(r"- roles: PRO = \*\*(.+)\*\*, CON = \*\*(.+)\*\*")
_VERDICT = re.compile(
    r"^\| (.+) \| (.+) \| ([+-][\d.]+) \| ([+-][\d.]+) \| ([\d.]+) \|$", re.MULTILINE
)
_NOTE = re.compile(r"^- \*\*(.+?)\*\*: (.+(?:\n  .+)*)", re.MULTILINE)
_DECISIVE = re.compile(
    r"Most decisive rebuttal noted:.{0,40}?\b(PRO|CON)['’]s "
    r"(opening|closing|pressure questions|rebuttal \d|(?:first|second) rebuttal)\b",
    re.IGNORECASE,
)
_AS_HEADED = {"first rebuttal": "rebuttal 1", "second rebuttal": "rebuttal 2"}
_RESULT = re.compile(r"- judged result: \w+ `\d+-\d+`(?: for \*\*(.+)\*\*)?")
_KINDS = {"Opening": OPENING, "Closing": CLOSING}
_MOST_UNPACKED = 2**30


class TournamentOptions(DatasetOptions):
    """What an entry of the configuration may say about the tournament."""

    source: Literal["local", "download"] = Field(
        "local",
        description=(
            "local: transcripts and pages below data_root; download: the published archive, fetched"
            " first"
        ),
    )
    faulty: FaultyShare = 0.01


@dataclass(frozen=True)
class _Debate:
    """A debate: its own fields (topic_id, proposition, model_pro, model_con), its speeches, and the
    claims made.
    """

    name: str
    fields: dict[str, str]
    speeches: list[RecordedUtterance]

    def words(self, side: str) -> int:
        return sum((said.parsed or {})["words"] for said in self.speeches if said.speaker == side)

    @property
    def longer(self) -> str:
        pro, con = self.words(PRO), self.words(CON)
        return SAME if pro == con else PRO if pro > con else CON


@dataclass(frozen=True)
class _Judged:
    """A debate with its matchup, the two debates with sides exchanged, and each judge's verdict."""

    debate: _Debate
    matchup: str
    verdicts: list[RecordedUtterance]


def read_debates(options: TournamentOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The debates in the order of their names, each with the answers of its judges."""
    for judged in _judged(options, context, Counter()):
        said = judged.debate.speeches
        for verdict in judged.verdicts:
            problem = "" if verdict.prediction else "the judge names no winner"
            own = [*said, verdict]
            identity = (METHOD, JUDGES, judged.debate.name, 0)
            yield RecordedDebate(
                *identity,
                verdict.prediction,
                problem=problem,
                utterances=own,
                judge=verdict.speaker,
            )
            said = []


@dataset("debate_tournament", TournamentOptions, PLACE, records=read_debates, labels=TASK.labels)
def load(options: TournamentOptions, context: LoadContext) -> Loaded:
    """A case for every debate that was judged; raises `UserError` for more faults than `faulty`
    allows.
    """
    cleaning: Counter[str] = Counter()
    cases = [
        Case(
            case_id=judged.debate.name,
            dataset=context.name,
            split="test",
            text=judged.debate.fields["proposition"],
            target="",
            labels=TASK.labels,
            attributes={
                "topic": judged.debate.fields["topic_id"],
                "matchup": judged.matchup,
                PRO: judged.debate.fields["model_pro"],
                CON: judged.debate.fields["model_con"],
                "longer": judged.debate.longer,
                "words_pro": str(judged.debate.words(PRO)),
                "words_con": str(judged.debate.words(CON)),
            },
            source_row=row,
        )
        for row, judged in enumerate(_judged(options, context, cleaning), 1)
    ]
    return Loaded(
        cases,
        TASK,
        cleaning=cleaning,
        sources=(_place(options, context),) * (options.source == "download"),
    )


def _place(options: TournamentOptions, context: LoadContext) -> Path:
    return context.data_root / (f"{PLACE}.zip" if options.source == "download" else PLACE)


def _texts(place: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """The name of each Markdown file of a folder or an archive, and what reads it, by name."""
    if place.suffix != ".zip":
        for file in sorted(place.rglob("*.md"), key=lambda file: file.name):
            yield file.name, partial(read_text, file)
        return
    try:
        with ZipFile(place) as archive:
            members = sorted((Path(one.filename).name, one) for one in archive.infolist())
            chosen = [
                (name, one)
                for name, one in members
                if _PAGE.fullmatch(name) or _TRANSCRIPT.fullmatch(name)
            ]
            if sum(one.file_size for _, one in chosen) > _MOST_UNPACKED:
                raise UserError(
                    f"{place}: more than {_MOST_UNPACKED} bytes when unpacked; expected the"
                    " published archive."
                )
            for name, one in chosen:
                yield name, partial(_unpacked, archive, one)
    except (OSError, BadZipFile) as fault:
        raise UserError(f"{place}: cannot be read ({fault}). {_GET}") from None


def _unpacked(archive: ZipFile, member: ZipInfo) -> str:
    try:
        return archive.read(member).decode()
    except (BadZipFile, zlib.error, UnicodeDecodeError) as fault:
        raise UserError(f"cannot be read ({fault}).") from None


def _judged(
    options: TournamentOptions, context: LoadContext, cleaning: Counter[str]
) -> list[_Judged]:
    """The judged debates by name; what is left out is counted, and a warning each."""
    place = _place(options, context)
    debates, found, faults = dict[str, _Debate | None](), dict[str, _Judged](), list[str]()
    pages = list[tuple[str, str]]()
    for name, read in _texts(place):
        try:
            if _PAGE.fullmatch(name):
                pages.append((name, read()))
            elif _TRANSCRIPT.fullmatch(name):
                debates[name.removesuffix(".md")] = None
                debates[name.removesuffix(".md")] = _debate(name.removesuffix(".md"), read())
        except UserError as fault:
            faults.append(str(fault) if str(place) in str(fault) else f"{place / name}: {fault}")
    if not debates or not pages:
        raise UserError(
            f"{place}: {len(debates)} transcripts and {len(pages)} judgment pages; expected both."
            f" {_GET}"
        )
    called: dict[str, str] = {}
    for name, text in pages:
        matchup = (re.findall(r"side_swap_group_id: `(.+)`", text) or [""])[0]
        for part in re.split(r"^## Debate [A-Z]$", text, flags=re.MULTILINE)[1:]:
            debate_id = (re.findall(r"- debate_id: `(.+)`", part) or [""])[0]
            debate = debates.get(debate_id)
            cleaning["left out: no transcript is published"] += debate_id not in debates
            if debate is None:
                continue
            try:
                found[debate_id] = _Judged(debate, matchup, list(_verdicts(debate, part, called)))
            except UserError as fault:
                faults.append(f"{place / name}: {debate_id}: {fault}")
    leave_out(faults, len(faults), len(debates), options.faulty, _GET)
    cleaning |= {"left out: something is wrong with it": len(faults), "judged debates": len(found)}
    cleaning["left out: not judged"] = len(debates) - len(found) - len(faults)
    return [found[name] for name in sorted(found)]


def _debate(name: str, text: str) -> _Debate:
    """A transcript; its turns, models and claims must be as it says itself."""
    about, *turns = _TURN.split(text)
    fields = dict(_FIELD.findall(about))
    missing = {"topic_id", "proposition", "model_pro", "model_con"} - fields.keys()
    if missing or not turns:
        raise UserError(
            f"no {', '.join(sorted(missing)) or 'turns'}; expected a transcript of the published"
            " form."
        )
    speeches, made = list[RecordedUtterance](), set[str]()
    for number, turn in enumerate(turns, 1):
        speeches.append(_speech(number, turn, fields, made))
    return _Debate(name, fields, speeches)


def _speech(number: int, turn: str, fields: dict[str, str], made: set[str]) -> RecordedUtterance:
    heading, _, rest = turn.partition("\n")
    told, _, text = rest.strip().partition("\n\n")
    facts, stated = dict(_FIELD.findall(told)), _HEADING.fullmatch(heading.strip())
    expected = (str(number), ("CON", "PRO")[number % 2])
    if not stated or stated.groups()[:2] != expected:
        raise UserError(
            f"found turn {quoted(heading)}; expected {' '.join(expected)}: sides speak in turn."
        )
    side = stated[2].casefold()
    if facts.get("model") != fields[f"model_{side}"]:
        raise UserError(
            f"turn {number}: spoken by {quoted(facts.get('model'))}; expected"
            f" {fields[f'model_{side}']}."
        )
    if not facts.get("raw_words", "").isdecimal():
        raise UserError(
            f"turn {number}: raw_words {quoted(facts.get('raw_words'))}; expected a whole number."
        )
    claims, cites = (
        _CLAIM.findall(facts.get(name, "")) for name in ("claim_ids", "cited_claim_ids")
    )
    if {*_CLAIM.findall(text)} != {*claims, *cites}:
        raise UserError(f"turn {number}: its text names other claims than its list.")
    unknown = {*cites} - made - {*_CLAIM.findall(facts.get("missing_claim_id_refs", ""))}
    if unknown:
        raise UserError(
            f"turn {number}: cites {sorted(unknown)[0]}, which no earlier turn claimed."
        )
    made.update(claims)
    parsed = {"part": stated[3], "words": int(facts["raw_words"]), "claims": claims, "cites": cites}
    kind = _KINDS.get(stated[3], SPEECH)
    return RecordedUtterance(
        side, kind, text.strip(), (number + 1) // 2, parsed={**parsed, "who": facts["model"]}
    )


def _verdicts(debate: _Debate, page: str, called: dict[str, str]) -> Iterator[RecordedUtterance]:
    """Each judge's verdict;
    `called` is what pages call each model so far, and must go on calling it.
    """
    roles, notes = _ROLES.search(page), dict(_NOTE.findall(page))
    if not roles:
        raise UserError("the page does not say who argued which side.")
    for model, name in zip(
        (debate.fields["model_pro"], debate.fields["model_con"]), roles.groups(), strict=True
    ):
        if called.setdefault(model, name) != name:
            raise UserError(
                f"the transcript has {model} where the page has {quoted(name)}, elsewhere"
                f" {called[model]}."
            )
    sides, wins = dict(zip(roles.groups(), (PRO, CON), strict=True)), list[int]()
    for judge, winner, *numbers in _VERDICT.findall(page):
        margin, normalized, entertainment = map(float, numbers)
        side = sides.get(winner)
        if side is None and winner.casefold() != "tie":
            raise UserError(
                f"{judge}: winner {quoted(winner)}; expected {' or '.join(sides)}, or a tie."
            )
        wins.append({PRO: 1, CON: -1}.get(side or "", 0))
        if (margin > 0) - (margin < 0) != wins[-1]:
            raise UserError(
                f"{judge}: winner {quoted(winner)} and margin {margin:+g} (PRO+) do not agree."
            )
        note = notes.get(judge, "")
        parsed = {
            "margin": margin,
            "normalized": normalized,
            "entertainment": entertainment,
        } | _decisive(debate, note)
        yield RecordedUtterance(judge, VERDICT, note, 0, side, parsed=parsed, private=True)
    result = _RESULT.search(page)
    total = sum(wins)
    if not result or (
        sides.get(result[1] or "") != (PRO if total > 0 else CON if total < 0 else None)
    ):
        raise UserError(
            f"the page's result {quoted(result and result[0])} is not that of its table."
        )


_GET = "put the published files there (see data/raw/README.md), or choose source 'download'."


def _decisive(debate: _Debate, note: str) -> dict[str, int]:
    """The number of the turn that a judge's note calls most decisive; nothing where it names none
    by its heading.
    """
    found = _DECISIVE.search(note)
    named = (
        (found[1].casefold(), _AS_HEADED.get(found[2].casefold(), found[2].casefold()))
        if found
        else None
    )
    headed = [(said.speaker, (said.parsed or {})["part"].casefold()) for said in debate.speeches]
    return {"decisive": headed.index(named) + 1} if named in headed else {}
