"""Calls that turn data into code, start programs or give up a check: forbidden in the package, but
for modules that are named here with their reason. Tools and benchmarks may start programs, but no
shell. Secrets have no place in the tree at all: those of a known form, and long words without
order.

A call is known by the name that it was imported from, whatever it is called here.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator

from tests.tidy.source_tree import SourceTree

CODE_MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "code", "codeop"}
"""Modules whose loaders run what they read."""
CODE_CALLS = {"eval", "exec", "__import__", "yaml.load", "yaml.unsafe_load", "yaml.full_load"}
SHELL_CALLS = {
    "os.system",
    "os.popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "asyncio.create_subprocess_shell",
}
PROGRAM_CALLS = {
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
    "asyncio.create_subprocess_exec",
}
PROGRAM_WORDS = ("os.exec", "os.spawn", "os.posix_spawn", "pty.spawn")
CARELESS_CALLS = {
    "tempfile.mktemp",
    "ssl._create_unverified_context",
    "tarfile.TarFile.extractall",
    "shutil.unpack_archive",
}

STARTERS = {
    "src/aerobee/app/authority.py": "openssl, which makes certificates",
    "src/aerobee/app/chaos/marked_cluster.py": "a broker that it has killed, as it was started",
    "src/aerobee/app/load/run/fleet.py": "the processes of a load test",
    "src/aerobee/app/members/member_process.py": "the members of a Raft group",
    "src/aerobee/app/process/supervisor.py": "the processes of an application",
    "src/aerobee/pipeline/sandbox/mariadb.py": "the database of the demonstration",
    "src/aerobee/pipeline/sandbox/mariadb_program.py": "the version of that database",
    "src/aerobee/pipeline/spark/java.py": "the version of a Java",
}
"""Modules that start programs, all of them with a list of words and none with text of a peer."""
UNASKED = {
    "src/aerobee/net/tls_context.py": "clients that are not asked for a certificate: RocketMQ's "
    "tls.server.need.client.auth=none"
}
SHELLS = {
    "src/aerobee/app/migration/operator_step.py": "a command that the operator wrote on the "
    "command line, run as the operator"
}

_SECRETS = re.compile(
    "|".join(
        (
            "-----BEGIN [A-Z ]*PRIVATE" + r" KEY-----(\\n|\s*$)",
            r"\bAKIA" + r"[0-9A-Z]{16}\b",
            r"\bgh[pousr]_" + r"[A-Za-z0-9]{36}\b",
            r"\bxox[abprs]-" + r"[A-Za-z0-9-]{20,}",
            r"\beyJ[A-Za-z0-9_-]{20,}\." + r"eyJ[A-Za-z0-9_-]{20,}\.",
        )
    )
)


_WORD = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_ENTROPY_MIN = 4.3
"""Bits for each character: 32 random ones of base64 have 4.6 or so, names and paths below 4.2."""
_LOCKS = ("go.sum", "package-lock.json", "Cargo.lock", "requirements.lock")
"""They are full of hashes."""


def dangerous_calls(tree: SourceTree) -> list[str]:
    return [
        f"{module.place}:{line}: {what}"
        for module in (*tree.package, *tree.programs)
        for line, what in _dangers(module.place, module.syntax)
    ]


def secrets(tree: SourceTree) -> list[str]:
    return [
        f"{place}:{number}: a secret, or what looks like one: make it when a test runs"
        for place, text in tree.texts()
        for number, line in enumerate(text.splitlines(), 1)
        if _SECRETS.search(line) or (not place.endswith(_LOCKS) and _has_random_word(line))
    ]


def _has_random_word(line: str) -> bool:
    return any(
        re.search("[a-z]", word) is not None
        and re.search("[A-Z]", word) is not None
        and re.search("[0-9]", word) is not None
        and "abcdef" not in word.lower()  # an alphabet
        and _entropy(word) >= _ENTROPY_MIN
        for word in _WORD.findall(line)
    )


def _entropy(word: str) -> float:
    counts = Counter(word).values()
    return -sum(one / len(word) * math.log2(one / len(word)) for one in counts)


def _origins(syntax: ast.AST) -> dict[str, str]:
    """Where imported names are from: `run` is `subprocess.run`."""
    found = {}
    for node in ast.walk(syntax):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _dangers(place: str, syntax: ast.AST) -> Iterator[tuple[int, str]]:
    origins = _origins(syntax)
    for node in ast.walk(syntax):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in CODE_MODULES:
                    yield node.lineno, f"{alias.name} runs what it reads"
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").partition(".")[0] in CODE_MODULES:
                yield node.lineno, f"{node.module} runs what it reads"
        elif isinstance(node, ast.Call):
            yield from _call(place, node, origins)
        elif isinstance(node, ast.Compare):
            yield from _comparison(node)
        elif isinstance(node, ast.Attribute) and node.attr == "CERT_NONE":
            if place in UNASKED:
                continue
            yield node.lineno, "a certificate that nobody checks"


def _call(place: str, node: ast.Call, origins: dict[str, str]) -> Iterator[tuple[int, str]]:
    first, dot, rest = ast.unparse(node.func).partition(".")
    name = (origins.get(first, first) + dot + rest).removeprefix("builtins.")
    is_shipped = place.startswith("src/")
    if name in CODE_CALLS:
        yield node.lineno, f"{name} runs what it is given"
    if name in SHELL_CALLS and place not in SHELLS:
        yield node.lineno, f"{name} gives text to a shell"
    starts = name in PROGRAM_CALLS or name.startswith(PROGRAM_WORDS)
    if starts and is_shipped and place not in STARTERS:
        yield node.lineno, f"{name} starts a program: name the module and its reason in STARTERS"
    if name in CARELESS_CALLS:
        yield node.lineno, f"{name} gives up a check"
    for keyword in node.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg == "shell" and value is True:
            yield node.lineno, "shell=True gives text to a shell"
        if keyword.arg in ("verify", "check_hostname") and value is False:
            yield node.lineno, f"{keyword.arg}=False gives up a check"


def _comparison(node: ast.Compare) -> Iterator[tuple[int, str]]:
    """Signatures and secrets are compared in constant time."""
    if not any(isinstance(one, ast.Eq | ast.NotEq) for one in node.ops):
        return
    for side in (node.left, *node.comparators):
        name = ast.unparse(side).rpartition(".")[2].lstrip("_")
        if name in ("signature", "hmac", "mac"):
            yield node.lineno, f"{name} is compared by ==: hmac.compare_digest takes as long always"
