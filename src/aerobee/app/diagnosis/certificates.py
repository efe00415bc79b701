"""The judge of a broker's certificates: whether they can be used, and for how long.

Files are read as a broker reads them at its start.
"""

from collections.abc import Sequence

from aerobee.app.diagnosis.finding import BAD, OK, WARN, Finding
from aerobee.app.process.tls_files import WARNING_DAYS, Expiry

AREA = "settings"
_WHY = "clients refuse a server whose certificate has expired"
_RENEW = "make a new one (`aerobee tls issue`): it is read without a restart"


def certificate_findings(complaint: str, found: Sequence[Expiry], now: float) -> list[Finding]:
    """`complaint` says why the files cannot be used; empty: they can."""
    if complaint:
        why = "a broker does not start with certificates that it cannot use"
        return [Finding(BAD, AREA, "TLS", complaint, "correct it, see `aerobee tls check`", why)]
    findings = []
    for one in found:
        left = one.days_left(now)
        seen = f"of {one.subject}, expires in {left:.0f} days"
        if left <= 0:
            seen = f"of {one.subject}, has expired"
            findings.append(Finding(BAD, AREA, one.path, seen, _RENEW, _WHY))
        elif left <= max(WARNING_DAYS):
            findings.append(Finding(WARN, AREA, one.path, seen, _RENEW, _WHY))
        else:
            findings.append(Finding(OK, AREA, one.path, seen))
    return findings
