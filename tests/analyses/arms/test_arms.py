"""Run every protocol under every control arm, and test what each arm changes."""

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from courtroom_runs import PROJECT, configuration, people
from fault_server import FaultServer
from moot.analyses.arms.controls import ARMS
from moot.analyses.arms.interventions import separator
from moot.commands.preview import preview
from moot.core.artifacts import read_cases
from moot.core.errors import UserError
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS

JUDGE = ("commit_first", "challenge")
PLANTED = ("plant_citation", "plant_authority", "plant_certainty", "plant_names", "plant_padding")
MISSTATED = ("plant_misquote", "plant_wrong_figure")
DEBATE = ("noise", "alone", "consultancy", "swap", *PLANTED, *MISSTATED, *JUDGE)
SETTINGS: dict[str, dict[str, Any]] = {
    "courtroom": {},
    "feedback": {"params": {"sides": "opposed", "rounds": 1}},
    "panel": {"params": {"rounds": 2, "votes": "likelihood"}},
    "human_panel": {"params": {"rounds": 2}, "dataset": "opinions"},
    "synthetic_panel": {"params": {"rounds": 1}, "dataset": "opinions"},
    "conference": {"params": {"rounds": 1, "graded_decisions": 0, "coding": False}},
    "agreement": {"dataset": "agreement", "params": {"answer": "likelihood"}},
    "stance": {"params": {"answer": "json"}},
    "polarity": {"params": {"answer": "json"}},
    "grading": {"dataset": "agreement"},
    "self_consistency": {"params": {"k": 2}},
    "rejudge": {"params": {"source_experiment": "courtroom", "source_model": "test"}},
    "judging": {"params": {"source_experiment": "conference", "source_model": "test"}},
    "attribution": {
        "params": {"source_experiment": "courtroom", "source_model": "test", "repeats": 2}
    },
    "recorded": {"source": "recorded", "params": {"method": "debate"}},
}
REASONS = [
    (
        [name for name in PROTOCOLS if PROTOCOLS[name].debaters is None],
        DEBATE,
        "asks no debaters",
    ),
    (("attribution", "grading", "judging", "recorded", "case_summary"), ARMS, "asks for no answer"),
    (
        [name for name in PROTOCOLS if getattr(PROTOCOLS[name].debaters, "are_judges", True)],
        ("attribution",),
        "has no judge who hears debaters and decides",
    ),
    (("panel", "human_panel", "conference"), ("consultancy",), "told no side to argue for"),
    (("panel", "human_panel"), JUDGE, "those who argue also decide"),
    (
        ("human_panel", "synthetic_panel"),
        ("labels_swapped",),
        "know the options of this data by name",
    ),
]
"""Protocols, arms that make no sense with them, and the reason. A later reason replaces an earlier
one.
"""
MEANINGLESS: dict[tuple[str, str], str] = {}
for names, arms, reason in REASONS:
    MEANINGLESS |= dict.fromkeys(product(names, arms), reason)
PAIRS = list(product(PROTOCOLS, ARMS))


