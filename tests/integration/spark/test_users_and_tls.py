"""Spark's source and sink, the table of a log, and the capture of a database, on a server that asks
for users and speaks TLS only.
"""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.capture_kit import Shop
from tests.integration.test_access import ACCESS
from tests.mariadb_kit import Database
from tests.server_kit import Server, running_server
from tests.tls_kit import certificates, server_config, settings_text


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server, with the address that a super user is told."""
    config = server_config()
    tls = {**settings_text("AEROBEE_BROKER_", config), **settings_text("AEROBEE_NAMESRV_", config)}
    with running_server(tmp_path_factory.mktemp("guarded"), **ACCESS, **tls) as server:
        ca = quote(certificates().authority)
        server.name_server = f"rmqs://root:root-hidden@{server.name_server}?ca={ca}"
        yield server


def test_rows_are_written_and_read_over_tls_by_a_user(spark: SparkSession, guarded: Server) -> None:
    guarded.create("SparkGuarded", queues=2)
    rows = spark.range(0, 200, 1, 2).selectExpr("cast(id as string) as value")
    told = {"nameServer": guarded.name_server, "topic": "SparkGuarded"}
    rows.write.format("aerobee").options(**told).mode("append").save()
    # The same in options of their own.
    address = guarded.name_server.partition("@")[2].partition("?")[0]
    options = {
        "nameServer": address,
        "topic": "SparkGuarded",
        "columns": "value",
        "tls": "true",
        "tlsCa": certificates().authority,
        "accessKey": "root",
        "secretKey": "root-hidden",
    }
    read = spark.read.format("aerobee").options(**options)
    assert sorted(int(bytes(row.value)) for row in read.load().collect()) == list(range(200))
    log = spark.read.format("aerobee-log").option("topic", "SparkGuarded")
    assert log.load(str(guarded.store)).count() == 200


@pytest.mark.parametrize(
    "wrong",
    [{"secretKey": "guess"}, {"tls": "false"}, {"tlsCa": "other"}],
    ids=["secret", "plain text", "authority"],
)
def test_a_table_says_that_it_was_not_let_in(
    spark: SparkSession, guarded: Server, wrong: dict[str, str]
) -> None:
    options = {
        "nameServer": guarded.name_server.partition("@")[2].partition("?")[0],
        "topic": "SparkGuarded",
        "tls": "true",
        "tlsCa": certificates().authority,
        "accessKey": "root",
        "secretKey": "root-hidden",
        **wrong,
    }
    if options["tlsCa"] == "other":
        options["tlsCa"] = certificates().other_authority
    if options["tls"] == "false":
        del options["tlsCa"]
    with pytest.raises(PySparkException):
        spark.read.format("aerobee").options(**options).load().count()


def test_changes_of_a_database_are_captured_over_tls_by_a_user(
    database: Database, guarded: Server
) -> None:
    shop = Shop(database, guarded)
    shop.run(
        "CREATE TABLE orders (id INT PRIMARY KEY, state TEXT)", "INSERT INTO orders VALUES (1,'a')"
    )
    shop.capture()
    shop.run("UPDATE orders SET state = 'paid'", "INSERT INTO orders VALUES (2,'b')")
    shop.capture()
    assert sorted((row["id"], row["state"]) for row in shop.replica("orders")) == [
        (1, "paid"),
        (2, "b"),
    ]
