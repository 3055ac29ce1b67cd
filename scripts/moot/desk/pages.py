"""The desk's pages: forms over the inbox and the annotation sheets.

Every address begins with a token that is drawn when the desk opens, and the desk is for people on
this machine. The server refuses requests for another host and requests that another site sent. All
text of models and people is escaped. The pages load only the desk's own style and script.
"""

import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

import jinja2
from aiohttp import web

from moot.core.errors import UserError
from moot.core.people_instructions import read_instructions
from moot.core.text_files import quote_value
from moot.core.types import Fields
from moot.desk.form_inputs import answer_text, form_text, inputs_of
from moot.desk.labelling import Labelling, sheet_sizes
from moot.desk.questions import (
    DeskQuestion,
    read_questions,
    save_answer,
    set_answer_aside,
)
from moot.desk.runner import Runner
from moot.labels.sheet_names import sheet_titles
from moot.protocols.forms import MAX_ANSWER_CHARS
from moot.report.escaping import visible

PAGE = Path(__file__).parent / "page"
HOST = "127.0.0.1"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # with none, browsers send forms without their origin
    "X-Content-Type-Options": "nosniff",
}
_FORM = "application/x-www-form-urlencoded"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Desk:
    """A working directory with its debates.

    Attributes:
        token: The beginning of every address, a secret.
    """

    folder: Path
    runner: Runner
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))

    @property
    def inbox(self) -> Path:
        """The folder of questions and answers."""
        return self.folder / "data" / "inbox"

    @property
    def instructions(self) -> str:
        """The instructions that people read with each task; "" without any."""
        return read_instructions(self.folder)


DESK = web.AppKey("desk", Desk)


