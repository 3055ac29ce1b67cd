"""`snakemake init`: a first configuration of the user's own, from a few answers or from `--config
init={...}`.
"""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from moot.commands.doctor_cases import TARGET_NAMES
from moot.core.config import InitConfig
from moot.core.durable import write_atomically
from moot.core.endpoint_traits import TRAITS, endpoints_with
from moot.core.errors import UserError
from moot.core.model_config import HUB
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import SHIPPED, default_files
from moot.core.types import JsonObject
from moot.core.user_tables import read_user_table
from moot.core.yaml_text import load_yaml
from moot.llm.endpoints.embedded import PACKAGED
from moot.papers.selection import add_paper_experiments
from moot.plan.plan import Plan

_SERVICES: Mapping[str, JsonObject] = {
    "openrouter": {
        "base_url": "https://openrouter.ai/api/v1",
        "api_key_env": "OPENROUTER_API_KEY",
        "price": "auto",
    },
}
"""Services that speak the default protocol: name to keys of a model's entry."""


def _servers() -> dict[str, JsonObject]:
    """Return the answers to the question for a server: name to keys of a model's entry."""
    servers: dict[str, JsonObject] = {}
    for name in TRAITS:
        traits = TRAITS[name]
        if traits.has_server and traits.starter_keys is not None:
            servers[name] = {"endpoint": name, **traits.starter_keys}
    return {**servers, **_SERVICES}


_MIN_LABELS, _MAX_LABELS, _CASES, _NAME = 2, 10, 10, "mine"
_PAGE = """\
# Lies over moot's default configuration.
#   {command} reference --cores 1                      writes every key to results/reference.md
#   {command} doctor --cores 1 --configfile {file}     whether everything is there
#   {command} preview --cores 2 --configfile {file}    what it will ask, and cost
#   {command} --cores 4 --configfile {file}            holds the debates: results/index.html

run: [{name}]
{fewest}{budget}
models:
  {name}: {model}
{datasets}
experiments:
  {name}:
    protocol: courtroom   # a prosecutor, a defence and a judge
    dataset: {dataset}
    models: [{name}]
    cases: {cases}             # later more, or none for all: what was asked is not asked again
    arms: [alone]         # the judge without a debate
contrasts:
  debate-adds:            # results/index.html opens with its answer
    first: {name}
    second: {name}-arm=alone
    question: Is a debate right more often than its judge alone?
"""
_PAPERS_PAGE = """\
# Lies over moot's default configuration. docs/papers.md lists the papers' tables and figures.
#   {command} doctor --cores 1 --configfile {file}     whether everything is there
#   {command} preview --cores 2 --configfile {file}    what it will ask, and cost
#   {command} papers --cores 4 --configfile {file}     fills the items; results/papers/ shows them

{budget}models:
  {name}: {model}
papers: {papers}
"""
_TABLE = """\
datasets:
  {name}:
    loader: table
    path: {path}
    text: {text}
    target: {target}
    # Rows by label, to see misspelt ones: {counts}
    labels: {labels}      # of two the negative one first
    question: {question}
"""


def write_configuration(answers: InitConfig, ask: Callable[[str], str] | None) -> str:
    """Write the file, and say what to do next; `ask` puts a question to the user; None without a
    terminal.

    Raises:
        UserError: an answer is missing or wrong, or the file exists.
    """
    path = Path(answers.file)
    if path.exists():
        raise UserError(
            f"{path}: is there already. Move it away, or name another: --config 'init={{file:"
            " my2.yaml}'."
        )
    text = _fill_page(answers, ask)
    config = merge_over_defaults(load_yaml(text), default_files())
    add_paper_experiments(config, SHIPPED)
    Plan.from_yaml(config, SHIPPED)
    write_atomically(path, text)
    return (
        f"{path} is written."
        f" Next:\n{''.join(line[2:] for line in text.splitlines(keepends=True)[1:4])}"
    )


def _find_answer(
    config: InitConfig, ask: Callable[[str], str] | None, key: str, default: str = ""
) -> str:
    """Return the value of a key of `init`, or else the reply to its question, or its default.

    Raises:
        UserError: There is none of them.
    """
    reply, meaning = str(getattr(config, key) or ""), InitConfig.model_fields[key].description
    if not reply and ask:
        reply = ask(f"{key}: {meaning}{f' [{default}]' if default else ''}: ").strip()
    if not (reply or default):
        raise UserError(
            f"init: no {key}; expected {meaning}. Give it: --config 'init={{{key}: ...}}'."
        )
    return reply or default


