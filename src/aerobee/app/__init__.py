"""Processes: the only layer that creates sockets, disks and clocks and connects the parts."""
