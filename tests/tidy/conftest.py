"""A small made-up repository for a rule to find a breach in."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from tests.tidy.source_tree import SourceTree


@pytest.fixture
def planted(tmp_path: Path) -> Callable[[dict[str, str]], SourceTree]:
    def plant(files: dict[str, str]) -> SourceTree:
        for place, text in files.items():
            path = tmp_path / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), "utf-8")
        return SourceTree(tmp_path)

    return plant


@pytest.fixture(scope="session")
def repository() -> SourceTree:
    return SourceTree()
