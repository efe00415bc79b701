"""Faults on purpose: there for the tests, out of reach for everyone else."""

import inspect
from dataclasses import fields

from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect
from aerobee.storage.store import Store


def test_a_store_runs_without_defects_unless_told() -> None:
    assert frozenset() == NO_DEFECTS
    assert inspect.signature(Store.open).parameters["defects"].default is NO_DEFECTS


def test_no_configuration_plants_a_defect() -> None:
    for field in fields(StorageConfig):
        assert "defect" not in field.name
        assert "Defect" not in str(field.type)


def test_each_defect_is_told_from_the_others() -> None:
    assert len({defect.value for defect in Defect}) == len(Defect.__members__)
