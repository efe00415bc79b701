"""A schema for each test."""

import pytest

from tests.capture_kit import Shop
from tests.mariadb_kit import Database
from tests.server_kit import Server


@pytest.fixture
def shop(database: Database, server: Server) -> Shop:
    return Shop(database, server)
