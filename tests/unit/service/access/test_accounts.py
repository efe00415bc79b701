from aerobee.model.access import Action, Rule, find_resource
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import VERDICTS_MAX, Accounts

TABLE = AccessTable().with_user(UserChange("alice", "secret"), None)
TOPIC = find_resource("Topic:T")
PUB = (Action.PUB,)


def test_an_account_is_ready_for_signatures() -> None:
    account = Accounts(TABLE).find("alice")
    assert account is not None
    assert (account.user.password, account.is_super) == ("secret", False)
    assert account.signing_key is account.signing_key
    assert Accounts(TABLE).find("bob") is None


def test_a_decision_is_made_anew_when_the_table_changes() -> None:
    assert TOPIC is not None
    accounts = Accounts(TABLE)
    before = accounts.find("alice")
    assert before is not None
    assert not before.verdict(TOPIC, PUB, "").is_allowed
    accounts.replace(TABLE.with_rules("alice", [Rule("Topic:T", ("Pub",))]))
    after = accounts.find("alice")
    assert after is not None
    assert after.verdict(TOPIC, PUB, "").is_allowed
    assert accounts.epoch == 1
    accounts.replace(accounts.table)
    assert accounts.epoch == 1


def test_decisions_for_endless_names_take_bounded_memory() -> None:
    accounts = Accounts(TABLE.with_rules("alice", [Rule("Topic:T*", ("Pub",))]))
    account = accounts.find("alice")
    assert account is not None
    for number in range(3 * VERDICTS_MAX):
        topic = find_resource(f"Topic:T{number}")
        assert topic is not None
        assert account.verdict(topic, PUB, "").is_allowed
        assert len(account._verdicts) <= VERDICTS_MAX
