"""A replica's disk: the log of another store, copied, and nothing else.

disk = SimDisk()
copy_log(kit.disk, disk)          its commit log is that of the other store now
StoreKit(disk)                    opens it: queues and index are built from the log
"""

from aerobee.sim.disk import SimDisk
from tests.store_kit import ROOT

LOG = f"{ROOT}/commitlog"


def copy_log(source: SimDisk, target: SimDisk) -> None:
    """Replace the commit log of a stopped store by a copy."""
    for name in target.list_directory(LOG) if target.exists(LOG) else ():
        target.remove(f"{LOG}/{name}")
    target.make_directory(LOG)
    for name in source.list_directory(LOG):
        content = source.read(f"{LOG}/{name}")
        file = target.create(f"{LOG}/{name}", len(content))
        file.view[:] = content
        file.sync()
        file.close()
    target.sync_directory(LOG)
