"""The nouns of the command line, in the order in which help shows them.

    noun   the module here that has its verbs, and what help says of it in a line

A line here and an `add_to(nouns)` in the module are all that a new noun takes.
"""

NOUNS = {
    "up": ("up", "run a name server and a broker in one process, to try things out"),
    "nameserver": ("nameserver", "tell clients which broker has which topic"),
    "broker": ("broker", "take messages, keep them, hand them out"),
    "run": ("run", "handle messages with the functions of an application"),
    "cluster": ("cluster", "what there is in all, and whether it is well"),
    "topic": ("topic", "topics: make, look at, change, delete"),
    "group": ("group", "consumer groups: lag, members, offsets"),
    "offset": ("offset", "where groups are in queues"),
    "message": ("message", "messages: send, follow, find, send again"),
    "dlq": ("dlq", "dead letters: what groups gave up"),
    "transaction": ("transaction", "transactions that are open, ended by hand"),
    "capture": ("capture", "changes of a database's rows as messages"),
    "pipeline": ("pipeline", "jobs on Spark: list, describe, run"),
    "explain": ("explain", "why a message was not consumed; what a group does"),
    "mqadmin": ("mqadmin.entry", "RocketMQ's own tool: its sub-commands, flags and columns"),
    "store": ("store", "a store's files, while no broker has them"),
    "bench": ("bench", "load tests: send, receive, time, plan"),
    "doctor": ("doctor", "what may be wrong with this machine, a cluster or a configuration"),
    "config": ("config", "settings: which there are, what they mean"),
    "context": ("context", "clusters by name"),
    "completion": ("completion", "have the shell complete commands"),
}
