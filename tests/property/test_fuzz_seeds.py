"""The laws of the fuzz targets on their seeds, without the fuzzer: quick, and in every run."""

import pytest

from fuzz.run import check_of, law_of, seeds_of, target_names


@pytest.mark.parametrize("name", target_names())
def test_every_seed_keeps_the_law_of_its_target(name: str) -> None:
    check = check_of(name)
    for seed in seeds_of(name):
        check(seed.read_bytes())


@pytest.mark.parametrize("name", target_names())
def test_every_target_states_its_law_and_has_seeds(name: str) -> None:
    assert law_of(name).startswith("Any ")
    assert seeds_of(name)
