from aerobee.system.entropy import SystemEntropy


def test_numbers_are_below_their_limit_and_differ() -> None:
    drawn = {SystemEntropy().below(1000) for _ in range(200)}
    assert min(drawn) >= 0
    assert max(drawn) < 1000
    assert len(drawn) > 20
