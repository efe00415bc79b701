import asyncio

from aerobee.console.session.passwords import PasswordPool, hash_of, is_password, random_password


def test_a_password_fits_its_hash_and_no_other_does() -> None:
    kept = hash_of("correct horse", cost=16)
    assert is_password("correct horse", kept)
    assert not is_password("correct horsf", kept)
    assert "correct" not in kept
    assert hash_of("correct horse", cost=16) != kept
    assert not is_password("correct horse", kept.replace("scrypt", "plain"))


def test_a_hash_has_the_cost_that_was_decided() -> None:
    assert hash_of("x").startswith("scrypt$16384$8$1$")


def test_passwords_are_compared_beside_the_loop() -> None:
    async def live() -> list[bool]:
        pool = PasswordPool()
        try:
            kept = hash_of("right", cost=16)
            return [await pool.is_password(one, kept) for one in ("right", "wrong")]
        finally:
            pool.close()

    assert asyncio.run(live()) == [True, False]


def test_random_passwords_are_long_and_differ() -> None:
    made = {random_password() for _ in range(10)}
    assert len(made) == 10
    assert all(len(one) >= 20 for one in made)
