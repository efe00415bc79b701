import os
import socket
from pathlib import Path

from aerobee.app.load.measure.proc import TICKS_A_SECOND, Proc

STAT = """cpu  100 5 45 800 50 3 2 0 0 0
cpu0 50 2 20 400 25 1 1 0 0 0
cpu1 50 3 25 400 25 2 1 0 0 0
intr 12345
"""
# A name that looks like more fields must not move the others.
PROCESS = "7 (a b) c) R 1 7 7 0 -1 4194560 100 0 0 0 {user} {system} 0 0 20 0 3 0 900 1000 10"
DISKS = """ 254       0 vda 10 0 100 5 20 0 400 9 0 250 14 0 0 0 0 0 0
 254       1 vda1 1 0 1 1 1 0 1 1 0 1 1 0 0 0 0 0 0
"""
NET = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0
  eth0: 1000 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0
  eth1: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0
"""
SOCKETS = """  sl  local_address rem_address   st tx_queue rx_queue tr when retr uid timeout inode
   0: 0100007F:2A9F 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1
   1: 0100007F:2A9F 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4343 1
"""


def folder(root: Path) -> Path:
    for name, text in {
        "stat": STAT,
        "loadavg": "1.25 0.5 0.1 2/300 99\n",
        "meminfo": "MemTotal: 100 kB\nMemAvailable:    50 kB\n",
        "diskstats": DISKS,
        "net/dev": NET,
        "net/tcp": SOCKETS,
        "7/stat": PROCESS.format(user=200, system=100),
        "7/statm": "100 25 10 1 0 50 0\n",
        "7/task/7/stat": PROCESS.format(user=150, system=50),
        "7/task/8/stat": PROCESS.format(user=50, system=50),
        "7/task/7/schedstat": "1900000000 600000000 1234\n",
        "7/task/8/schedstat": "0 0 0\n",
        "7/maps": "7f00-7f01 rw-s 0 fe:00 1    /data/my store/commitlog/00000000000000000000\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "7/fd").mkdir()
    (root / "7/fd/3").symlink_to("socket:[4242]")
    return root


def test_the_machine_is_read(tmp_path: Path) -> None:
    found = Proc(folder(tmp_path)).read(5, {"broker": [7], "client": [12345]}, "vda")
    assert found.busy_seconds * TICKS_A_SECOND == 155
    assert found.idle_seconds * TICKS_A_SECOND == 850
    assert (found.at_ns, found.cores, found.load) == (5, 2, 1.25)
    assert found.available_bytes == 50 * 1024
    assert (found.net_in_bytes, found.net_out_bytes) == (1010, 220)
    assert found.disk_busy_ms == 250
    assert (found.disk_read_bytes, found.disk_written_bytes) == (100 * 512, 400 * 512)
    (broker,) = found.processes["broker"]
    assert broker.cpu_seconds * TICKS_A_SECOND == 300
    # The scheduler knows it to the nanosecond; where it does not count, there are ticks.
    assert broker.threads == {7: 1.9, 8: 100 / TICKS_A_SECOND}
    assert broker.waits == {7: 0.6}
    assert broker.memory_bytes == (25 - 10) * os.sysconf("SC_PAGE_SIZE")
    assert found.processes["client"] == []


def test_a_process_waits_for_a_disk_when_one_of_its_threads_does(tmp_path: Path) -> None:
    proc = Proc(folder(tmp_path))
    assert not proc.is_waiting_for_disk(7)
    waiting = PROCESS.format(user=1, system=1).replace(") R ", ") D ")
    (tmp_path / "7/task/8/stat").write_text(waiting)
    (tmp_path / "7/task/9").mkdir()  # a thread that ends just now
    assert proc.is_waiting_for_disk(7)
    assert not proc.is_waiting_for_disk(8)


def test_who_listens_is_found_and_who_is_only_connected_is_not(tmp_path: Path) -> None:
    proc = Proc(folder(tmp_path))
    assert proc.listener(0x2A9F) == 7
    assert proc.listener(0x9999) is None


def test_the_folder_of_a_broker_s_log_is_in_its_maps(tmp_path: Path) -> None:
    proc = Proc(folder(tmp_path))
    assert proc.commit_log_of(7) == "/data/my store/commitlog"
    assert proc.commit_log_of(8) == ""


def test_a_disk_has_a_name(tmp_path: Path) -> None:
    proc = Proc(folder(tmp_path))
    assert proc.device_of(os.makedev(254, 1)) == "vda1"
    assert proc.device_of(os.makedev(0, 99)) == ""


def test_a_machine_that_says_nothing_is_no_error(tmp_path: Path) -> None:
    found = Proc(tmp_path).read(1, {"broker": [7]}, "")
    assert (found.busy_seconds, found.cores, found.load, found.available_bytes) == (0, 1, 0, 0)
    assert not found.is_disk_known


def test_this_very_machine_can_be_read() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        proc = Proc()
        assert proc.listener(listening.getsockname()[1]) == os.getpid()
    found = proc.read(1, {"client": [os.getpid()]}, "")
    assert found.busy_seconds > 0
    assert found.processes["client"][0].cpu_seconds > 0
    assert os.getpid() in found.processes["client"][0].threads
    assert not proc.is_waiting_for_disk(os.getpid())
