"""The rare shapes, each told by hand: the sound core keeps the law that each is about."""

from collections.abc import Callable

import pytest

from tests.raft_sim.stories import STORIES


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_the_core_keeps_its_law_in_the_story(story: Callable[[], None]) -> None:
    story()