def entry(protocol: str, arms: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    experiment = {
        "protocol": protocol,
        "dataset": "people",
        "models": ["test"],
        "cases": 4,
        "arms": list(arms),
    }
    return {**experiment, **SETTINGS.get(protocol, {}), **changes}


class Runs:
    """A folder of results, a ledger and a server. Each experiment runs once."""

    def __init__(self, folder: Path, server: FaultServer) -> None:
        self.folder, self.server, self.held = folder, server, dict[str, pd.DataFrame]()
        people(folder / "cases" / "people.parquet", 8)
        self.experiments = {name: entry(name) for name in PROTOCOLS if name != "recorded"}

    def plan(self, **experiments: dict[str, Any]) -> Plan:
        raw = configuration(
            self.server.url,
            self.folder,
            {"max_tokens": 40},
            experiments={**self.experiments, **experiments},
        )
        raw["datasets"] |= {
            "conference": {"source": "sample"},
            "opinions": {"source": "sample"},
            "agreement": {"source": "sample"},
        }
        return Plan.from_yaml(raw, PROJECT)

    def cases(self, plan: Plan, dataset: str) -> Path:
        path = self.folder / "cases" / f"{dataset}.parquet"
        if not path.exists():
            load_dataset(
                plan.dataset_options(dataset),
                plan.load_context(dataset),
                path,
                self.folder / f"{dataset}.features",
                self.folder / f"{dataset}.cleaning",
            )
        return path

    def hold(self, plan: Plan, name: str) -> pd.DataFrame:
        """Return the transcripts of an experiment, after running its dependencies."""
        if name not in self.held:
            experiment = plan.experiments[name]
            inputs = {key: self.folder / path for key, path in experiment.needed_by("test").items()}
            for path in experiment.needed_by("test").values():
                self.hold(plan, path.split("/")[1])
            cases = self.cases(plan, experiment.config.dataset)
            output = self.folder / "transcripts" / name / "test" / "0.parquet"
            write_transcripts(
                plan,
                Job(name, "test", *read_cases(cases), shard=0, artifacts=inputs),
                [cases],
                output,
            )
            predictions = self.folder / "predictions" / name / "test.parquet"
            calls = self.folder / "calls" / name / "test.parquet"
            write_predictions(plan, name, cases, [output], predictions, calls)
            self.held[name] = pq.read_table(output).to_pandas()
        return self.held[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with FaultServer() as server:
        yield Runs(tmp_path_factory.mktemp("arms"), server)


@pytest.mark.parametrize(("protocol", "arm"), PAIRS, ids=lambda part: part)
def test_every_protocol_runs_under_every_arm_or_is_refused_with_a_reason(
    protocol: str, arm: str, runs: Runs
) -> None:
    arms = ("matched_calls", arm) if arm == "matched_tokens" else (arm,)
    if reason := MEANINGLESS.get((protocol, arm)):
        with pytest.raises(UserError, match=reason) as caught:
            runs.plan(**{protocol: entry(protocol, arms)})
        assert f"experiments.{protocol}.arms: {arms[0]}: " in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    plan = runs.plan(**{protocol: entry(protocol, arms)})
    rows = runs.hold(plan, f"{protocol}-arm={arm}")
    ends = rows[rows["kind"] == "conclusion"]
    assert len(ends) == 4
    statuses = {json.loads(parsed)["status"] for parsed in ends["parsed"]}
    assert "valid" in statuses and statuses <= {"valid", "invalid"}, ends["parsed"].tolist()


def full_and(
    runs: Runs, arm: str, protocol: str = "courtroom"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    plan = runs.plan(**{protocol: entry(protocol, (arm,))})
    return runs.hold(plan, protocol), runs.hold(plan, f"{protocol}-arm={arm}")


def note_of(rows: pd.DataFrame) -> dict[str, str]:
    """Return the only note of an arm in these rows."""
    [text] = set(rows.loc[rows["kind"] == "arm", "parsed"])
    note: dict[str, str] = json.loads(text)
    return note


def public(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["visibility"] == "public") & (rows["speaker"] != "moot")]


def prompts_of(runs: Runs, name: str) -> dict[str, str]:
    calls = pq.read_table(
        runs.folder / "calls" / name / "test.parquet", columns=["call_id", "request"]
    ).to_pylist()
    return {row["call_id"]: row["request"] for row in calls}


def test_noise_is_speech_about_another_case_without_calls_of_debaters(runs: Runs) -> None:
    baseline, noise = full_and(runs, "noise")
    utterances = public(noise)[public(noise)["speaker"] != "judge"]
    assert set(utterances["source"]) == {"borrowed"}
    assert set(noise.loc[noise["source"] == "model", "speaker"]) == {"judge"}
    donors: dict[str, str] = {}
    for case, mine in utterances[utterances["source"] == "borrowed"].groupby("case_id"):
        donor = note_of(noise[noise["case_id"] == case])["case"]
        theirs = public(baseline)[
            (public(baseline)["case_id"] == donor) & (public(baseline)["speaker"] != "judge")
        ]
        assert (
            mine[["speaker", "kind", "text"]].to_numpy().tolist()
            == theirs[["speaker", "kind", "text"]].to_numpy().tolist()
        )
        assert case != donor
        donors[str(case)] = donor
    assert set(donors) == set(donors.values())


def test_noise_on_a_panel_replaces_the_opinions_of_the_other_judges(runs: Runs) -> None:
    _, noise = full_and(runs, "noise", "panel")
    requests = prompts_of(runs, "panel-arm=noise")
    first = noise[(noise["kind"] == "statement") & (noise["round"] == 1) & (noise["repeat"] == 0)]
    second = noise[(noise["kind"] == "statement") & (noise["round"] == 2)]
    for row in second.to_dict("records"):
        mine = first[first["case_id"] == row["case_id"]].set_index("speaker")["text"]
        request = requests[row["call_id"]]
        assert mine[row["speaker"]] in request
        for speaker, text in mine.drop(row["speaker"]).items():
            assert text not in request, speaker


def test_a_judge_alone_has_as_many_turns_as_the_debaters(runs: Runs) -> None:
    baseline, solo = full_and(runs, "alone")
    turns = public(baseline)[public(baseline)["speaker"] != "judge"].groupby("case_id").size()
    assert (
        solo[solo["kind"] == "thought"].groupby("case_id").size().to_dict()
        == turns.to_dict()
        == dict.fromkeys(turns.index, 6)
    )
    assert set(solo["speaker"]) == {"judge", "moot"}
    last = solo[solo["kind"] == "verdict"].iloc[0]
    thoughts = solo[(solo["debate_id"] == last["debate_id"]) & (solo["kind"] == "thought")]["text"]
    request = prompts_of(runs, "courtroom-arm=alone")[last["call_id"]]
    assert all(text in request for text in thoughts)


def test_a_consultancy_hears_each_side_in_half_of_the_cases(
    runs: Runs,
) -> None:
    plan = runs.plan(twice=entry("courtroom", ("consultancy",), repeats=2))
    rows = runs.hold(plan, "twice-arm=consultancy")
    sides = {"yes": "prosecutor", "no": "defense"}
    for (case, repeat), mine in rows.groupby(["case_id", "repeat"]):
        side = note_of(mine)["side"]
        assert set(mine["speaker"]) == {sides[side], "judge", "moot"}, (case, repeat)
    notes = rows[rows["kind"] == "arm"]
    assert notes.groupby("case_id")["parsed"].nunique().eq(2).all(), (
        "the other side in the other repeat"
    )
    baseline = runs.hold(plan, "twice")
    assert set(rows["call_id"]) & set(baseline["call_id"]) - {""}, "equal calls are made once"


def test_swapped_debaters_exchange_order_and_models(runs: Runs) -> None:
    baseline, swapped = full_and(runs, "swap")
    order = [
        public(rows[rows["case_id"] == rows["case_id"].iloc[0]])["speaker"].tolist()
        for rows in (baseline, swapped)
    ]
    assert order[0] == ["prosecutor", "defense"] * 3 + ["judge"]
    assert order[1] == ["defense", "prosecutor"] * 3 + ["judge"]
    raw = configuration("http://nowhere.invalid", runs.folder)
    raw["models"]["other"] = raw["models"]["test"]
    raw["experiments"]["trial"] |= {
        "arms": ["swap"],
        "params": {"seats": {"defense": "other", "judge": "other"}},
    }
    plan = Plan.from_yaml(raw, PROJECT)
    assert plan.experiments["trial-arm=swap"].params.seats == {
        "prosecutor": "other",
        "judge": "other",
    }


def messages_of(request: str) -> list[tuple[str, str]]:
    return [(role, content) for role, content in json.loads(request)["messages"]]


def test_a_committed_judge_decides_first_and_reads_its_own_decision(
    runs: Runs,
) -> None:
    _, rows = full_and(runs, "commit_first")
    requests = prompts_of(runs, "courtroom-arm=commit_first")
    for _, debate in rows.groupby("debate_id"):
        first, *later_rows = debate[debate["call_id"] != ""].to_dict("records")
        assert (first["kind"], first["speaker"], first["visibility"]) == (
            "commitment",
            "judge",
            "judge",
        )
        assert note_of(debate)["side"] == first["prediction"]
        for row in later_rows:
            assistant = [
                text for role, text in messages_of(requests[row["call_id"]]) if role == "assistant"
            ]
            assert assistant == ([first["text"]] if row["speaker"] == "judge" else [])
            assert requests[row["call_id"]].count("commitment, round") == 0, (
                "the notes do not repeat the commitment"
            )


def test_a_judge_is_challenged_until_it_changes_its_answer(runs: Runs) -> None:
    baseline, rows = full_and(runs, "challenge")
    requests = prompts_of(runs, "courtroom-arm=challenge")
    verdicts = baseline[baseline["kind"] == "verdict"].set_index("debate_id")
    conclusions = rows[rows["kind"] == "conclusion"].set_index("debate_id")
    gave_way = 0
    for name, debate in rows.groupby("debate_id"):
        verdict, steps = verdicts.loc[name], debate[debate["kind"] == "challenge"]
        verdict_messages = messages_of(requests[verdict["call_id"]])
        for number, step in enumerate(steps.to_dict("records"), 1):
            step_messages = messages_of(requests[step["call_id"]])
            assert step_messages[: len(verdict_messages)] == verdict_messages, (
                "the prompt begins with that of the verdict, unchanged"
            )
            assert len(step_messages) == len(verdict_messages) + 2 * number and step_messages[
                len(verdict_messages)
            ] == (
                "assistant",
                verdict["text"],
            )
        is_steadfast = steps["prediction"] == verdict["prediction"]
        assert len(steps) == 6 or not is_steadfast.iloc[-1]
        assert (
            is_steadfast.iloc[:-1].all()
            and conclusions.loc[name, "prediction"] == steps["prediction"].iloc[-1]
        )
        gave_way += not is_steadfast.iloc[-1]
    assert set(rows.loc[rows["kind"] != "challenge", "call_id"]) >= set(baseline["call_id"]), (
        "the arm reuses the calls of the debate"
    )
    assert 0 < len(rows[rows["kind"] == "challenge"]) <= 6 * len(conclusions), gave_way


def test_a_judge_scored_by_words_is_challenged_in_words(runs: Runs) -> None:
    plan = runs.plan(
        scored=entry(
            "courtroom", ("challenge",), params={"answer": "likelihood", "beliefs": "none"}
        )
    )
    rows = runs.hold(plan, "scored-arm=challenge")
    steps = rows[rows["kind"] == "challenge"]
    assert len(steps) and all("logprobs" in json.loads(parsed) for parsed in steps["parsed"])
    request = prompts_of(runs, "scored-arm=challenge")[steps["call_id"].iloc[0]]
    assert messages_of(request)[-2] in (("assistant", "YES"), ("assistant", "NO"))


def test_swapped_labels_are_used_in_prompts_and_translated_back_for_scores(
    runs: Runs,
) -> None:
    baseline, swapped = full_and(runs, "labels_swapped")
    requests = prompts_of(runs, "courtroom-arm=labels_swapped")
    verdict = swapped[swapped["kind"] == "verdict"].iloc[0]
    request = requests[verdict["call_id"]]
    legend = (
        "P means that the person will be arrested again; Q means that the person will not be"
        " arrested again."
    )
    assert {text.count(legend) for text in requests.values()} == {1}
    assert '"YES"' not in request and '"enum":["P","Q"]' in request
    prediction = json.loads(verdict["text"])["prediction"]
    assert verdict["prediction"] == {"P": "yes", "Q": "no"}[prediction]
    assert json.loads(verdict["parsed"])["prediction"] == {"P": "YES", "Q": "NO"}[prediction]
    answers = swapped[swapped["kind"] == "conclusion"]
    assert set(answers["prediction"]) <= {"yes", "no"}
    assert sorted(answers["case_id"]) == sorted(
        baseline[baseline["kind"] == "conclusion"]["case_id"]
    )


@pytest.mark.parametrize(
    "protocol", ["zero_shot", "feedback", "panel", "four_step_cot", "alone", "stance"]
)
def test_every_prompt_explains_the_swapped_labels_once(protocol: str, runs: Runs) -> None:
    full_and(runs, "labels_swapped", protocol)
    requests = prompts_of(runs, f"{protocol}-arm=labels_swapped").values()
    explanation = re.compile("P(?: means that|:) the person will be arrested again")
    assert {len(explanation.findall(text)) for text in requests} == {1}


def test_the_judge_of_agreement_reads_its_options_in_reversed_order(runs: Runs) -> None:
    full_and(runs, "labels_swapped", "agreement")
    for name, words in (
        ("agreement", "MORE DEBATE or AGREEMENT"),
        ("agreement-arm=labels_swapped", "AGREEMENT or MORE DEBATE"),
    ):
        for request in prompts_of(runs, name).values():
            assert f"Answer with {words} and nothing else" in request


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("plant_citation", "13th Cir."),
        ("plant_authority", "leading experts"),
        ("plant_certainty", "beyond any doubt"),
    ],
)
def test_planted_words_occur_once_in_the_first_statement_of_one_debater(
    arm: str, words: str, runs: Runs
) -> None:
    _, planted = full_and(runs, arm)
    for _, mine in planted.groupby("debate_id"):
        utterances = public(mine)
        [position] = utterances.index[utterances["text"].str.contains(words, regex=False)]
        note = json.loads(mine.loc[mine["kind"] == "arm", "parsed"].iloc[0])
        assert (utterances.loc[position, "speaker"], utterances.loc[position, "kind"]) == (
            note["speaker"],
            "opening",
        )
        assert note["side"] == {"prosecutor": "yes", "defense": "no"}[note["speaker"]]
    assert planted.loc[planted["kind"] == "arm", "parsed"].nunique() > 1, "not always the same side"


