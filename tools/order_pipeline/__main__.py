"""An order database, captured by its binary log into a topic, counted and copied on Spark, live.

    MariaDB ─▶ aerobee capture ─▶ topic ─┬▶ statistics, 10 s windows ─▶ topic
                                         └▶ upsert ─▶ a Delta table

Orders come, change and go while it runs; half-way the table gets a column more. In the end the copy
is compared with the table, row by row, and the statistics with what was ordered; the picture shows
how far behind everything was. It takes a minute or two; `--seconds` and `--rate` say how much.
"""

import argparse
import shutil
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aerobee
from aerobee.errors import AerobeeError
from aerobee.pipeline.delta.delta_table import opened
from aerobee.pipeline.jobs.failure import explained
from aerobee.pipeline.jobs.job import chosen_of
from aerobee.pipeline.jobs.registry import job_of
from aerobee.pipeline.sandbox.mariadb import MariaDb
from aerobee.pipeline.sandbox.mariadb_program import find_program
from tools.order_pipeline import processes
from tools.order_pipeline.outcome import sales_differences, sales_told, shown, table_differences
from tools.order_pipeline.picture import Bar, picture
from tools.order_pipeline.readings import Readings, end_of, messages_of
from tools.order_pipeline.shop import DATABASE, TABLE, Shop, sales_of

