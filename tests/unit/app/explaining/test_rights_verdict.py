import pytest

from aerobee.app.explaining.rights_verdict import rights_verdicts, rule_text
from aerobee.client.admin.admin import Admin
from aerobee.errors import Misuse
from aerobee.model.access import DEFAULT, DENY, Rule
from aerobee.testing import Cluster
from tests.admin_kit import with_admin


def test_a_rule_is_written_on_one_line() -> None:
    rule = Rule("Topic:a", ("Pub", "Sub"), DENY, ("10.0.0.0/8",), DEFAULT)
    assert rule_text(rule) == "Deny Pub, Sub on Topic:a from 10.0.0.0/8 (default)"
    assert rule_text(Rule("*", ("All",))) == "Allow All on *"


def test_what_is_no_action_or_resource_is_a_misuse_before_anybody_is_asked() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        for action, resource in (("Eat", "Topic:a"), ("Pub", "a")):
            with pytest.raises(Misuse):
                await rights_verdicts(admin.access, "alice", action, resource)

    with_admin(test)
