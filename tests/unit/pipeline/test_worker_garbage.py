import gc

from aerobee.pipeline.worker_garbage import spare_collections


def test_what_a_worker_has_imported_is_not_collected_again() -> None:
    nobody = -1  # no other test's process
    gc.unfreeze()
    before = gc.get_freeze_count()
    spare_collections(nobody)
    frozen = gc.get_freeze_count()
    made: list[list[int]] = [[] for _ in range(1000)]
    spare_collections(nobody)
    assert frozen > before
    # Some of the frozen may have gone meanwhile; none of the new has been added.
    assert gc.get_freeze_count() < frozen + len(made) // 2
    gc.unfreeze()
