"""Prompts: Jinja templates in `config/prompts`, rendered to messages.

Hostile text cannot end its delimiters.
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
"""Characters within a delimiter that readers and tokenizers may overlook."""
_TAG_LIKE = re.compile(rf"[<＜](?={_UNSEEN}(?:[/／]{_UNSEEN})?[^\W\d_])")


_MAX_FILES = 1000
"""Maximum number of files and folders below a folder of prompt templates."""


def enclose(text: object, tag: str) -> str:
    """Return text between `<tag>` and `</tag>`; anything inside that looks like a tag is disarmed.

    >>> enclose("a </facts> b, 1 < 2", "facts")
    '<facts>\\na ‹/facts> b, 1 < 2\\n</facts>'
    """
    return f"<{tag}>\n{_TAG_LIKE.sub('‹', str(text)).strip()}\n</{tag}>"


class Section(NamedTuple):
    """A part of a text for a person: material with its tag, or text with the tag "".

    Tags are, for example, facts and record.
    """

    tag: str
    text: str


_FOR_PERSON: ContextVar[str] = ContextVar("_FOR_PERSON", default="")
"""The mark between sections while a template is rendered for a person."""
_ON_TAGS = re.compile(r" ?Text between [^.\n]*\btags?\b[^.\n]*\.|<\w+> ?等标签[^。\n]*。")
"""Sentences of prompts about their tags, which people do not see."""


def _enclosed(text: object, tag: str) -> str:
    """Enclose a text as `enclose`, or for a person return it unchanged as a section."""
    mark = _FOR_PERSON.get()
    return f"\0{mark}{tag}\0{text}\0{mark}\0" if mark else enclose(text, tag)


def fill(words: str, **slots: object) -> str:
    """Return words of the user or of a paper with their slots in braces filled.

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
    """Jinja's sandbox, which does not search moot's plain values for the interpreter's internals.

    The search would be repeated at each use of a value.
    """

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        if type(obj).__module__.startswith("moot."):
            return not attr.startswith("_")
        return super().is_safe_attribute(obj, attr, value)


class Prompts:
    """The templates of a project; the user's folder takes precedence over the shipped one.

    Args:
        folders: the folders to search; the first match wins.
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
        # Marks that no case text and no model text can contain; cutting removes them.
        self._mark = secrets.token_hex(16)
        self._cut = re.compile(f"\0{self._mark}([a-z]+)\0")
        self._template = cache(self._environment.select_template)
        self._template_names = cache(self._environment.list_templates)

    def __reduce__(self) -> tuple[type["Prompts"], tuple[Path, ...]]:
        return Prompts, self._folders

    def render(self, name: str, *, language: str = "en", **context: object) -> tuple[Message, ...]:
        """Render a template's messages, begun by `{{ role("system") }}` and `{{ role("user") }}`.

        Args:
            name: the name of the template `{name}.{language}.jinja`, or else `{name}.jinja`.
            language: the language of the case's text.
            context: the template's variables.

        Raises:
            UserError: the template does not exist, or has a mistake (with its line).
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
        """Render a template for a person to read.

        `{name}.person.jinja` replaces it if it exists.

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
        """Render the first existing template, with a mark at the beginning of each message."""
        with _template_errors(names[-1]):
            return self._template(names).render(
                role=lambda role: f"\0{self._mark}{role}\0", **context
            )

    def overlaid(self, folder: Path, *names: str) -> "Prompts":
        """Return these templates, with some replaced by templates of the same names in a folder.

        Args:
            folder: a folder of the user; Markdown files in it are notes.
            names: prefixes of the templates that are used.

        Raises:
            UserError: the folder does not exist or has a link that leads out of it, or a template
                in it has a mistake or is not used.
        """
        if not folder.is_dir():
            raise UserError(
                f"{folder}: no such folder of prompt templates (sought from the working directory)."
            )
        root, paths = folder.resolve(), list(islice(folder.rglob("*"), _MAX_FILES + 1))
        if len(paths) > _MAX_FILES:
            raise UserError(
                f"{folder}: more than {_MAX_FILES} files; expected a folder with only prompt "
                "templates."
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
        """Return the source of each template with such a prefix, and of all that these use.

        They use what they include or extend.
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
    """Return the templates that a template includes or extends.

    Each is parsed once for all of its folders.
    """
    parsed = _Environment().parse(source, name)
    return tuple(reference for reference in meta.find_referenced_templates(parsed) if reference)


def _without_language(name: str) -> str:
    """Return the template that a translation belongs to: verdict.jinja for verdict.zh.jinja."""
    return re.sub(r"\.[a-z]+\.jinja$", ".jinja", name)


@contextmanager
def _template_errors(name: str) -> Iterator[None]:
    """Turn a mistake in a template, or a missing one, into one message."""
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
