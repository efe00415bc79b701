import pytest

from aerobee.app.diagnosis.certificates import certificate_findings
from aerobee.app.process.tls_files import DAY_SECONDS, Expiry


@pytest.mark.parametrize(("days", "level"), [(31, "ok"), (29, "warn"), (1, "warn"), (-1, "bad")])
def test_a_certificate_is_judged_by_the_days_that_are_left(days: int, level: str) -> None:
    one = Expiry("own", "a.crt", "a.example", 1_000_000 + days * DAY_SECONDS)
    (finding,) = certificate_findings("", [one], 1_000_000)
    assert (finding.level, finding.subject) == (level, "a.crt")
    assert ("aerobee tls issue" in finding.change) == (level != "ok")


def test_files_that_cannot_be_used_are_bad() -> None:
    (finding,) = certificate_findings("the key is not the certificate's", [], 0)
    assert (finding.level, finding.seen) == ("bad", "the key is not the certificate's")
