"""The metrics of POP: a story, and the numbers after it."""

from tests.pop_kit import INVISIBLE_MS, PopKit


def numbers(kit: PopKit) -> dict[str, float]:
    """Of all queues together."""
    return {
        f"{metric.name} {kind}".strip(): sum(
            sample.value
            for sample in metric.samples
            if isinstance(sample.value, int)
            and sample.labels.get("revive_message_type", kind) == kind
        )
        for metric in kit.broker.watch.metrics(kit.clock.now())
        for kind in (("CK", "ACK") if metric.name.endswith("_in_message_total") else ("",))
        if metric.name.startswith("rocketmq_pop_")
        and not metric.name.endswith("_out_message_total")
    }


def test_checkpoints_acknowledgements_and_returns_are_counted() -> None:
    kit = PopKit()
    kit.fill(3)
    assert set(numbers(kit).values()) == {0}
    got = kit.pop()
    assert kit.ack(got[0]) == 0
    before = numbers(kit)
    assert before["rocketmq_pop_revive_in_message_total CK"] == 1
    assert before["rocketmq_pop_revive_in_message_total ACK"] == 1
    assert before["rocketmq_pop_checkpoint_buffer_size"] == 1
    assert before["rocketmq_pop_revive_retry_messages_total"] == 0
    kit.run(INVISIBLE_MS + 3_000)
    after = numbers(kit)
    assert after["rocketmq_pop_revive_retry_messages_total"] == 2
    assert after["rocketmq_pop_checkpoint_buffer_size"] == 0
    assert after["rocketmq_pop_revive_lag"] == after["rocketmq_pop_revive_latency"] == 0
    out = [
        sample.value
        for metric in kit.broker.watch.metrics(kit.clock.now())
        for sample in metric.samples
        if metric.name == "rocketmq_pop_revive_out_message_total"
    ]
    assert sum(value for value in out if isinstance(value, int)) == 1
    assert len(out) == 8
