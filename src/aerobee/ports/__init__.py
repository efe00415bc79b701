"""Interfaces between the core and the world: `typing.Protocol`s and small values, without code.

clock, disk, disk_worker   time, files and blocking disk work, as the core uses them
service, watch             a service, as the net layer and monitoring use it
replica_link               HA connections of a service, as the net layer uses them
"""