def make_app(desk: Desk) -> web.Application:
    """Return the desk as an application of aiohttp."""
    app = web.Application(middlewares=[_guard], client_max_size=20 * MAX_ANSWER_CHARS)
    app[DESK] = desk
    app.add_routes(
        [
            web.get("/{token}/", show_desk),
            web.get("/{token}/seat", show_next_question),
            web.get("/{token}/seat/{key}", show_question),
            web.post("/{token}/seat/{key}", take_answer),
            web.post("/{token}/label", choose_name),
            web.get("/{token}/label/{sheet}/{annotator}", show_statement),
            web.post("/{token}/label/{sheet}/{annotator}", take_label),
            web.get("/{token}/{file:desk\\.(?:css|js)}", send_file),
        ]
    )
    app.cleanup_ctx.append(desk.runner.context)
    return app


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests for another host, without a token or from another site.

    A user's mistake becomes a page.
    """
    desk, origin = request.app[DESK], f"http://{request.host}"
    token = request.match_info.get("token", "")
    is_here = (request.host.rpartition(":")[0] or request.host) in (HOST, "localhost")
    if not is_here or not hmac.compare_digest(token.encode(errors="replace"), desk.token.encode()):
        raise web.HTTPNotFound(headers=HEADERS)
    if request.headers.get("Origin", origin) != origin:
        raise web.HTTPForbidden(headers=HEADERS)
    try:
        await _check_form(request)
        response = await handler(request)
    except UserError as fault:
        response = _render(request, "fault", status=400, fault=str(fault))
    response.headers.update(HEADERS)
    return response


async def _check_form(request: web.Request) -> None:
    """Require a complete form of these pages in UTF-8."""
    if request.method != "POST":
        return
    try:
        if request.content_type != _FORM:
            raise ValueError(f"a body of the type {request.content_type}")
        await request.post()
    except (ValueError, LookupError) as fault:
        message = (
            f"what was sent cannot be read ({quote_value(str(fault))}); expected a form of these"
            " pages, in UTF-8."
        )
        raise UserError(f"{message} Nothing was kept: go back, and send it again.") from None


async def show_desk(request: web.Request) -> web.Response:
    """Show the open questions and sheets."""
    desk = request.app[DESK]
    questions = read_questions(desk.inbox)
    names = {question.person for question in questions}
    people = {name: _questions_to(questions, name) for name in sorted(names)}
    sheets = desk.folder / "data" / "annotation_sheets"
    sizes = sheet_sizes(sheets)
    return _render(
        request,
        "desk",
        people=people or {"": []},
        sizes=sizes,
        titles=sheet_titles(sheets, sizes),
        runner=desk.runner,
    )


async def show_next_question(request: web.Request) -> web.Response:
    """Show the next question to a person, or that there is none now."""
    desk, person = request.app[DESK], request.query.get("as", "")
    questions = _questions_to(read_questions(desk.inbox), person)
    if open_question := next(
        (question for question in questions if not question.is_answered), None
    ):
        raise web.HTTPSeeOther(f"/{desk.token}/seat/{open_question.key}", headers=HEADERS)
    return _render(
        request,
        "pause",
        questions=questions,
        again=_person_query(person),
        runner=desk.runner,
    )


async def show_question(request: web.Request) -> web.Response:
    """Show one question with its form."""
    return _render_question(request, _find_question(request), {})


async def take_answer(request: web.Request) -> web.Response:
    """Store an answer and show the next question.

    An answer that cannot count is shown again with the reason.
    """
    desk, form = request.app[DESK], await request.post()
    try:
        question = _find_question(request)
    except UserError as fault:
        aside = set_answer_aside(desk.inbox / "unasked", form_text(form))
        raise UserError(f"{fault} Your answer is kept in {aside}.") from None
    try:
        content = answer_text(form, question.form)
    except UserError as fault:
        return _render_question(request, question, form, fault=str(fault))
    outcome = save_answer(question, str(form.get("seen", "")), content)
    if outcome != "kept":
        return _render_question(request, question, form, outcome=outcome)
    desk.runner.go_on()
    raise web.HTTPSeeOther(f"/{desk.token}/seat{_person_query(question.person)}", headers=HEADERS)


async def choose_name(request: web.Request) -> web.Response:
    """Redirect to the pages of a sheet for the name that a person entered."""
    work = _open_sheet(request, await request.post())
    path = f"/{request.app[DESK].token}/label/{work.sheet}/{work.annotator}"
    raise web.HTTPSeeOther(path, headers=HEADERS)


async def show_statement(request: web.Request) -> web.Response:
    """Show the next statement to label, with the rubric."""
    work = _open_sheet(request, request.match_info)
    labels = work.labels()
    last, statement = next(reversed(labels), ""), work.next_unlabelled()
    desk = request.app[DESK]
    instructions = desk.instructions
    sheets = desk.folder / "data" / "annotation_sheets"
    return _render(
        request,
        "label",
        work=work,
        title=sheet_titles(sheets, [work.sheet])[work.sheet],
        statement=statement,
        last=last,
        done=sum(statement.item in labels for statement in work.statements),
        last_label=labels.get(last, ""),
        rubric=work.rubric,
        stood=request.query.get("stood", ""),
        instructions=instructions if statement else "",
    )


async def take_label(request: web.Request) -> web.Response:
    """Store a label, or remove the last one, and show the next statement."""
    work, form = _open_sheet(request, request.match_info), await request.post()
    item, label = str(form.get("item", "")), str(form.get("label", ""))
    if "undo" in form:
        work.undo(str(form["undo"]))
        raise web.HTTPSeeOther(request.path, headers=HEADERS)
    final_label = work.add_label(item, label)
    stood = "" if final_label == label else f"?{urlencode({'stood': final_label})}"
    raise web.HTTPSeeOther(f"{request.path}{stood}", headers=HEADERS)


def _open_sheet(request: web.Request, names: Fields) -> Labelling:
    data = request.app[DESK].folder / "data"
    sheet, annotator = (str(names.get(key, "")) for key in ("sheet", "annotator"))
    return Labelling(data / "annotation_sheets", data / "annotations", sheet, annotator)


async def send_file(request: web.Request) -> web.StreamResponse:
    """Send the style or script of the pages."""
    return web.FileResponse(PAGE / request.match_info["file"])


def _find_question(request: web.Request) -> DeskQuestion:
    questions = read_questions(request.app[DESK].inbox)
    questions_by_key = {question.key: question for question in questions}
    if request.match_info["key"] not in questions_by_key:
        raise UserError("this question is no longer asked: the debate was removed or changed.")
    return questions_by_key[request.match_info["key"]]


def _render_question(
    request: web.Request, question: DeskQuestion, form_data: Fields, **context: object
) -> web.Response:
    questions = _questions_to(read_questions(request.app[DESK].inbox), question.person)
    is_answered = question.is_answered and not context
    instructions = request.app[DESK].instructions
    return _render(
        request,
        "seat",
        question=question,
        inputs=inputs_of(question.form, form_data),
        is_answered=is_answered,
        waiting=sum(not open_question.is_answered for open_question in questions),
        next=_person_query(question.person),
        instructions="" if is_answered else instructions,
        status=400 if context else 200,
        **context,
    )


def _questions_to(questions: Sequence[DeskQuestion], person: str) -> list[DeskQuestion]:
    """Return the questions to a person."""
    return [question for question in questions if question.person == person]


def _person_query(person: str) -> str:
    """Return the part of an address that names a person."""
    return f"?{urlencode({'as': person})}" if person else ""


def _render(request: web.Request, name: str, status: int = 200, **context: object) -> web.Response:
    text = (
        _templates()
        .get_template(f"{name}.html")
        .render(home=f"/{request.app[DESK].token}", **context)
    )
    return web.Response(text=text, status=status, content_type="text/html")


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["visible"] = visible
    return environment
