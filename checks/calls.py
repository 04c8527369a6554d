#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Some functions of libc may be called in a few rooms of src/ only (unit tests apart).

The rules are the table below: what, where, why. Comments and strings do not count."""

import os
import re
import sys

import tree

RULES = (
    (("malloc", "calloc", "realloc", "free", "strdup", "strndup", "aligned_alloc", "posix_memalign"),
     ("base",), "memory comes from base/mem"),
    (("sched_yield", "nanosleep", "clock_nanosleep", "usleep", "sleep", "poll", "ppoll", "select", "epoll_wait",
      "pthread_cond_wait", "sem_wait"),
     ("sys", "progress", "pm"), "waiting is only in progress"),
    (("printf", "fprintf", "vfprintf", "puts", "fputs", "perror"),
     ("pm", "init", "bind"), "nothing below init writes to the terminal"),
    (("exit", "_exit", "abort", "quick_exit"),
     ("pm", "init", "bind"), "nothing below init ends the process"),
)
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def code_of(path):
    """The text with comments and strings blanked; lines stay where they are."""
    return NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), tree.read(path))


def faults_of_file(path, room):
    text = code_of(path)
    for names, allowed, why in RULES:
        if room in allowed:
            continue
        for match in re.finditer(rf"(?<![\w.>])({'|'.join(names)})\s*\(", text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{tree.short(path)}:{line}: {match[1]}() in room {room}: {why} ({', '.join(allowed)})"


def main():
    faults, count = [], 0
    for room in tree.rooms():
        for path in tree.room_files(room):
            if not path.endswith("_test.c") and os.path.basename(path) != "check.h":
                faults += faults_of_file(path, room)
                count += 1
    return tree.report(faults, f"calls of {count} files")


if __name__ == "__main__":
    sys.exit(main())
