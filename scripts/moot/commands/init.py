"""`snakemake init`: a first configuration, from a few answers or from `--config init={...}`."""

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.commands.init_table import QUESTION, TableEntry, describe_table, inline_yaml
from moot.core.config import InitConfig
from moot.core.durable import write_atomically
from moot.core.endpoint_traits import TRAITS, endpoint_traits, endpoints_with
from moot.core.errors import UserError
from moot.core.model_config import HUB
from moot.core.printed_commands import as_started
from moot.core.read_config import default_config, merge_over_defaults
from moot.core.shipped_files import SHIPPED, default_files
from moot.core.types import JsonObject
from moot.core.yaml_text import load_yaml
from moot.datasets.reading.checks import DataFaults
from moot.datasets.reading.tables import read_table
from moot.llm.endpoints.embedded import PACKAGED
from moot.plan.plan import Plan


def _servers() -> dict[str, JsonObject]:
    """Return the possible servers, each with the keys of a model's entry."""
    servers: dict[str, JsonObject] = {}
    for name in TRAITS:
        traits = TRAITS[name]
        if traits.has_server and traits.starter_keys is not None:
            key = {"api_key_env": traits.key_variable} if traits.key_variable else {}
            servers[name] = {"endpoint": name, **key, **traits.starter_keys}
    return servers


_MAX_NAME_LENGTH = 40
_CASES, _CASES_IN_PROCESS = 10, 5
"""Cases of a first run: with a server, and with a model on the cores of this machine."""
_TOKENS_PER_WORD = 2
"""Of a statement: most words take less, headings and marks the rest."""
_MAX_SHARDS = 4
_PAGE = """\
# moot merges this file over its default configuration.
#   snakemake doctor --cores 1 --configfile {file}     checks models, keys, data and disk
#   snakemake preview --cores 2 --configfile {file}    counts the calls and their cost
#   snakemake rehearse --cores 2 --configfile {file}   shows all pages, from invented replies
#   snakemake --cores 2 --configfile {file}            holds the debates: results/index.html
#   snakemake reference --cores 1                      writes every key to results/reference.md

run: [{run}]
{min_debates}{shards}{budget}
models:
  {names.model}: {model}
{datasets}
experiments:
  {names.experiment}:
    protocol: {protocol}
    dataset: {names.dataset}
    models: [{names.model}]
    cases: {cases}             # raise it later, or remove it for all cases; no call is repeated
{comparison}"""
_AGAINST_JUDGE = """\
{params}    arms: [alone]         # the judge without a debate: the same model, wording and cases
contrasts:
  debate-adds:            # results/index.html opens with its answer
    first: {names.experiment}
    second: {names.experiment}-arm=alone
    question: Is a debate right more often than its judge alone?
    direction: first_higher
"""
_SMALL_COURTROOM = """\
    # A small protocol for a model on this machine: 7 calls a case. Without `params`: 16.
    params: {strategy: none, beliefs: none}
"""
_MOST_DEBATERS = 3
_PANEL = """\
contrasts:                # results/index.html opens with their answers
  talk-adds:
    first: {names.experiment}
    second: {names.experiment}
    metric: panel_accuracy_after
    second_metric: panel_accuracy_before
    question: Are the judges right more often after the debate?
    direction: first_higher
  agree-more:
    first: {names.experiment}
    second: {names.experiment}
    metric: agreement_after
    second_metric: agreement_before
    question: Do the judges agree more after the debate?
    direction: first_higher
"""
_COMPARED = {
    "debate": "It compares the debate with the judge alone, so that only the debate differs.",
    "courtroom": "It compares the debate with the judge alone, so that only the debate differs.",
    "panel": "It compares the judges' first and last answers, so that only the talk differs.",
}

Ask = Callable[[str], str]


