"""Sizes of browser windows, and the accessibility violations that axe-core reports."""

from typing import Any

WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


def violations(page: Any, axe: str) -> list[str]:
    """Return the violations that axe-core reports for a page: rule, element and remedy."""
    page.evaluate(axe)
    lines = []
    for fault in page.evaluate("rules => axe.run({runOnly: rules})", RULES)["violations"]:
        nodes = fault["nodes"]
        lines += [
            f"{fault['id']}: {node['html'][:120]}: {node['failureSummary']}" for node in nodes
        ]
    return lines