def test_each_debater_signs_its_first_statement_with_a_random_name(runs: Runs) -> None:
    _, signed = full_and(runs, "plant_names")
    names = []
    for _, mine in signed.groupby("debate_id"):
        utterances = public(mine)
        speakers = []
        for name in ("Emily Walsh", "Lakisha Washington"):
            is_signed = utterances["text"].str.endswith(f"So submits {name}.")
            [[speaker, kind]] = utterances.loc[is_signed, ["speaker", "kind"]].to_numpy().tolist()
            assert kind == "opening"
            speakers.append(speaker)
        assert set(speakers) == {"prosecutor", "defense"}
        first_side = {"prosecutor": "yes", "defense": "no"}[speakers[0]]
        notes = mine.loc[mine["kind"] == "arm", "parsed"]
        sides = {json.loads(note)["side"] for note in notes}
        assert sides == {first_side}, "each note names the side with the first name"
        names.append(speakers[0])
    assert len(set(names)) == 2, "not always the same side"


def test_planted_words_after_a_truncated_statement_start_a_paragraph() -> None:
    separators = {
        "It is so.": " ",
        "It is “so.”": " ",
        "“本案如此。”": " ",
        "It is so because of": "\n\n",
        "cites Doe v. Roe,": "\n\n",
    }
    assert {text: separator(text) for text in separators} == separators


