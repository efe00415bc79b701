"""Load tests of a cluster, of Aerobee's or RocketMQ's brokers: `aerobee bench`.

    workload   what is sent and when: schedule, bodies, and the jobs of workers; no clock, no socket
    worker     the worker processes: pacing, sender, receiver, tally
    measure    latency histogram, figures of the machine and of the cluster
    run        the main process: starts workers, runs trials, searches rates
    result     verdict, comparison, report, plot

Workers are started anew (no fork), get one job as a line of JSON and answer in lines of JSON.
"""