def write_configuration(answers: InitConfig, ask: Ask | None) -> str:
    """Write the file, and return the next steps.

    `ask` puts a question to the user; it is None without a terminal.

    Raises:
        UserError: an answer is missing or wrong, or the file exists.
    """
    path = Path(answers.file)
    if path.exists():
        raise UserError(
            f"{path} already exists. Move it away, or name another file: --config 'init={{file: "
            f"my2.yaml}}'."
        )
    text, notes = _fill_page(answers, ask)
    Plan.from_yaml(merge_over_defaults(load_yaml(text), default_files()), SHIPPED)
    write_atomically(path, as_started(text))
    commands = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("#   ")]
    return "\n".join([f"{path} is written.", *notes, "", "Next:", *commands]) + "\n"


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers in the configuration, and the replies of the user to questions."""

    given: InitConfig
    ask: Ask | None

    def find(self, key: str, default: str = "", check: Callable[[str], object] = str) -> str:
        """Return the value of a key of `init`: the given one, a reply, or the default.

        A reply that does not pass the check is asked for again.

        Raises:
            UserError: none of them exists, or the given one does not pass the check.
        """
        given, meaning = getattr(self.given, key), InitConfig.model_fields[key].description
        if given not in ("", None):
            check(str(given))
            return str(given)
        question = f"{key}: {meaning}{f' [{default}]' if default else ''}: "
        while reply := self.ask(question).strip() if self.ask else "":
            try:
                check(reply)
            except UserError as fault:
                question = f"{fault}\n{key}: "
            else:
                return reply
        if not default:
            raise UserError(
                f"init: {key} is missing; expected {meaning}. Add it: --config 'init={{{key}:"
                " ...}'."
            )
        return default


def _check_budget(usd: str) -> None:
    try:
        is_amount = float(usd) >= 0
    except ValueError:
        is_amount = False
    if not is_amount:
        raise UserError(f"init: usd {usd!r}; expected a number of US dollars; 0: no limit.")


def _check_protocol(protocol: str) -> None:
    if protocol not in _COMPARED:
        raise UserError(f"init: protocol {protocol!r}; expected one of {', '.join(_COMPARED)}.")


def _check_server(server: str) -> None:
    if server not in _servers() and "://" not in server:
        raise UserError(
            f"init: server {server!r}; expected one of {', '.join(_servers())}, or an address with"
            " http://."
        )


def _check_data(data: str) -> None:
    if Path(data).suffix:
        read_table(Path(data), faults=DataFaults())
    elif data not in default_config()["datasets"]:
        raise UserError(
            f"init: data {data!r}; expected a table's path, or one of"
            f" {', '.join(sorted(default_config()['datasets']))}."
        )


def _minimum_line(cases: int) -> str:
    if cases >= _CASES:
        return ""
    return (
        f"min_debates: {cases}     # experiments with fewer debates are trial runs, which are left"
        " out of tables\n"
    )


def _fill_page(config: InitConfig, ask: Ask | None) -> tuple[str, Sequence[str]]:
    """Return the file's text, and lines on the guesses."""
    answers = _Answers(config, ask)
    model = _model(answers, PACKAGED if ask else "")
    data = answers.find("data", check=_check_data)
    table = TableEntry(section="", row_count=_CASES, notes=())  # of a data set of moot
    is_table = bool(Path(data).suffix)
    dataset = data
    if is_table:
        dataset = _unlike_shipped(_as_name(Path(data).stem, "table"), "datasets")
    default = "debate" if is_table else "courtroom"
    protocol = answers.find("protocol", default, _check_protocol)
    names = _name_entries(protocol, dataset, str(model["model"]))
    if is_table:
        question = answers.find("question", QUESTION)
        table = describe_table(config, Path(data), dataset, question, answers.find)
    is_slow = endpoint_traits(str(model.get("endpoint", ""))).in_process
    cases = min(table.row_count, _CASES_IN_PROCESS if is_slow else _CASES)
    shards = min(os.cpu_count() or 1, cases, _MAX_SHARDS) if is_slow else 1
    comparison = _PANEL if protocol == "panel" else _AGAINST_JUDGE
    params = {
        "debate": _debate_params(table.labels, model.get("max_tokens")),
        "courtroom": _SMALL_COURTROOM if is_slow else "",
    }
    usd = float(answers.find("usd", "0", _check_budget))
    page = _PAGE.format(
        file=config.file,
        names=names,
        min_debates=_minimum_line(cases),
        run=names.experiment,
        protocol=protocol,
        shards=f"shards: {shards}          # debates at the same time, each on one core\n"
        if shards > 1
        else "",
        budget=f"budget: {{usd: {usd:g}}}   # a hard stop that loses nothing\n" if usd else "",
        model=inline_yaml(model),
        datasets=table.section,
        cases=cases,
        comparison=comparison.format(names=names, params=params.get(protocol, "")),
    )
    return page, [_COMPARED[protocol], *table.notes]


def _debate_params(labels: Sequence[str], max_tokens: int | None) -> str:
    """Return the lines that say which debater argues for which label.

    If the entry of the model limits its replies, a statement has as many words as fit.
    """
    argued = labels if len(labels) <= _MOST_DEBATERS else labels[:2]
    lines = [f"debater_{number} argues for {label}" for number, label in enumerate(argued, 1)]
    length = f", words: {max_tokens // _TOKENS_PER_WORD}" if max_tokens else ""
    params = f"{{answers: {inline_yaml(list(argued))}, debaters: {len(argued)}{length}}}"
    return f"    params: {params}   # {', '.join(lines)}\n" if argued else ""


def _model(answers: _Answers, default: str) -> JsonObject:
    name = answers.find("model", default)
    if name == PACKAGED:
        packaged: JsonObject = default_config()["models"][name]
        return packaged
    if name.startswith(HUB) or name.endswith(".gguf"):
        [endpoint] = endpoints_with("in_process")
        return {"endpoint": endpoint, "model": name, **(TRAITS[endpoint].starter_keys or {})}
    server = answers.find("server", check=_check_server)
    return {"endpoint": "openai", "model": name, **_servers().get(server, {"base_url": server})}


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of the entries in the new file; no two are equal."""

    dataset: str
    experiment: str
    model: str


def _name_entries(protocol: str, dataset: str, model: str) -> _Names:
    """Return the names for a data set and a model; `model` is its name at its server."""
    experiment = _unlike_shipped(f"{protocol}-{dataset}", "experiments")
    model_name = _name_model(model)
    if model_name in (dataset, experiment):
        model_name += "-model"
    return _Names(dataset, experiment, model_name)


def _name_model(model: str) -> str:
    """Return the name of a model's entry: without the folder or organisation of the model.

    The packaged model has the name of its shipped entry, which is the same.
    """
    if model == PACKAGED:
        return model
    last_part = model.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return _unlike_shipped(_as_name(re.sub(r"(?i)\.gguf$", "", last_part), "model"), "models")


def _as_name(text: str, kind: str) -> str:
    """Return a text as a name that the configuration takes.

    A text without Latin letters, or one that YAML reads as a number, date or word such as no, gets
    the word `kind`.

    >>> _as_name("Tenancy disputes (2024)", "table"), _as_name("2024", "table")
    ('tenancy-disputes-2024', 'table-2024')
    """
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9._]+", "-", letters)[:_MAX_NAME_LENGTH].strip("-._")
    is_text = bool(name) and load_yaml(name) == name
    return name if is_text else f"{kind}-{name}".rstrip("-")


def _unlike_shipped(name: str, section: str) -> str:
    """Return a name that no entry of a section of the default configuration has."""
    shipped = default_config()[section]
    return f"my-{name}" if name in shipped else name
