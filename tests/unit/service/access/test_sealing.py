import pytest

from aerobee.service.access.sealing import BadSeal, key_from, seal, unseal

KEY = b"k" * 32


@pytest.mark.parametrize("text", ["", "s", "secret", "ü" * 100, "x" * 1000])
def test_a_sealed_secret_comes_back(text: str) -> None:
    sealed = seal(text, KEY, "alice")
    assert unseal(sealed, KEY, "alice") == text
    assert not text or text not in sealed


def test_another_key_or_label_does_not_open_it() -> None:
    sealed = seal("secret", KEY, "alice")
    for key, label in ((b"j" * 32, "alice"), (KEY, "bob")):
        with pytest.raises(BadSeal):
            unseal(sealed, key, label)


def test_every_changed_character_is_noticed() -> None:
    sealed = seal("secret", KEY, "alice")
    for index in range(len(sealed) - 3):  # of the last one before == some bits mean nothing
        changed = sealed[:index] + ("A" if sealed[index] != "A" else "B") + sealed[index + 1 :]
        with pytest.raises(BadSeal):
            unseal(changed, KEY, "alice")


@pytest.mark.parametrize("text", ["", "?", "AAAA", "ä"])
def test_what_was_never_sealed_is_refused(text: str) -> None:
    with pytest.raises(BadSeal):
        unseal(text, KEY, "alice")


def test_keys_of_one_secret_differ_by_purpose() -> None:
    assert key_from("s", "a") == key_from("s", "a")
    assert len({key_from("s", "a"), key_from("s", "b"), key_from("t", "a")}) == 3
