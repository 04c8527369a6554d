#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program under valgrind: no error, no byte left at the end, fewer than 100 allocations.

Arguments: valgrind, the program, and if it is to run as a job of 2 ranks, mpiexec."""

import glob
import os
import re
import subprocess
import sys
import tempfile

import tree

MOST_ALLOCATIONS = 99


def run(valgrind, program, mpiexec, folder):
    """Runs it with one log a process in `folder`; returns the exit status and the output."""
    command = [valgrind, "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all",
               "--error-exitcode=9", f"--log-file={folder}/log.%p", program]
    if mpiexec:
        command = [mpiexec, "-n", "2"] + command
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def faults_of_log(path):
    text = tree.read(path)
    errors = re.search(r"ERROR SUMMARY: (\d+) errors", text)
    left = re.search(r"in use at exit: ([\d,]+) bytes", text)
    allocations = re.search(r"total heap usage: ([\d,]+) allocs", text)
    if not (errors and left and allocations):
        yield f"valgrind's log is not complete:\n{text}"
        return
    count = int(allocations[1].replace(",", ""))
    if errors[1] != "0" or left[1] != "0":
        yield f"{errors[1]} errors, {left[1]} bytes left:\n{text}"
    if count > MOST_ALLOCATIONS:
        yield f"{count} allocations, at most {MOST_ALLOCATIONS} are allowed"
    print(f"{count} allocations")


def main(valgrind, program, mpiexec=None):
    with tempfile.TemporaryDirectory() as folder:
        status, output = run(valgrind, program, mpiexec, folder)
        logs = sorted(glob.glob(os.path.join(folder, "log.*")))
        faults = [fault for log in logs for fault in faults_of_log(log)]
    if len(logs) != (2 if mpiexec else 1):
        faults.append(f"{len(logs)} processes left a log")
    if status != 0:
        faults.append(f"exit status {status}: {output}")
    return tree.report(faults, f"{len(logs)} processes under valgrind")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