def test_padding_doubles_the_length_of_all_statements_of_one_debater(runs: Runs) -> None:
    baseline, padded = full_and(runs, "plant_padding")
    for debate_id, mine in padded.groupby("debate_id"):
        speaker = json.loads(mine.loc[mine["kind"] == "arm", "parsed"].iloc[0])["speaker"]
        utterances = public(mine)[public(mine)["speaker"] == speaker]
        added = mine.loc[mine["kind"] == "arm", "text"].str.len().to_numpy()
        lengths = utterances["text"].str.len().to_numpy() - added - 1
        assert ((added >= lengths - 1) & (added <= lengths + 80)).all()
        assert len(utterances) == 3
        openings = public(baseline)[
            (public(baseline)["debate_id"] == debate_id) & (public(baseline)["speaker"] == speaker)
        ]
        if speaker == "prosecutor":
            assert utterances["text"].iloc[0].startswith(openings["text"].iloc[0]), (
                "equal prompts have equal replies"
            )


def test_samples_match_the_calls_and_tokens_of_the_debate(runs: Runs) -> None:
    plan = runs.plan(courtroom=entry("courtroom", ("matched_calls", "matched_tokens")))
    samples = {}
    for arm in ("matched_calls", "matched_tokens"):
        rows = runs.hold(plan, f"courtroom-arm={arm}")
        samples[arm] = set(rows[rows["kind"] == "sample"].groupby("case_id").size())
    runs.hold(plan, "courtroom")
    calls = pq.read_table(runs.folder / "predictions" / "courtroom" / "test.parquet")[
        "calls"
    ].to_pylist()
    assert samples["matched_calls"] == {calls[0]} == {16}
    folder = runs.folder / "predictions"
    debate = pq.read_table(folder / "courtroom" / "test.parquet").to_pandas()
    sample = pq.read_table(folder / "courtroom-arm=matched_calls" / "test.parquet").to_pandas()
    column = "cost_usd" if debate["cost_usd"].any() else "completion_tokens"
    debated, sampled = debate[column].mean(), sample[column].mean()
    assert samples["matched_tokens"] == {max(1, round(debated / (sampled / 16)))}


