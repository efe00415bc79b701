from aerobee.app.process.doors import Doors


def test_an_address_is_that_of_the_host_and_the_port() -> None:
    doors = Doors(10911, (), 10912, ())
    assert doors.outward_host("192.0.2.7") == "192.0.2.7"
    assert doors.packed_address("192.0.2.7") == bytes([192, 0, 2, 7]) + (10911).to_bytes(4, "big")
    assert doors.tls is None
