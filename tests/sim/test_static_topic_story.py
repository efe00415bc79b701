"""Stories of a static topic by its seeds; `python -m tests.sim --static --seeds 500` runs more."""

from collections import Counter

from tests.sim.static_topic_story import run_static_topic_seed

SEEDS = 5


def test_no_seed_breaks_a_promise_of_static_topics() -> None:
    counts: Counter[str] = Counter()
    for seed in range(SEEDS):
        told = run_static_topic_seed(seed)
        assert not told.breaches, told.explain()
        counts.update(told.counts)
    assert counts["acknowledged"] > 60
    for what in ("changes", "interrupted", "refused", "expired", "deaths"):
        assert counts[what] >= 2, what