def test_a_preview_counts_the_calls_of_arms_before_the_debate(tmp_path: Path, runs: Runs) -> None:
    raw = configuration("http://nowhere.invalid", tmp_path, {"max_tokens": 40})
    raw["experiments"] = {
        "trial": entry("courtroom", ("noise", "alone", "matched_calls", "matched_tokens"))
    }
    raw["shards"] = 2
    people(tmp_path / "results" / "cases" / "people.parquet", 8)
    call_count = runs.server.count()
    rows = preview(Plan.from_yaml(raw, PROJECT), tmp_path / "results").set_index("experiment")
    calls = rows["calls_to_make"].rename(lambda name: name.removeprefix("trial-arm=")).to_dict()
    tokens = rows.loc["trial", "completion_tokens"]
    price = rows.loc["trial-arm=matched_calls", "completion_tokens"] / (4 * 16)
    matched_samples = 4 * (round(tokens / 4 / price) - 16)  # the other arm has the first 16 samples
    assert calls == {
        "trial": 64,
        "noise": 16,
        "alone": 28,
        "matched_calls": 64,
        "matched_tokens": max(0, matched_samples),
        "total": sum(calls.values()) - calls["total"],
    }
    assert "transcripts/trial/test/0.parquet" in rows.loc["trial-arm=noise", "needs"]
    assert not (tmp_path / "ledger" / "results").exists() and runs.server.count() == call_count, (
        "a preview makes no calls"
    )


