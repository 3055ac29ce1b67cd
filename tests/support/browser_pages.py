"""How pages are looked at in a browser: the sizes of windows, and what axe-core says."""

from typing import Any

WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


def violations(page: Any, axe: str) -> list[str]:
    """What axe-core finds wrong with a page: rule, element and what to do, one line each."""
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run({runOnly: rules})", RULES)["violations"]
    return [
        f"{fault['id']}: {node['html'][:120]}: {node['failureSummary']}"
        for fault in found
        for node in fault["nodes"]
    ]
