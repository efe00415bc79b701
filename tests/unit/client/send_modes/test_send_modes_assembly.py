from datetime import timedelta
from pathlib import Path

import pytest

from aerobee.errors import Misuse
from tests.client_kit import LocalCluster, with_cluster


def test_a_spill_is_given_its_rules_in_words(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            spill = client.spill("s.sqlite", expire=timedelta(microseconds=1), keep_unknown=False)
            assert spill.rules.expire_ms == 1
            assert not spill.rules.keeps_unknown
            assert client.spill("s.sqlite").rules.expire_ms is None
            with pytest.raises(Misuse):
                client.spill("s.sqlite", max_bytes=0)

    with_cluster(tmp_path, test)
