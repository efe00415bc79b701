from aerobee.protocol.bodies.epoch_cache import (
    EpochCache,
    EpochEntry,
    decode_epoch_cache,
    encode_epoch_cache,
)

CACHE = EpochCache("c", "broker-a", 2, [EpochEntry(1, 0, 300), EpochEntry(3, 300, 510)], 510)


def test_terms_are_written_with_rocketmqs_members_and_read_back() -> None:
    body = encode_epoch_cache(CACHE)
    assert body == (
        b'{"brokerId":2,"brokerName":"broker-a","clusterName":"c","epochList":['
        b'{"endOffset":300,"epoch":1,"startOffset":0},'
        b'{"endOffset":510,"epoch":3,"startOffset":300}],"maxOffset":510}'
    )
    assert decode_epoch_cache(body) == CACHE


def test_the_last_term_ends_where_the_log_does() -> None:
    body = b'{"epochList":[{"endOffset":9223372036854775807,"epoch":1}],"maxOffset":77}'
    assert decode_epoch_cache(body).epochs == [EpochEntry(1, 0, 77)]
    assert decode_epoch_cache(b"{}") == EpochCache("", "", 0, [], 0)
