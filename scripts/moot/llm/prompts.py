"""Prompts: Jinja templates in `config/prompts`, rendered to messages; hostile text can leave none
of its delimiters.
"""

import hashlib
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import jinja2
from jinja2 import meta
from jinja2.sandbox import SandboxedEnvironment

from moot.core.errors import UserError, unknown_name
from moot.core.types import Fields
from moot.llm.request import Message

_UNSEEN = r"[\s\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
"""Characters within a delimiter that readers and tokenizers may not notice."""
_TAG_LIKE = re.compile(rf"[<＜](?={_UNSEEN}(?:[/／]{_UNSEEN})?[^\W\d_])")


_MOST_FILES = 1000
"""And folders, below a folder of prompt templates."""


def enclose(text: object, tag: str) -> str:
    """Return text between `<tag>` and `</tag>`, with everything inside it that looks like a tag
    made harmless.

    >>> enclose("a </facts> b, 1 < 2", "facts")
    '<facts>\\na ‹/facts> b, 1 < 2\\n</facts>'
    """
    return f"<{tag}>\n{_TAG_LIKE.sub('‹', str(text)).strip()}\n</{tag}>"


class Section(NamedTuple):
    """A part of what a person reads: material under its tag (facts, record), or with the tag ""
    what is said of it.
    """

    tag: str
    text: str


_FOR_PERSON: ContextVar[str] = ContextVar("_FOR_PERSON", default="")
"""While a template is rendered for a person: the mark between its sections."""
_ON_TAGS = re.compile(r" ?Text between [^.\n]*\btags?\b[^.\n]*\.|<\w+> ?等标签[^。\n]*。")
"""What a prompt says of its tags, which people do not see."""


def _enclosed(text: object, tag: str) -> str:
    """`enclose`, or for a person the text as it is, as a section of its own."""
    mark = _FOR_PERSON.get()
    return f"\0{mark}{tag}\0{text}\0{mark}\0" if mark else enclose(text, tag)


def fill(words: str, **slots: object) -> str:
    """Return words that moot did not write, with the content of their slots in braces.

    >>> fill("{one} and {two}", one="{two}", two=2)
    '{two} and 2'

    Raises:
        UserError: the words have no such slot.
    """
    for slot in slots:
        if f"{{{slot}}}" not in words:
            raise UserError(
                f"no {{{slot}}} in the words '{words.strip()[:60]}'; type the slot where its text"
                " belongs."
            )
    return re.sub(r"\{(\w+)\}", lambda match: str(slots.get(match[1], match[0])), words)


class _Environment(SandboxedEnvironment):
    """Jinja's sandbox, which need not search moot's own plain values for the interpreter's
    internals at each look.
    """

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        if type(obj).__module__.startswith("moot."):
            return not attr.startswith("_")
        return super().is_safe_attribute(obj, attr, value)


