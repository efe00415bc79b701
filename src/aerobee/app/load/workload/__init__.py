"""Workloads of load tests: amounts, bodies, schedules, and the jobs that workers get."""
