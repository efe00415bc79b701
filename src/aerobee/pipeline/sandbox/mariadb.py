"""MariaDb runs a private MariaDB server: a folder, a free port, a binary log of whole rows.

    with MariaDb(folder, find_program(cache)) as database:
        database.host, database.port, database.user, database.password

It listens on 127.0.0.1 only. Rows are written to the binary log whole, with their columns' names,
as a capture needs them. Where only MySQL's server is installed, that one runs.

S1. Leaving the block ends the server; its data stays in the folder, and another server on the same
    folder continues with it.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from aerobee.errors import AerobeeError
from aerobee.pipeline.sandbox.mariadb_program import Program

USER = "aerobee"
PASSWORD = "sandbox"
START_SECONDS_MAX = 60
# What a capture asks of a server's binary log.
CAPTURABLE = ("--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL")
_METADATA = "--binlog-row-metadata=FULL"
# A sandbox is thrown away: nothing is synced, and little memory is set aside.
_SMALL = (
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=32M",
    "--performance-schema=OFF",
    "--skip-name-resolve",
    "--max-connections=40",
)
_FIRST_TABLES = (
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
)


class DatabaseFailed(AerobeeError):
    """The server did not start, or has ended."""


class MariaDb:
    """One server in one folder."""

    host = "127.0.0.1"
    user = USER
    password = PASSWORD

    def __init__(self, folder: Path, program: Program, *options: str, port: int = 0) -> None:
        """`options` are options of the server, after ours: `--binlog-format=STATEMENT`."""
        self.port = port or _free_port()
        self._folder = folder.resolve()
        self._program = program
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def data(self) -> Path:
        """The folder of its tables and its binary log."""
        return self._folder / "data"

    def start(self) -> None:
        """Start the server; returns when it accepts connections. DatabaseFailed."""
        if not (self.data / "mysql").exists():
            self._make_first_tables()
        accounts = self._folder / "accounts.sql"
        accounts.write_text(
            f"CREATE USER IF NOT EXISTS {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
            f"GRANT ALL ON *.* TO {USER}@'127.0.0.1' WITH GRANT OPTION;\n"
        )
        command = [
            *self._command(),
            f"--init-file={accounts}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            # In the folder of its data, which it is in: a whole path may be too long for a socket.
            "--socket=server.sock",
            f"--pid-file={self._folder / 'server.pid'}",
            "--server-id=1",
            *CAPTURABLE,
            _METADATA,
            *self._options,
        ]
        with self._log().open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment()
            )
        self._wait_until_ready(self._process)

    def stop(self) -> None:
        """Stop the server cleanly."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server, as a crash does."""
        self._end(signal.SIGKILL)

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            try:
                process.wait(START_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _make_first_tables(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        if not self._program.is_mariadb:
            self._run_once([*self._command(), "--initialize-insecure"], b"")
            return
        lines = ["create database mysql;", "use mysql;", "SET @auth_root_socket=NULL;"]
        first = "\n".join(lines).encode() + b"\n"
        tables = [(self._program.share / name).read_bytes() for name in _FIRST_TABLES]
        command = [*self._command(), "--bootstrap", "--enforce-storage-engine="]
        self._run_once(command, first + b"\n".join(tables))

    def _run_once(self, command: Sequence[str], words: bytes) -> None:
        with self._log().open("ab") as log:
            done = subprocess.run(
                command,
                input=words,
                stdout=log,
                stderr=log,
                env=self._environment(),
                check=False,
                timeout=START_SECONDS_MAX,
            )
        if done.returncode != 0:
            raise self._failed(f"the database's first tables: status {done.returncode}")

    def _command(self) -> list[str]:
        command = [
            str(self._program.path),
            "--no-defaults",
            f"--datadir={self.data}",
            f"--tmpdir={self._folder}",
            *_SMALL,
        ]
        if self._program.is_mariadb:
            command += [f"--lc-messages-dir={self._program.share}", "--innodb-log-file-size=16M"]
        if os.geteuid() == 0:
            command.append("--user=root")
        return command

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self._program.environment}

    def _wait_until_ready(self, process: "subprocess.Popen[bytes]") -> None:
        until = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < until:
            if process.poll() is not None:
                raise self._failed(f"the database ended with {process.returncode}")
            with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), 5):
                return
            time.sleep(0.02)
        self.kill()
        raise self._failed(f"the database takes no connection after {START_SECONDS_MAX} s")

    def _log(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / "server.log"

    def _failed(self, what: str) -> DatabaseFailed:
        last = self._log().read_text(errors="replace").strip().splitlines()[-3:]
        return DatabaseFailed(f"{what}; it said: {' | '.join(last)}", hint=f"see {self._log()}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
