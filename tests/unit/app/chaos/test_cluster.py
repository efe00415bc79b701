from aerobee.app.chaos.cluster import Fault
from aerobee.app.chaos.report import LETTERS


def test_every_fault_has_a_word_and_a_letter_of_its_own() -> None:
    assert len({one.value for one in Fault}) == len(Fault)
    assert len(set(LETTERS.values())) == len(LETTERS) == len(Fault)