def _budget_line(usd: str) -> str:
    """Return the line of the budget; "" for a budget of 0."""
    if not usd.strip("0."):
        return ""
    is_number = usd.replace(".", "", 1).isdigit()
    value = usd if is_number else _inline_yaml(usd)  # the check of the configuration refuses it
    return f"budget: {{usd: {value}}}   # a hard stop that loses nothing\n"


def _fill_page(config: InitConfig, ask: Callable[[str], str] | None) -> str:
    answer = partial(_find_answer, config, ask)
    model = _model(answer)
    if config.papers:
        return _papers_page(config, model)
    data = answer("data")
    described, dataset, rows = "", "", _CASES
    if Path(data).suffix:
        described, dataset, rows = _describe_table(Path(data), answer)
    else:
        dataset = _known_dataset(data)
    cases = min(rows, _CASES)
    usd = answer("usd", "0") if config.usd is None else f"{config.usd:g}"
    return _PAGE.format(
        command="snakemake" if Path("Snakefile").exists() else "moot",
        file=config.file,
        name=_NAME,
        fewest=(
            f"min_debates: {cases}     # experiments of fewer debates are trials, which enter no"
            " table\n"
            if rows < _CASES
            else ""
        ),
        budget=_budget_line(usd),
        model=_inline_yaml(model),
        datasets=described,
        dataset=_inline_yaml(dataset),
        cases=cases,
    )


def _papers_page(config: InitConfig, model: JsonObject) -> str:
    """Return a configuration that fills items of the papers with the model."""
    papers = {"models": [_NAME], **config.papers}
    usd = config.usd or 0
    return _PAPERS_PAGE.format(
        command="snakemake" if Path("Snakefile").exists() else "moot",
        file=config.file,
        name=_NAME,
        budget=f"budget: {{usd: {usd:g}}}   # a hard stop that loses nothing\n" if usd else "",
        model=_inline_yaml(model),
        papers=_inline_yaml(papers),
    )


def _model(answer: Callable[..., str]) -> JsonObject:
    name = answer("model")
    if name == PACKAGED:
        packaged: JsonObject = merge_over_defaults({}, default_files())["models"][name]
        return packaged
    if name.startswith(HUB) or name.endswith(".gguf"):
        [endpoint] = endpoints_with("in_process")
        return {"endpoint": endpoint, "model": name, **(TRAITS[endpoint].starter_keys or {})}
    server, servers = answer("server"), _servers()
    if server not in servers and "://" not in server:
        raise UserError(
            f"init: server {server!r}; expected one of {', '.join(servers)}, or an address with"
            " http://."
        )
    return {"endpoint": "openai", "model": name, **servers.get(server, {"base_url": server})}


def _known_dataset(dataset: str) -> str:
    datasets = merge_over_defaults({}, default_files())["datasets"]
    if dataset not in datasets:
        raise UserError(
            f"init: data {dataset!r}; expected a table's path, or one of"
            f" {', '.join(sorted(datasets))}."
        )
    return dataset


def _describe_table(path: Path, answer: Callable[..., str]) -> tuple[str, str, int]:
    """Return a table's entry, its name, and how many of its rows have text and label."""
    table = read_user_table(path, [])
    longest = str(table.apply(lambda column: column.str.len().mean()).idxmax())
    text = answer("text", longest)
    target = answer("target", _guess_target(table, text))
    rows = read_user_table(path, [text, target]).apply(lambda column: column.str.strip())
    complete_rows = rows[(rows != "").all(axis=1)]
    labels = {cell: cell.casefold() for cell in sorted(set(complete_rows[target]))}
    counts = {cell: int((complete_rows[target] == cell).sum()) for cell in labels}
    question = answer("question", "Which label is right?")
    described = _TABLE.format(
        name=_NAME,
        path=_inline_yaml(os.fspath(path)),
        text=_inline_yaml(text),
        target=_inline_yaml(target),
        labels=_inline_yaml(labels),
        counts=_inline_yaml(counts),
        question=_inline_yaml(question),
    )
    return described, _NAME, len(complete_rows)


def _guess_target(table: pd.DataFrame, text: str) -> str:
    """Return the column of labels: one whose name says so, else the last with few values; ""
    where there is none.
    """
    candidates = []
    for name in map(str, table.columns):
        filled = table[name].str.strip()
        if name != text and _MIN_LABELS <= filled[filled != ""].nunique() <= _MAX_LABELS:
            candidates.append(name)
    named = [name for name in candidates if TARGET_NAMES.search(name)]
    return (named or candidates[-1:] or [""])[0]


def _inline_yaml(value: object) -> str:
    """Return a value in YAML, on one line; JSON is YAML, and quotes what a cell may hold, also a
    word such as no.
    """
    return json.dumps(value, ensure_ascii=False)
