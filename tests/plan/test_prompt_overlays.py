"""A wording of an experiment's own: single templates replaced, everything else as it was, every
mistake named.
"""

from pathlib import Path
from typing import Any

import pytest
from test_plan import plan_of

from declared_jobs import declared_jobs
from moot.core.errors import UserError
from moot.plan.as_published import compare_with_papers
from moot.plan.plan import Plan

VERDICT = '{% extends "courtroom/base.jinja" %}{% block instruction %}Decide.{% endblock %}'


@pytest.fixture
def wordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two wordings of the verdict."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("plain", VERDICT), ("firm", VERDICT.replace("Decide.", "Decide now."))):
        path = tmp_path / "wordings" / name / "courtroom" / "verdict.jinja"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "wordings" / "plain" / "README.md").write_text("Why we word it so.")
    return tmp_path / "wordings"


def worded(tmp_path: Path, prompts: object = "wordings/plain", **entry: Any) -> Plan:
    return plan_of(tmp_path, {"experiments": {"worded": {**TRIAL, "prompts": prompts, **entry}}})


TRIAL = {"protocol": "courtroom", "dataset": "nlsy97", "models": "small"}


def test_a_wording_changes_its_own_experiment_alone(tmp_path: Path, wordings: Path) -> None:
    before = declared_jobs(plan_of(tmp_path, {"experiments": {"worded": TRIAL}}))
    after = declared_jobs(worded(tmp_path))
    for rule in ("run_debates", "predict"):
        old, new = (jobs.of(rule, experiment="worded", model="small") for jobs in (before, after))
        assert new.prompts != old.prompts
        assert (new.options, new.code) == (old.options, old.code)
        assert before.of(rule, experiment="trial", model="small") == after.of(
            rule, experiment="trial", model="small"
        )
    assert (
        after.of("score", experiment="worded").prompts
        != after.of("score", experiment="trial").prompts
    )


def test_where_a_wording_lies_changes_nothing(tmp_path: Path, wordings: Path) -> None:
    before = declared_jobs(worded(tmp_path)).of("run_debates", experiment="worded", model="small")
    (wordings / "plain").rename(tmp_path / "moved")
    assert (
        declared_jobs(worded(tmp_path, "moved")).of(
            "run_debates", experiment="worded", model="small"
        )
        == before
    )


def test_a_grid_of_wordings_is_one_experiment_each(tmp_path: Path, wordings: Path) -> None:
    plan = worded(tmp_path, "", grid={"prompts": ["", "wordings/plain", "wordings/firm"]})
    names = ["worded-prompts=none", "worded-prompts=wordings-plain", "worded-prompts=wordings-firm"]
    assert [name for name in plan.experiments if name.startswith("worded")] == names
    digests = {
        declared_jobs(plan).of("run_debates", experiment=name, model="small").prompts
        for name in names
    }
    assert len(digests) == 3
    assert plan.experiments[names[0]].prompts.digest("courtroom/") == plan.experiments[
        "trial"
    ].prompts.digest("courtroom/")


def test_another_wording_is_not_as_published(tmp_path: Path, wordings: Path) -> None:
    runs = compare_with_papers(worded(tmp_path)).runs
    assert "another wording of prompts" in runs["worded", "small"].difference
    assert "another wording of prompts" not in runs["trial", "small"].difference


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "courtroom/verdikt.jinja",
            VERDICT,
            (
                "unknown prompt template 'courtroom/verdikt.jinja'; did you mean"
                " 'courtroom/verdict.jinja'?"
            ),
        ),
        ("verdict.jinja", VERDICT, "did you mean 'courtroom/verdict.jinja'?"),
        ("panel/vote.jinja", VERDICT, "unknown prompt template 'panel/vote.jinja'"),
        (
            "courtroom/belief.jinja",
            "{% if %}",
            "courtroom/belief.jinja, line 1: Expected an expression",
        ),
        (
            "courtroom/belief.jinja",
            '{% extends "courtroom/bass.jinja" %}',
            "courtroom/bass.jinja: not found",
        ),
    ],
)
def test_a_template_that_no_prompt_uses_or_that_is_wrong_is_named(
    tmp_path: Path, wordings: Path, file: str, text: str, message: str
) -> None:
    path = wordings / "plain" / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        worded(tmp_path)
    assert "experiments.worded.prompts: " in str(raised.value)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_template_for_one_language_and_one_that_another_includes_are_used(
    tmp_path: Path, wordings: Path
) -> None:
    folder = wordings / "plain" / "courtroom"
    (folder / "belief.zh.jinja").write_text('{% include "courtroom/note.jinja" %}')
    (folder / "note.jinja").write_text("Note.")
    worded(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"experiments\.worded\.prompts: nowhere: no such folder"):
        worded(tmp_path, "nowhere")
    with pytest.raises(UserError, match="two experiments called 'worded-prompts=a-b'"):
        worded(tmp_path, "", grid={"prompts": ["a/b", "a b"]})


def test_a_link_out_of_a_folder_of_templates_is_named(tmp_path: Path, wordings: Path) -> None:
    inside, outside = wordings / "plain" / "courtroom", tmp_path / "secret.jinja"
    outside.write_text("My key.")
    (inside / "statement.jinja").symlink_to(inside / "verdict.jinja")
    worded(tmp_path)
    for name, target in (
        ("closing.jinja", outside),
        ("notes.md", outside),
        ("../other", tmp_path),
        ("x.jinja", "gone"),
    ):
        link = inside / name
        link.symlink_to(target)
        with pytest.raises(
            UserError, match=r"wordings/plain/.*: a link to .*(secret.jinja|gone|test_a_link)"
        ):
            worded(tmp_path)
        link.unlink()
