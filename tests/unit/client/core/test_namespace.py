import pytest

from aerobee.client.core.namespace import with_namespace, without_namespace


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("orders", "shop%orders"),
        ("%RETRY%billing", "%RETRY%shop%billing"),
        ("%DLQ%billing", "%DLQ%shop%billing"),
        ("shopping", "shop%shopping"),
    ],
)
def test_a_name_goes_out_with_its_namespace_and_comes_back_without(name: str, wire: str) -> None:
    assert with_namespace("shop", name) == wire
    assert with_namespace("shop", wire) == wire
    assert without_namespace("shop", wire) == name


@pytest.mark.parametrize("name", ["TBW102", "SCHEDULE_TOPIC_XXXX", "rmq_sys_TRACE_DATA_x"])
def test_what_is_the_systems_own_belongs_to_no_namespace(name: str) -> None:
    assert with_namespace("shop", name) == name


def test_without_a_namespace_names_are_as_they_are() -> None:
    assert with_namespace("", "orders") == "orders"
    assert without_namespace("", "shop%orders") == "shop%orders"
