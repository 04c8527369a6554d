#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every header compiles alone and may be included twice; mpi.h also in C++, and in strict C.

Arguments: the folder of the generated mpi.h, then the C compiler."""

import os
import shutil
import subprocess
import sys
import tempfile

import tree

WARN = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def compile_alone(compiler, include, flags, suffix):
    """The messages of the compiler about a file that has nothing but this include, twice; '' if none."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "alone" + suffix)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#include {include}\n#include {include}\nextern int not_empty;\n")
        done = subprocess.run(compiler + WARN + flags + [path], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main(mpi_folder, *compiler):
    compiler = list(compiler)
    internal = ["-std=gnu11", "-D_GNU_SOURCE", "-Wmissing-prototypes", "-Wstrict-prototypes",
                "-I", tree.SRC, "-I", mpi_folder]
    jobs = [(compiler, f'"{os.path.relpath(h, tree.SRC)}"', internal, ".c")
            for h in tree.files_below("src", (".h",))]
    jobs += [(compiler, "<mpi.h>", [f"-std={std}", "-I", mpi_folder], ".c") for std in ("c99", "c11", "gnu17")]
    if shutil.which("g++"):
        jobs += [(["g++"], "<mpi.h>", [f"-std={std}", "-I", mpi_folder], ".cpp")
                 for std in ("c++11", "c++17", "c++20")]
    else:
        print("no g++: mpi.h not tried in C++")
    faults = [f"{job[1]} {job[2][0]}:\n{text}" for job in jobs if (text := compile_alone(*job))]
    return tree.report(faults, f"{len(jobs)} headers compiled alone")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
