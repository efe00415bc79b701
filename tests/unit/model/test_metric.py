from aerobee.model.metric import MetricKind, Sample, counter, gauge, histogram, single_gauge


def test_a_kind_is_what_prometheus_calls_it() -> None:
    kinds = [make("m", "text", []).kind.value for make in (counter, gauge, histogram)]
    assert kinds == ["counter", "gauge", "histogram"]


def test_a_single_gauge_has_one_sample_without_labels() -> None:
    metric = single_gauge("m", "text", 7, also="n")
    assert list(metric.samples) == [Sample({}, 7)]
    assert (metric.kind, metric.also) == (MetricKind.GAUGE, "n")
