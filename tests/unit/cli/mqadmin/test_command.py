import asyncio

import pytest

from aerobee.cli.mqadmin.command import Call
from aerobee.cli.mqadmin.options import Given
from aerobee.client.admin.admin import admin
from aerobee.errors import Misuse
from tests.mqadmin_kit import Place


def masters(place: Place, **said: str) -> list[str]:
    async def ask() -> list[str]:
        async with admin(place.name_server) as asking:
            return await Call(Given(said), asking, place.name_server).masters()

    return asyncio.run(ask())


def test_a_broker_is_asked_by_its_address_and_a_cluster_by_all_its_masters(place: Place) -> None:
    assert masters(place, brokerAddr="10.0.0.1:1") == ["10.0.0.1:1"]
    assert masters(place, clusterName="DefaultCluster") == [place.address]
    assert masters(place, brokerAddr="10.0.0.1:1", clusterName="x") == ["10.0.0.1:1"]


def test_a_cluster_that_is_not_there_is_named_with_those_that_are(place: Place) -> None:
    with pytest.raises(Misuse, match=r"no cluster 'x' \(there are: DefaultCluster\)"):
        masters(place, clusterName="x")
    with pytest.raises(Misuse, match="one of --brokerAddr or --clusterName"):
        masters(place)


def test_what_is_said_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    call = Call(Given({}), admin("127.0.0.1:1"), "127.0.0.1:1")
    call.say("one")
    call.say("two", end="")
    assert capsys.readouterr().out == "one\ntwo"
