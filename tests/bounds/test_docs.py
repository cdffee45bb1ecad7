"""The generated page: every statement, every symbol, the differences marked, nothing from the network."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import bounds

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import build


class Balanced(HTMLParser):
    """Checks that elements are closed in order, and collects ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids |= {values["id"]} if values.get("id") else set()
        self.links |= {values["href"]} if values.get("href") else set()
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_of_some_statements() -> None:
    check_page(("Theorem 4.9(i-1)", "Theorem 4.9(i-2)", "Theorem 4.9(ii)", "Assumption 4.8", "Section 5.2"))


@pytest.mark.slow
def test_the_whole_page() -> None:
    check_page(bounds.ids())


def check_page(ids: tuple[str, ...]) -> None:
    """Well-formed, self-contained, complete, with the one new summand of Theorem 4.9(i-1) marked."""
    page = build.page(ids)
    reader = Balanced()
    reader.feed(page)
    assert reader.open == []
    assert {link[1:] for link in reader.links} <= reader.ids
    assert not re.search(r'(src|href)="(?!#)', page)
    for name in ids:
        assert build.anchor(name) in reader.ids
    for name in bounds.SYMBOLS:
        assert f"<code>{name}</code>" in page
    convex = page[page.index('id="theorem-4-9-i-1"') : page.index('id="theorem-4-9-i-2"')]
    assert convex.count('class="edition"') == 3
    new = [t for t in build.rows_of(bounds.get("Theorem 4.9(i-1)"))[1] if "72" in t]
    assert len(new) == 1
    marked = build.svg(rf"\quad + {new[0]}")
    assert f'<span class="new">{marked}</span>' in convex
    assert f'<span class="new">{marked}</span>' not in convex.replace(
        f'<span class="new">{marked}</span>', "", 1
    )
