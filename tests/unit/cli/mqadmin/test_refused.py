import pytest

from aerobee.cli.mqadmin.refused import COMMANDS
from tests.mqadmin_kit import Fails, Place


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_what_cannot_be_done_says_why_and_what_to_do_whatever_its_flags(
    place: Place, name: str
) -> None:
    (command,) = [one for one in COMMANDS if one.name == name]
    reason = command.why_not.partition(":")[0]
    place.see_refused(Fails(f"{name} -a x -bn y --nothing 1", reason))
    place.see_refused(Fails(name.upper(), reason))
