"""Apache's proxy in front of Aerobee's broker, and a client of gRPC that knows the proxy alone; and
what Apache's proxy answers otherwise than Aerobee.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.grpc_caller import code_of_priority
from tests.interop.apache import install, missing
from tests.interop.features.conftest import Names, Programs, check_tools
from tests.interop.features.ground import Ground
from tests.interop.features.grpc.test_simple import postpone_one_of_two, prepare
from tests.interop.features.servers import AerobeeServer, ApacheProxy, ApacheServer


class BehindApacheProxy(AerobeeServer):
    """A name server and a broker of ours; Apache's proxy speaks gRPC for them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._proxy = ApacheProxy(folder, self.name_server)

    def grpc_address(self) -> str:
        return self._proxy.address

    def __exit__(self, *error: object) -> None:
        self._proxy.end()
        super().__exit__(*error)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[BehindApacheProxy]:
    check_tools("apache", missing())
    with BehindApacheProxy(tmp_path) as started:
        yield started


@pytest.mark.java
def test_a_message_comes_again_after_its_changed_invisible_duration(
    server: BehindApacheProxy, tmp_path: Path
) -> None:
    names = Names("behind", "group-behind", "one", "two")
    ground = Ground(server)
    prepare(ground, names)
    programs = Programs("python-grpc", server, tmp_path)
    try:
        postpone_one_of_two(programs.current(), ground, names)
    finally:
        programs.end()


@pytest.mark.java
def test_apache_takes_a_priority_below_0_for_a_fault_of_its_own(tmp_path: Path) -> None:
    check_tools("apache", missing())
    with ApacheServer(tmp_path, install()) as apache:
        Ground(apache).create_topic("refusals", kind="PRIORITY")
        codes = [code_of_priority(apache.grpc_address(), "refusals", one) for one in (-1, 0)]
    assert codes == [50001, 20000]
