"""Settings of the audit trail: keys of our own, the same for brokers and name servers.

None can be changed by a request: whoever may change settings must not be able to end the trail.
"""

from dataclasses import dataclass

from aerobee.model.setting import TEXT, TRUTH, Setting, Whole


@dataclass(frozen=True, slots=True)
class AuditConfig:
    is_on: bool = True
    """Whether refused requests and changes are written to files. There is none until the first."""
    folder: str = ""
    """Where the files are. Empty: the folder audit in the store; of a name server beside
    kvConfigPath."""
    file_bytes_max: int = 16 << 20
    """At which size a file is put aside and another begun."""
    files_max: int = 16
    """Files that are kept; the oldest is removed."""


USUAL_AUDIT = AuditConfig()
AUDIT_SETTINGS = (
    Setting("auditEnabled", "is_on", TRUTH),
    Setting("auditPath", "folder", TEXT),
    Setting("auditFileSize", "file_bytes_max", Whole(4096, 1 << 30)),
    Setting("auditFilesMax", "files_max", Whole(1, 10_000)),
)
