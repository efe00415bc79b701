from aerobee.client.core.consume.silent_brokers import AVOID_MS, SilentBrokers


def test_a_broker_that_did_not_answer_is_avoided_for_a_while_and_then_on_trial() -> None:
    silent = SilentBrokers()
    assert not silent
    silent.note("m:1", 1_000)
    assert len(silent) == 1
    assert silent.avoided(1_000 + AVOID_MS - 1) == {"m:1"}
    assert silent.avoided(1_000 + AVOID_MS) == set()
    assert silent.is_on_trial("m:1")
    assert not silent.is_on_trial("s:1")


def test_a_broker_that_fails_its_trial_is_avoided_again() -> None:
    silent = SilentBrokers()
    silent.note("m:1", 0)
    silent.note("m:1", AVOID_MS)
    assert silent.avoided(AVOID_MS + 1) == {"m:1"}


def test_a_broker_that_answers_is_as_any_other() -> None:
    silent = SilentBrokers()
    silent.note("m:1", 0)
    silent.answered("m:1")
    silent.answered("s:1")
    assert (len(silent), silent.avoided(1), silent.is_on_trial("m:1")) == (0, set(), False)
