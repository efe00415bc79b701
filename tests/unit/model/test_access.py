import pytest

from aerobee.model.access import (
    EVERYTHING,
    Action,
    Credentials,
    Pattern,
    Resource,
    ResourceKind,
    User,
    find_action,
    find_network,
    find_resource,
)

TOPIC = ResourceKind.TOPIC


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        ("*", EVERYTHING),
        ("Topic:*", Resource(TOPIC, "", Pattern.ANY)),
        ("topic:orders", Resource(TOPIC, "orders")),
        ("TOPIC:ord*", Resource(TOPIC, "ord", Pattern.PREFIXED)),
        ("Topic:a*b*", Resource(TOPIC, "a", Pattern.PREFIXED)),
        ("Group:g", Resource(ResourceKind.GROUP, "g")),
        ("Cluster:c", Resource(ResourceKind.CLUSTER, "c")),
        ("Namespace:n", Resource(ResourceKind.NAMESPACE, "n")),
        ("", None),
        ("orders", None),
        ("Topic:", None),
        ("Queue:x", None),
        ("Any:x", None),
    ],
)
def test_a_resource_is_read_as_rocketmq_reads_it(text: str, resource: Resource | None) -> None:
    assert find_resource(text) == resource


@pytest.mark.parametrize("text", ["*", "Topic:*", "Topic:orders", "Topic:ord*", "Group:g"])
def test_a_resource_is_written_as_it_was_read(text: str) -> None:
    assert str(find_resource(text)) == text


@pytest.mark.parametrize(
    ("text", "kind", "name", "is_covered"),
    [
        ("*", TOPIC, "orders", True),
        ("*", ResourceKind.CLUSTER, "c", True),
        ("Topic:*", TOPIC, "", True),
        ("Topic:*", ResourceKind.GROUP, "orders", False),
        ("Topic:orders", TOPIC, "orders", True),
        ("Topic:orders", TOPIC, "Orders", False),
        ("Topic:orders", TOPIC, "orders2", False),
        ("Topic:ord*", TOPIC, "orders", True),
        ("Topic:ord*", TOPIC, "or", False),
    ],
)
def test_a_rule_is_about_resources_of_its_kind_and_name(
    text: str, kind: ResourceKind, name: str, is_covered: bool
) -> None:
    found = find_resource(text)
    assert found is not None
    assert found.covers(Resource(kind, name)) is is_covered


def test_actions_are_known_in_any_case() -> None:
    assert find_action("pUB") is Action.PUB
    assert find_action(" All ") is Action.ALL
    assert find_action("Any") is None
    assert find_action("Fly") is None


def test_sources_are_addresses_and_networks() -> None:
    for text in ("10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "10.1.2.3/8"):
        assert find_network(text) is not None
    for text in ("", "10.0.0", "10.0.0.0/33", "host", "*"):
        assert find_network(text) is None


def test_no_secret_is_shown() -> None:
    for value in (User("u", "hidden"), Credentials("u", "hidden", "hidden")):
        assert "hidden" not in repr(value)
        assert "hidden" not in str(value)