class Prompts:
    """The templates of a project; a folder of the user's own takes precedence over the shipped one.

    Args:
        folders: folders to look in, first match wins.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self.digest = cache(self._digest)
        self._environment = _Environment(
            loader=jinja2.FileSystemLoader([str(folder) for folder in folders]),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            auto_reload=False,
        )
        self._environment.filters |= {"enclose": _enclosed, "fill": fill}
        # Marks that no case text and no model text can contain; they leave with the cut.
        self._mark = secrets.token_hex(16)
        self._cut = re.compile(f"\0{self._mark}([a-z]+)\0")
        self._template = cache(self._environment.select_template)
        self._template_names = cache(self._environment.list_templates)

    def __reduce__(self) -> tuple[type["Prompts"], tuple[Path, ...]]:
        return Prompts, self._folders

    def render(self, name: str, *, language: str = "en", **context: object) -> tuple[Message, ...]:
        """Return the messages of a template, as its `{{ role("system") }}` and `{{ role("user") }}`
        cut it.

        Args:
            name: of `{name}.{language}.jinja`, or of `{name}.jinja` where there is none in
                that language.
            language: of the case's text.
            context: the template's variables.

        Raises:
            UserError: no such template, or a mistake in it, with its line.
        """
        parts = self._cut.split(self._text((f"{name}.{language}.jinja", f"{name}.jinja"), context))
        messages = (
            Message(role, content.replace("\0", "").strip())
            for role, content in zip(parts[1::2], parts[2::2], strict=True)
        )
        return tuple(message for message in messages if message.content)

    def render_for_person(
        self, name: str, *, language: str = "en", **context: object
    ) -> tuple[Section, ...]:
        """What a template says, for a person to read; `{name}.person.jinja` takes its place where
        there is one.

        Args, Raises: as in `render`.
        """
        names = (
            f"{name}.person.{language}.jinja",
            f"{name}.{language}.jinja",
            f"{name}.person.jinja",
            f"{name}.jinja",
        )
        mark = secrets.token_hex(16)
        token = _FOR_PERSON.set(mark)
        try:
            text = self._text(names, context)
        finally:
            _FOR_PERSON.reset(token)
        tag, sections = "", []
        for place, part in enumerate(re.split(f"\0{mark}([^\0]*)\0", text)):
            if place % 2:
                tag = part
            else:
                section_text = (
                    (part if tag else _ON_TAGS.sub("", self._cut.sub("\n\n", part)))
                    .replace("\0", "")
                    .strip()
                )
                sections += [Section(tag, section_text)] if section_text else []
        return tuple(sections)

    def _text(self, names: tuple[str, ...], context: Fields) -> str:
        """Return the first template that there is, rendered, with a mark where a message begins."""
        with _template_errors(names[-1]):
            return self._template(names).render(
                role=lambda role: f"\0{self._mark}{role}\0", **context
            )

    def overlaid(self, folder: Path, *names: str) -> "Prompts":
        """These templates, with single ones replaced by those of a folder, of the same names.

        Args:
            folder: of the user's own; Markdown files in it are notes.
            names: prefixes of the templates that are used.

        Raises:
            UserError: no such folder, a link in it that leads out of it, a template in it that has
                a mistake, or that none of the used ones needs.
        """
        if not folder.is_dir():
            raise UserError(
                f"{folder}: no such folder of prompt templates (sought from the working directory)."
            )
        root, paths = folder.resolve(), list(islice(folder.rglob("*"), _MOST_FILES + 1))
        if len(paths) > _MOST_FILES:
            raise UserError(
                f"{folder}: more than {_MOST_FILES} files; expected a folder of prompt templates"
                " alone."
            )
        for path in sorted(paths):
            if path.is_symlink() and not (path.exists() and path.resolve().is_relative_to(root)):
                raise UserError(
                    f"{path}: a link to {path.readlink()}, which is outside of the folder of prompt"
                    " templates, or not there; expected a file. Copy the template into the folder."
                )
        prompts = Prompts(folder, *self._folders)
        files = (path for path in sorted(paths) if path.is_file() and path.suffix != ".md")
        overlay_names = [
            path.relative_to(folder).as_posix() for path in files if not path.name.startswith(".")
        ]
        template_names = self._names_with_prefix(names)
        sources = prompts._sources(
            [
                *template_names,
                *(name for name in overlay_names if _without_language(name) in template_names),
            ]
        )
        for name in overlay_names:
            if name not in sources:
                raise unknown_name("prompt template", name, sources, str(folder))
        return prompts

    def sources(self, *names: str) -> dict[str, str]:
        """Name to source of every template with such a prefix, and of all that these include or
        extend.
        """
        return self._sources(self._names_with_prefix(names))

    def _digest(self, *names: str) -> str:
        sources = self.sources(*names)
        source_digests = sorted(
            (name, hashlib.sha256(source.encode()).hexdigest()) for name, source in sources.items()
        )
        return hashlib.sha256(repr(source_digests).encode()).hexdigest()[:16]

    def _names_with_prefix(self, prefixes: tuple[str, ...]) -> list[str]:
        return [name for name in self._template_names() if name.startswith(prefixes)]

    def _sources(self, names: Iterable[str]) -> dict[str, str]:
        remaining, sources = list(names), dict[str, str]()
        loader = self._environment.loader
        while remaining and loader is not None:
            name = remaining.pop()
            if name not in sources:
                with _template_errors(name):
                    sources[name] = loader.get_source(self._environment, name)[0]
                    remaining.extend(_referenced_templates(sources[name], name))
        return sources


@cache
def _referenced_templates(source: str, name: str) -> tuple[str, ...]:
    """The templates that a template includes or extends; each is parsed once for all folders that
    it is in.
    """
    parsed = _Environment().parse(source, name)
    return tuple(reference for reference in meta.find_referenced_templates(parsed) if reference)


def _without_language(name: str) -> str:
    """Return the name of the template that one for a language translates: verdict.jinja for
    verdict.zh.jinja.
    """
    return re.sub(r"\.[a-z]+\.jinja$", ".jinja", name)


@contextmanager
def _template_errors(name: str) -> Iterator[None]:
    """A mistake in a template, or one that is not there, as one message."""
    try:
        yield
    except jinja2.TemplatesNotFound:
        raise UserError(f"prompt template {name}: not found in config/prompts.") from None
    except jinja2.TemplateNotFound as error:
        typed = "; type the paper's words into it (config/prompts_published/README.md)"
        do = typed if str(error.name).endswith(".txt") else " in config/prompts"
        raise UserError(f"prompt template {error.name}: not found{do}.") from None
    except jinja2.TemplateSyntaxError as error:
        place = error.filename or error.name or name
        raise UserError(f"prompt template {place}, line {error.lineno}: {error.message}.") from None
    except jinja2.UndefinedError as error:
        raise UserError(f"prompt template {name}: {error.message}.") from None
