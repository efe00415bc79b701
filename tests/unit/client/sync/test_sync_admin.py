import inspect

from aerobee.client.admin.admin import Admin
from aerobee.client.api.client_options import options_for
from aerobee.client.connection.loop_portal import LoopThread
from aerobee.client.connection.session import Session
from aerobee.client.sync.facade import Facade
from aerobee.client.sync.sync_admin import SyncAdmin


def sections(admin: object) -> dict[str, object]:
    return {name: one for name, one in vars(admin).items() if not name.startswith("_")}


def verbs(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_every_verb_of_every_section_is_there_with_its_signature() -> None:
    tool = Admin(Session(options_for("127.0.0.1:1")))
    thread = LoopThread("test")
    waiting = SyncAdmin(tool, thread.start())
    thread.stop()
    assert sections(waiting).keys() == sections(tool).keys()
    for name, section in sections(tool).items():
        twin = sections(waiting)[name]
        assert isinstance(twin, Facade)
        assert verbs(type(twin)) == verbs(type(section)), name
        for verb in verbs(type(section)):
            ours, theirs = getattr(type(twin), verb), getattr(type(section), verb)
            assert inspect.signature(ours) == inspect.signature(theirs), f"{name}.{verb}"
    assert verbs(SyncAdmin) == verbs(Admin)