def test_an_explicit_arm_names_its_experiment_and_faults_are_reported(runs: Runs) -> None:
    arm_entry = entry("courtroom", control="noise", control_of="courtroom")
    assert runs.plan(mine=arm_entry).experiments["mine"].needs == {
        "held": "transcripts/courtroom/{model}/0.parquet"
    }
    for change, message in (
        ({"control": "noise"}, "`control` and `control_of` go together"),
        (
            {"control": "noise", "control_of": "courtrom"},
            "unknown experiment of this run 'courtrom'; did you mean 'courtroom'?",
        ),
        (
            {"control": "noisy", "control_of": "courtroom"},
            "unknown control 'noisy'; did you mean 'noise'?",
        ),
        ({"arms": ["nois"]}, "unknown control arm 'nois'; did you mean 'noise'?"),
        ({"arms": ["matched_tokens"]}, "takes the price of a sample from 'matched_calls'"),
        (
            {"arms": ["consultancy"], "params": {"roles": "cooperative"}},
            "told no side to argue for",
        ),
    ):
        with pytest.raises(UserError, match=message.replace("?", r"\?")):
            runs.plan(mine=entry("courtroom", **change))
    for arm in ("alone", "matched_calls"):
        with pytest.raises(
            UserError, match=f"mine.arms: {arm}: .*the answer is what debaters come to"
        ):
            runs.plan(mine=entry("conference", (arm,), dataset="conference"))
    with pytest.raises(UserError, match="this experiment has one debater"):
        runs.plan(mine={**entry("feedback", ("swap",)), "params": {"debaters": 1}})
    runs.experiments["lone"] = entry("courtroom", ("noise",), cases=1)
    with pytest.raises(UserError, match="noise is what was said about another case"):
        runs.hold(runs.plan(), "lone-arm=noise")
    del runs.experiments["lone"]


