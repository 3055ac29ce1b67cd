"""What stands in the papers' texts and appendices, beside what a run has."""

from pathlib import Path

from moot.papers.items import PaperItem
from moot.papers.page import ItemContent, values_in_text, write_page
from moot.papers.parts import Fact
from paper_items import PAPERS, PUBLISHED


def test_a_number_of_the_text_has_its_total_its_note_and_the_runs_value(tmp_path: Path) -> None:
    own = [Fact("synthetic/opinion_changes", "3 of 12")]
    values = {name: rest for name, *rest in values_in_text(PUBLISHED, own)}
    is_half = "changes of opinion (600 is half of the 1200 opportunities)"
    assert values[f"Synthetic debate: {is_half}"] == ["20 of 600", "3 of 12"]
    assert values[f"Multiagent debate: {is_half}"] == ["23 of 600", ""]
    assert values["Human-AI debate: changes of opinion"][0] == "43 of 400"
    assert values["Synthetic debate: debates that went beyond three rounds"][0] == "15 of 100"
    assert values["Clusters covered without a judge (model not named)"][0] == "6"
    assert len(values) == PUBLISHED["table"].str.startswith("text").sum(), "names, each once"
    for number in ("0.428", "0.849", "0.752", "9,100"):
        assert number in {value for value, _ in values.values()}
    paper = PAPERS["appellate"]
    item = PaperItem("appellate/text", "facts", "In the text")
    shown = [("changes <b>", "20 of 600", "3 of 12")]
    pages = []
    for text in (ItemContent(item, text_values=shown), ItemContent(item, own)):
        write_page(paper, [], {}, tmp_path, in_text=text)
        pages.append((tmp_path / "appellate.html").read_text(encoding="utf-8"))
    assert "changes &lt;b&gt;" in pages[0] and "3 of 12" in pages[0]
    assert "In the text" in pages[0] and "In the text" not in pages[1], "without content"
