from tests.store_kit import StoreKit, draft


def stored(kit: StoreKit, count: int) -> list[int]:
    """Log offsets of as many records, visible."""
    wall_ms = kit.clock.now().wall_ms
    offsets = [kit.store.append(draft(body=b"%d" % number), wall_ms) for number in range(count)]
    kit.store.dispatch()
    return offsets


def test_a_record_is_found_where_it_begins_and_nowhere_else() -> None:
    kit = StoreKit()
    offsets = stored(kit, 3)
    hot = kit.store.hot_records
    found = [offset for offset in range(-2, kit.store.end_offset + 2) if hot.find(offset)]
    assert found == offsets
    assert hot.find(offsets[1])
    record, file = hot.record, hot.file
    assert file is not None
    assert bytes(file.view[record.body_start : record.body_start + record.body_size]) == b"1"
    assert record.queue_offset == 1


def test_what_may_not_be_shown_yet_is_not_found() -> None:
    kit = StoreKit()
    stored(kit, 1)
    hidden = kit.store.append(draft(), kit.clock.now().wall_ms)
    assert not kit.store.hot_records.find(hidden)
    kit.store.dispatch()
    assert kit.store.hot_records.find(hidden)


def test_what_another_process_wrote_is_not_believed_unchecked() -> None:
    kit = StoreKit()
    (old,) = stored(kit, 1)
    kit.store.close()
    after = StoreKit(kit.disk)
    (new,) = stored(after, 1)
    assert not after.store.hot_records.find(old)
    assert after.store.hot_records.find(new)