def test_arms_run_with_their_experiment_unless_a_pattern_excludes_them(tmp_path: Path) -> None:
    raw = configuration("http://nowhere.invalid", tmp_path)
    raw["experiments"] = {"trial": entry("courtroom", ("noise", "alone"), models=["test"])}

    def run(*names: str) -> list[str]:
        return list(Plan.from_yaml({**raw, "run": list(names)}, PROJECT).experiments)

    assert run() == run("trial") == ["trial", "trial-arm=noise", "trial-arm=alone"]
    with pytest.raises(UserError, match="control_of: unknown experiment of this run 'trial'"):
        run("trial-arm=noise")
    raw["models"]["other"] = raw["models"]["test"]
    raw["experiments"]["trial"] |= {
        "models": ["test", "other"],
        "arm_models": "other",
        "arm_cases": 2,
    }
    arm = Plan.from_yaml(raw, PROJECT).experiments["trial-arm=noise"].config
    assert (arm.models, arm.cases) == (("other",), 2)
    with pytest.raises(
        UserError,
        match=r"arm_models: unknown model of this experiment 'tset'; did you mean 'test'\?",
    ):
        Plan.from_yaml(
            {
                **raw,
                "experiments": {"trial": {**raw["experiments"]["trial"], "arm_models": ["tset"]}},
            },
            PROJECT,
        )
    raw["min_debates"] = 1
    raw["contrasts"] = {
        "debate-adds": {"first": "trial", "second": "trial-arm=alone", "direction": "first_higher"}
    }
    [contrast] = Plan.from_yaml(raw, PROJECT).contrasts_of("courtroom")
    assert (str(contrast.second.experiment), contrast.missing) == ("trial-arm=alone", "")


@pytest.mark.parametrize(
    ("arm", "original", "altered"),
    [
        ("plant_misquote", "was seen near the river", "was not seen near the river"),
        ("plant_wrong_figure", "12 May 1998", "12 May 199"),
    ],
)
def test_one_passage_of_the_case_is_altered_in_one_statement(
    arm: str, original: str, altered: str, tmp_path: Path
) -> None:
    statement = "There are 77 doubts. He “was seen near the river” on 12 May 1998, says “a b c d”."
    with FaultServer(speech=statement) as server:
        runs = Runs(tmp_path, server)
        people(tmp_path / "cases" / "people.parquet", 8, "He was seen near the river, 12 May 1998.")
        baseline, planted = full_and(runs, arm)
    assert len(public(baseline)) == len(public(planted))
    for _, mine in planted.groupby("debate_id"):
        [note] = [json.loads(parsed) for parsed in mine.loc[mine["kind"] == "arm", "parsed"]]
        assert note["original"] == original
        texts = public(mine).set_index("turn")["text"]
        texts = texts[~texts.str.startswith("{")]
        [turn] = texts.index[texts.str.contains(altered) & (texts != statement)]
        assert turn == note["turn"]
        assert (texts.drop(turn) == statement).all()
        assert texts[turn].startswith("There are 77 doubts. He ")
