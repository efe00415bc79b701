"""The programs of `tests/pop_program.py` against Apache's broker: they say what it does."""

from collections.abc import Iterator

import pytest

from tests.interop.apache import Broker, Jars
from tests.pop_program import PROGRAMS, Popping, Program

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def broker(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp("apache")
    with jars.broker(folder, folder / "store", {"timerWheelEnable": "true"}) as started:
        yield started


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_apache_does_the_same(broker: Broker, program: Program) -> None:
    with Popping(int(broker.address.rpartition(":")[2])) as popping:
        program(popping)