WINDOW_SECONDS = 10
CHANGES, SALES = f"{DATABASE}-{TABLE}", f"{DATABASE}-sales"
CATCH_UP_SECONDS_MAX = 90


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=40, help="of traffic (40)")
    parser.add_argument("--rate", type=int, default=150, help="changes a second (150)")
    parser.add_argument("--orders", type=int, default=1500, help="that are there before (1500)")
    parser.add_argument("--folder", default="data/pipeline", help="made anew (data/pipeline)")
    parser.add_argument("--cache", default="build/cache/mariadb", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = Path(options.folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with ExitStack() as stack:
            return Story(stack, folder, options).run()
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except AerobeeError as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1


class Story:
    """From nothing to a picture. The stack ends what was started."""

    def __init__(self, stack: ExitStack, folder: Path, options: argparse.Namespace) -> None:
        self._stack = stack
        self._folder = folder
        self._options = options
        self._began = time.monotonic()

    def run(self) -> int:
        stack, folder, options = self._stack, self._folder, self._options
        self._say("a database of our own")
        program = find_program(Path(options.cache).resolve(), self._say)
        database = stack.enter_context(MariaDb(folder / "mariadb", program))
        shop = Shop(database)
        shop.open(options.orders)
        self._say(f"{DATABASE}.{TABLE} has {options.orders:,} orders; now a broker, and a capture")
        server = stack.enter_context(processes.server(folder))
        name_server = processes.name_server_in(server.ready_line())
        client = stack.enter_context(aerobee.connect_sync(name_server))
        client.admin.topics.create(SALES, queues=4)
        captured = stack.enter_context(
            processes.capture(folder, database, f"{DATABASE}.{TABLE}", DATABASE, name_server)
        )
        captured.ready_line()
        self._say(f"{messages_of(client, CHANGES):,} orders are in the topic {CHANGES}; now Spark")
        queries = self._queries(name_server)
        readings = Readings(shop, client, CHANGES, *queries)
        self._say("statistics and table are running; until they have what is there")
        if not self._catch_up(readings, captured):
            return 1
        self._say(f"now traffic, {options.seconds:.0f} seconds of it")
        self._trade(shop, readings)
        self._say("no more traffic; until everything has arrived")
        if not self._catch_up(readings, captured):
            return 1
        for query in queries:
            query.stop()
        return self._compare(shop, client, readings)

    def _queries(self, name_server: str) -> tuple[Any, Any]:
        from aerobee.pipeline.jobs.running import local_settings
        from aerobee.pipeline.session import spark_session

        spark = spark_session(
            "orders", settings=local_settings("local"), log=self._folder / "spark.log"
        )
        self._stack.callback(spark.stop)
        self._say(f"Spark {spark.version} is up")
        common = {"name-server": name_server, "topic": CHANGES, "every": "1s"}
        statistics = {
            **common,
            "form": "captured",
            "ops": "r,c",
            "time": "created_at",
            "window": f"{WINDOW_SECONDS}s",
            "watermark": "1h",
            "by": "city",
            "sum": "amount",
            "to-topic": SALES,
        }
        upsert = {**common, "to-folder": str(self._folder / "table")}
        queries = []
        for name, given in (("upsert", upsert), ("statistics", statistics)):
            job = job_of(name)
            memory = {"checkpoint": str(self._folder / f"{name}-checkpoint")}
            queries.append(job.start(spark, chosen_of(job, {**given, **memory})).query)
        return queries[0], queries[1]

    def _trade(self, shop: Shop, readings: Readings) -> None:
        stop = threading.Event()
        trading = threading.Thread(target=shop.trade, args=(stop, self._options.rate))
        end = time.monotonic() + self._options.seconds
        half = end - self._options.seconds / 2
        trading.start()
        try:
            while time.monotonic() < end:
                self._progress(readings.take())
                if half is not None and time.monotonic() > half:
                    half = float("inf")
                    shop.widen()
                    self._say("ALTER TABLE: the orders have a priority now")
                time.sleep(0.5)
        finally:
            stop.set()
            trading.join()

    def _catch_up(self, readings: Readings, captured: processes.Command) -> bool:
        """Whether everything that was changed has been captured, counted and applied."""
        end = time.monotonic() + CATCH_UP_SECONDS_MAX
        while not readings.has_all():
            self._progress(readings.take())
            failed = readings.failure()
            if failed is not None:
                print(f"\nFAILED: {explained(failed)}", file=sys.stderr)
                return False
            if captured.has_ended():
                print(f"\nFAILED: {captured.failure()}", file=sys.stderr)
                return False
            if time.monotonic() > end:
                print(f"\nFAILED: not all has arrived: {readings.take()}", file=sys.stderr)
                return False
            time.sleep(0.3)
        self._progress(readings.take())
        return True

    def _compare(self, shop: Shop, client: Any, readings: Readings) -> int:
        source = shop.rows()
        table = opened(str(self._folder / "table"))
        assert table is not None
        wrong = table_differences(source, table.to_pyarrow_table().to_pylist())
        wanted = sales_of(shop.ordered, WINDOW_SECONDS)
        told = sales_told(end_of(client, SALES))
        wrong_sales = sales_differences(wanted, told)
        bars = [
            Bar(
                f"{begin:%H:%M:%S}",
                {city: float(one.amount) for (at, city), one in told.items() if at == begin},
            )
            for begin in sorted({begin for begin, _ in told})[-24:]
        ]
        title = f"{shop.changes:,} changes of {DATABASE}.{TABLE} through a topic and Spark"
        drawn = self._folder / "pipeline.svg"
        drawn.write_text(picture(title, readings.samples, bars), "utf-8")
        columns = len(source[0]) if source else 0
        self._say(f"the picture: {drawn}")
        if wrong:
            print(f"FAILED: the table differs from the source:\n{shown(wrong)}")
        else:
            print(f"the table equals the source: {len(source):,} rows, {columns} columns")
        if wrong_sales:
            print(f"FAILED: the statistics are wrong:\n{shown(wrong_sales)}")
        else:
            orders = sum(one.orders for one in told.values())
            print(f"the statistics are right: {orders:,} orders in {len(told):,} windows")
        return 1 if wrong or wrong_sales else 0

    def _say(self, text: str) -> None:
        if sys.stdout.isatty():
            print("\r\x1b[K", end="")
        print(f"{time.monotonic() - self._began:5.1f} s  {text}", flush=True)

    def _progress(self, sample: Any) -> None:
        if sys.stdout.isatty():
            text = (
                f"{sample.changed:,} changed, {sample.captured:,} captured, "
                f"{sample.applied:,} applied, lag {sample.lag_of_table}"
            )
            print(f"\r\x1b[K         {text}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
