import subprocess
import sys

import pytest

import aerobee.testing
from aerobee.testing.cluster import Cluster


def test_its_names_are_where_they_are_said_to_be() -> None:
    assert aerobee.testing.Cluster is Cluster
    with pytest.raises(AttributeError, match="nothing"):
        _ = aerobee.testing.nothing  # type: ignore[attr-defined]


def test_the_plugin_loads_no_broker_until_it_is_asked_for_one() -> None:
    program = "import sys, aerobee.testing.plugin; print('aerobee.service' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
