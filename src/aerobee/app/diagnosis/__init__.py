"""Diagnosis of a machine, a cluster and a configuration: `aerobee doctor`.

    look      machine (files of Linux), neighbours (name servers and brokers)
    judge     kernel, disk, clock, addresses, runtime, settings

Judges get facts as arguments, so that their tests need no particular machine. Nothing is changed:
remedies are only printed.
"""
