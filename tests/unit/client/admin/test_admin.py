import inspect
import re
from pathlib import Path

import pytest

from aerobee.client.admin.admin import Admin, admin
from aerobee.errors import Misuse, Unreachable
from aerobee.protocol.request_codes import RequestCode
from aerobee.testing import Cluster
from tests.admin_kit import with_admin
from tests.net_kit import in_loop


def test_a_cluster_is_what_its_name_servers_know() -> None:
    async def test(tool: Admin, cluster: Cluster) -> None:
        info = await tool.cluster()
        assert info.names_by_cluster() == {"DefaultCluster": ["broker-a", "broker-b"]}

    with_admin(test, brokers=2)


def test_it_cannot_be_used_before_it_is_opened() -> None:
    async def test() -> None:
        with pytest.raises(Misuse, match="not open"):
            await admin("127.0.0.1:1").cluster()

    in_loop(test)


def test_it_takes_what_an_admin_client_needs_and_no_more() -> None:
    with pytest.raises(Misuse, match="an admin client takes no timeot=") as caught:
        admin("a:1", timeot=3)  # type: ignore[call-arg]
    assert caught.value.hint == "did you mean timeout=?"
    with pytest.raises(Misuse, match="an admin client takes no namespace="):
        admin("a:1", namespace="shop")  # type: ignore[call-arg]


def test_its_requests_have_five_seconds_unless_it_is_told_otherwise() -> None:
    assert admin("a:1")._session.options.timeout == 5.0
    assert admin("a:1", timeout=7)._session.options.timeout == 7.0


def test_without_a_name_server_it_says_where_none_is() -> None:
    async def test() -> None:
        async with admin("127.0.0.1:1") as tool:
            with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1"):
                await tool.topics.names()

    in_loop(test)


def test_every_request_of_tools_can_be_asked() -> None:
    folder = Path(inspect.getfile(Admin)).parent
    text = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    asked = set(re.findall(r"RequestCode\.([A-Z_0-9]+)", text))
    # What name servers know of routes and clusters is asked by their own module.
    asked.add("GET_BROKER_CLUSTER_INFO")
    wanted = {
        code.name for code in RequestCode if "admin" in code.marks and set(code.serves) & {*"BN"}
    }
    assert wanted - asked == set()
