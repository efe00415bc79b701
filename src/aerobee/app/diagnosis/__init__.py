"""Diagnosis of a machine, a cluster and a configuration: `aerobee doctor`.

    look      machine (files of Linux), neighbours (name servers and brokers)
    judge     kernel, disk, clock, addresses, runtime, settings

Judges are given facts and touch nothing, so that their tests need no machine. Nothing is changed
by looking, and what to change is only said.
"""
