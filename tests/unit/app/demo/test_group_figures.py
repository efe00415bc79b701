from pathlib import Path

from aerobee.app.demo.group_figures import DOWN, GroupAsker
from aerobee.app.members.member_process import MemberProcess
from aerobee.app.settings.up_settings import UpFlags, read_settings
from aerobee.testing.cluster import Cluster
from tests.net_kit import in_loop


def test_members_that_were_never_started_are_down(tmp_path: Path) -> None:
    async def test() -> None:
        flags = UpFlags(str(tmp_path), replication="raft", port="20911")
        settings = read_settings(flags, {})
        async with Cluster() as cluster:
            members = [MemberProcess(one, lambda: cluster.address) for one in settings.members]
            figures = await GroupAsker(cluster.client.admin, members).ask()
        assert [one.role for one in figures.members] == [DOWN] * 3
        assert [one.address for one in figures.members] == [
            "127.0.0.1:20911",
            "127.0.0.1:20921",
            "127.0.0.1:20931",
        ]
        assert figures.term == 0

    in_loop(test)
