from collections.abc import Callable

import pytest

from tests.tidy.property_literals import property_tables, strange_property_literals
from tests.tidy.source_tree import SourceTree

Plant = Callable[[dict[str, str]], SourceTree]

BROKER = "src/aerobee/service/broker"
TABLE = """
    def _kind_of(memory, start, end):
        size = end - start
        byte = memory[start]
        if byte == 0x44:
            return size == 5 and same_bytes(memory, start, bytes_address(b"DELAY"), 0, 5)
        if byte == 0x54:
            if size == 8:
                if same_bytes(memory, start, bytes_address(b"TRAN_MSG"), 0, 8):
                    return 3
            return size >= 6 and same_bytes(memory, start, bytes_address(b"TIMER_"), 0, 6)
        return 0
    """
NAMES = """
    DELAY = "DELAY"
    TRANSACTION_PREPARED = "TRAN_MSG"
    TIMER_OUT_MS = "TIMER_OUT_MS"
    """


def breaches_of(planted: Plant, table: str) -> list[str]:
    return strange_property_literals(
        planted({"src/aerobee/a/fast.py": table, "src/aerobee/model/properties.py": NAMES})
    )


def test_the_tables_of_the_repository_hold_names_of_properties(repository: SourceTree) -> None:
    assert property_tables(repository) == {
        f"{BROKER}/send/fast_send.py",
        f"{BROKER}/send/send_diversion.py",
        f"{BROKER}/transaction/fast_end_transaction.py",
    }
    breaches = strange_property_literals(repository)
    assert not breaches, "\n".join(breaches)


def test_names_and_begins_of_names_are_found_well(planted: Plant) -> None:
    assert breaches_of(planted, TABLE) == []


@pytest.mark.parametrize(
    ("before", "after", "breach"),
    [
        ('b"DELAY"', 'b"DELEY"', "6: b'DELEY' is no name in aerobee.model.properties"),
        ('b"TIMER_"', 'b"TIMERS"', "11: b'TIMERS' begins no name in aerobee.model.properties"),
        ("size == 5", "size == 6", "6: b'DELAY' has 5 bytes"),
        ("size == 8", "size == 9", "9: b'TRAN_MSG' has 8 bytes"),
        ("0, 5)", "0, 4)", "6: b'DELAY' has 5 bytes"),
        ("0x44", "0x45", "6: b'DELAY' is looked for behind another first byte"),
        ('b"TRAN_MSG"', 'b"DRAN_MSG"', "9: b'DRAN_MSG' is looked for behind another first byte"),
    ],
)
def test_a_literal_that_would_never_be_found_is_a_breach(
    planted: Plant, before: str, after: str, breach: str
) -> None:
    assert f"src/aerobee/a/fast.py:{breach}" in breaches_of(planted, TABLE.replace(before, after))
