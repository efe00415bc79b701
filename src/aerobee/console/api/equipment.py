"""Equipment: the things that the pages of the API work with.

There is one of each in a console; pages take what they need of it.
"""

from collections.abc import Callable
from typing import NamedTuple

from aerobee.client.admin.admin import Admin
from aerobee.console.api.topics import SendMessage
from aerobee.console.history.history import History
from aerobee.console.history.prometheus import Prometheus
from aerobee.console.load.load_runs import LoadRuns
from aerobee.console.watch.catalogue import Catalogue
from aerobee.console.watch.feed import Feed
from aerobee.console.watch.running_jobs import RunningJobs
from aerobee.console.watch.sampler import Sampler


class Equipment(NamedTuple):
    admin: Admin
    catalogue: Catalogue
    sampler: Sampler
    history: History
    prometheus: Prometheus | None
    feed: Feed
    send: SendMessage
    runs: LoadRuns
    jobs: RunningJobs
    wall_ms: Callable[[], int]
