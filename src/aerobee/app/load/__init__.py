"""Load tests of a cluster, whoever's brokers it has: `aerobee bench`.

    decide   schedule, histogram, tally, workload, verdict, rate_search, capacity, comparison
    drive    pacing, sender, receiver: in worker processes
             fleet, watching, trial: in the process that asks
    show     report, plot

What decides knows no clock and no socket. Workers are processes that begin from nothing (no fork),
take one job as a line of JSON and answer in lines of JSON.
"""
