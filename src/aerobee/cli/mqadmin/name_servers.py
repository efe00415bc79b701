"""Sub-commands about name servers: their settings, stored values, and write permissions of brokers.

Name servers do not replicate: a change is made in all of `-n`.
"""

from aerobee.cli.mqadmin.command import Call, Command, required
from aerobee.cli.mqadmin.options import Option
from aerobee.errors import PartlyDone

_BROKER = required(Option("b", "brokerName", "the broker"))
_NAMESPACE = required(Option("s", "namespace", "where the key is"))
_KEY = required(Option("k", "key", "its name"))
_VALUE = required(Option("v", "value", "what it is to be"))


async def allow_writes(call: Call) -> None:
    await _set_writes(call, "add", is_allowed=True)


async def forbid_writes(call: Call) -> None:
    await _set_writes(call, "wipe", is_allowed=False)


async def _set_writes(call: Call, word: str, *, is_allowed: bool) -> None:
    name = call.given.text("brokerName")
    brokers = call.admin.brokers
    try:
        done = await (brokers.allow_writes(name) if is_allowed else brokers.forbid_writes(name))
    except PartlyDone as error:
        for address, count in error.done.items():
            call.say(f"{word} write perm of broker[{name}] in name server[{address}] OK, {count}")
        for address in error.failed:
            call.say(f"{word} write perm of broker[{name}] in name server[{address}] Failed")
        raise
    for address, count in done.items():
        call.say(f"{word} write perm of broker[{name}] in name server[{address}] OK, {count}")


async def delete_value(call: Call) -> None:
    given = call.given
    await call.admin.name_servers.delete_value(given.text("namespace"), given.text("key"))
    call.say("delete kv config from namespace success.")


async def put_value(call: Call) -> None:
    given = call.given
    await call.admin.name_servers.put_value(
        given.text("namespace"), given.text("key"), given.text("value")
    )
    call.say("create or update kv config to namespace success.")


async def show_config(call: Call) -> None:
    for address, settings in (await call.admin.name_servers.config()).items():
        call.say(f"============{address}============")
        for name, text in sorted(settings.items()):
            call.say(f"{name:<50}=  {text}")


async def set_config(call: Call) -> None:
    key, value = call.given.text("key"), call.given.text("value")
    addresses = await call.admin.name_servers.set_config({key: value})
    call.say(f"update name server config success![{', '.join(addresses)}]\n{key} : {value}")


COMMANDS = (
    Command(
        "addWritePerm",
        "Add write perm of broker in all name server you defined in the -n param.",
        (_BROKER,),
        allow_writes,
    ),
    Command(
        "wipeWritePerm",
        "Wipe write perm of broker in all name server you defined in the -n param.",
        (_BROKER,),
        forbid_writes,
    ),
    Command("deleteKvConfig", "Delete KV config.", (_NAMESPACE, _KEY), delete_value),
    Command("updateKvConfig", "Create or update KV config.", (_NAMESPACE, _KEY, _VALUE), put_value),
    Command("getNamesrvConfig", "Get configs of name server.", (), show_config),
    Command("updateNamesrvConfig", "Update configs of name server.", (_KEY, _VALUE), set_config),
)
