"""make bench: every figure beside its target; exits with 1 if one is missed."""

import sys

import methods
import protection
import reading
import report as page
import speed
import startup
from common import Report

if __name__ == "__main__":
    report = Report()
    for benchmark in (speed, methods, startup, reading, protection, page):
        benchmark.main(report)
    print(f"\n{report.missed} targets missed")
    sys.exit(report.missed > 0)
