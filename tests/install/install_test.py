#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs a build into a temporary folder and builds programs against that tree as users do: with mpicc, with
mpicxx, with CMake's find_package(MPI), with pkg-config, statically; runs them with the installed mpiexec.

The tree was configured for another prefix, so this also shows that an installed tree can be moved.
Arguments: meson, the build folder, the prefix it was configured with."""

import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RING = os.path.join(HERE, "ring.c")
ANSWER = "the sum of 3 ranks is 3\n"


class Fault(Exception):
    """A step did not do what was expected."""


def run(command, env, cwd):
    """Runs a command, which must end with 0; returns what it wrote to stdout."""
    done = subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise Fault(f"{shlex.join(command)} gave {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(got, want, what):
    if got != want:
        raise Fault(f"{what}: expected {want!r}, got {got!r}")


def expect_ring(program, env, cwd):
    """The program must run on 3 processes, and alone."""
    expect(run(["mpiexec", "-n", "3", program], env, cwd), ANSWER, f"{program} on 3 processes")
    expect(run([program], env, cwd), "the sum of 1 ranks is 0\n", f"{program} alone")


def check_layout(prefix):
    for pattern in ("include/mpi.h", "lib/libmpi_abi.so", "lib/libmpi_abi.so.0", "lib/libmpi_abi.so.1",
                    "lib/libmpi_abi.a", "lib/pkgconfig/*.pc", "bin/mpicc", "bin/mpicxx", "bin/mpiexec",
                    "bin/mpirun", "lib/parley/mpich/libmpi.so.12", "lib/parley/mpich/libmpich.so.12",
                    "lib/parley/ompi/libmpi.so.40", "lib/parley/ompi/libmpi_mpifh.so.40",
                    "include/mpi_older.h", "include/mpi_cxx.h", "lib/libmpi_older.so.1",
                    "share/man/man1/mpiexec.1", "share/man/man3/MPI_Send.3", "share/man/man3/MPI_Send_c.3"):
        if not glob.glob(os.path.join(prefix, pattern)):
            raise Fault(f"not installed: {pattern}")


def check_wrappers(env, cwd):
    run(["mpicc", "-O1", RING, "-o", "ring-cc"], env, cwd)
    expect_ring("./ring-cc", env, cwd)
    if shutil.which("g++"):
        source = os.path.join(cwd, "ring.cpp")
        shutil.copy(RING, source)
        run(["mpicxx", "-O1", source, "-o", "ring-cxx"], env, cwd)
        expect_ring("./ring-cxx", env, cwd)
        talk = os.path.join(os.path.dirname(HERE), "older", "cxx_talk.cpp")
        run(["mpicxx", "-O1", talk, "-o", "talk-cxx"], env, cwd)
        run(["mpiexec", "-n", "3", "./talk-cxx"], env, cwd)
    rings = os.path.join(os.path.dirname(HERE), "older", "rings.c")
    run(["mpicc", "-I", os.path.join(os.path.dirname(HERE), "common"), rings, "-o", "rings"], env, cwd)
    run(["mpiexec", "-n", "3", "./rings"], env, cwd)
    if "mpi_older" in run(["readelf", "-d", "ring-cc"], env, cwd):
        raise Fault("a program without older names depends on their library")
    for flag in ("-show", "-showme:compile", "-showme:link"):
        if "-" not in run(["mpicc", flag], env, cwd):
            raise Fault(f"mpicc {flag} names no option")


def check_doors(env, cwd):
    """Programs of other MPIs find the installed doors, and these the installed library; where there are compilers."""
    for compiler in ("mpicc.mpich", "mpicc.openmpi"):
        if not shutil.which(compiler):
            print(f"skipped: {compiler} is not there, so no program for its door")
            continue
        if subprocess.run([compiler, "-E", RING], env=env, cwd=cwd, capture_output=True, check=False).returncode:
            print(f"skipped: {compiler} is there without its headers, so no program for its door")
            continue
        run([compiler, RING, "-o", "ring-" + compiler], env, cwd)
        expect(run(["mpiexec", "-n", "3", "./ring-" + compiler], env, cwd), ANSWER, f"a program of {compiler}")


def check_mixed(flags, env, cwd):
    """Objects of mpicc that convert handles, as those of ScaLAPACK do, are linked by a Fortran compiler."""
    with open(os.path.join(cwd, "convert.c"), "w", encoding="utf-8") as f:
        f.write("#include <mpi.h>\nMPI_Fint world_of_c_(void) { return MPI_Comm_c2f(MPI_COMM_WORLD); }\n")
    with open(os.path.join(cwd, "mixed.f90"), "w", encoding="utf-8") as f:
        f.write("use mpi\ninteger, external :: world_of_c\nif (world_of_c() /= MPI_COMM_WORLD) error stop 1\nend\n")
    run(["mpicc", "-c", "convert.c"], env, cwd)
    run(["mpifort", "mixed.f90", "convert.o", "-o", "mixed"], env, cwd)
    run(["./mixed"], env, cwd)
    run(["gfortran", "mixed.f90", "convert.o", "-o", "mixed-pc"] + flags, env, cwd)
    if "mpi_older" in run(["readelf", "-d", "ring-f08"], env, cwd):
        raise Fault("a Fortran program without older names depends on their library")


def check_fortran(prefix, env, cwd):
    """All three ways in, by the wrapper and by pkg-config; where the build had no compiler there is nothing."""
    if not os.path.exists(os.path.join(prefix, "bin", "mpifort")):
        return
    for pattern in ("include/mpif.h", "include/mpi.mod", "include/mpi_f08.mod", "lib/libmpifort_abi.so.1",
                    "bin/mpif77", "bin/mpif90"):
        if not glob.glob(os.path.join(prefix, pattern)):
            raise Fault(f"not installed: {pattern}")
    flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "mpi-fort"], env, cwd))
    for name, use in (("ring-f", "include 'mpif.h'"), ("ring-mpi", "use mpi"), ("ring-f08", "use mpi_f08")):
        source = os.path.join(cwd, name + ".f90")
        with open(os.path.join(HERE, "ring.f90"), encoding="utf-8") as f:
            text = f.read()
        head = f"{use}\nimplicit none" if use.startswith("use") else f"implicit none\n{use}"
        with open(source, "w", encoding="utf-8") as f:
            f.write(text.replace("    implicit none", head))
        run(["mpifort", "-O1", source, "-o", name], env, cwd)
        expect_ring("./" + name, env, cwd)
    check_mixed(flags, env, cwd)
    run(["gfortran", source, "-o", "ring-pc-f"] + flags, env, cwd)
    expect_ring("./ring-pc-f", {**env, "LD_LIBRARY_PATH": os.path.join(prefix, "lib")}, cwd)


def check_cmake(env, cwd):
    build = os.path.join(cwd, "cmake")
    said = run(["cmake", "-S", os.path.join(HERE, "cmake"), "-B", build], env, cwd)
    if "MPI standard 5.0" not in said:
        raise Fault(f"CMake did not find MPI 5.0:\n{said}")
    run(["cmake", "--build", build], env, cwd)
    run(["ctest", "--test-dir", build, "--output-on-failure"], env, cwd)
    expect_ring(os.path.join(build, "ring"), env, cwd)


def check_pkg_config(prefix, env, cwd):
    for path in sorted(glob.glob(os.path.join(prefix, "lib", "pkgconfig", "*.pc"))):
        name = os.path.basename(path)[:-3]
        if name == "p4":
            continue # no MPI
        flags = shlex.split(run(["pkg-config", "--cflags", "--libs", name], env, cwd))
        run(["cc", RING, "-o", "ring-" + name] + flags, env, cwd)
        expect_ring("./ring-" + name, {**env, "LD_LIBRARY_PATH": os.path.join(prefix, "lib")}, cwd)


def check_p4(prefix, env, cwd):
    """A p4 program with the plain compiler, by a procgroup and by mpiexec."""
    flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "p4"], env, cwd))
    run(["cc", "-Wall", "-Werror", os.path.join(HERE, "p4_ring.c"), "-o", "p4-ring"] + flags, env, cwd)
    with open(os.path.join(cwd, "p4-ring.pg"), "w", encoding="utf-8") as f:
        f.write("local 2\n")
    answer = "the sum of 3 processes is 3\n"
    for command in (["./p4-ring"], ["mpiexec", "-n", "3", "./p4-ring"]):
        expect(run(command, env, cwd), answer, shlex.join(command))


def check_static(prefix, env, cwd):
    """The archive links without other libraries, also all static; PMPI works: the user's MPI_Send is taken."""
    archive = os.path.join(prefix, "lib", "libmpi_abi.a")
    tool = os.path.join(HERE, "tool.c")
    run(["cc", "-static", "-I", os.path.join(prefix, "include"), RING, tool, archive, "-o", "ring-static"], env, cwd)
    said = run(["mpiexec", "-n", "3", "./ring-static"], env, cwd)
    expect(sorted(said.splitlines()), sorted([ANSWER.strip()] + ["1 sends"] * 2 + ["0 sends"]), "static with a tool")


def main(meson, build, configured_prefix):
    with tempfile.TemporaryDirectory() as folder:
        stage, work = os.path.join(folder, "stage"), os.path.join(folder, "work")
        os.mkdir(work)
        prefix = stage + configured_prefix
        env = {**os.environ, "PATH": os.path.join(prefix, "bin") + ":" + os.environ["PATH"],
               "PKG_CONFIG_PATH": os.path.join(prefix, "lib", "pkgconfig")}
        try:
            run([meson, "install", "-C", build, "--no-rebuild", "--destdir", stage], os.environ, folder)
            check_layout(prefix)
            check_wrappers(env, work)
            check_doors(env, work)
            check_fortran(prefix, env, work)
            check_pkg_config(prefix, env, work)
            check_p4(prefix, env, work)
            check_static(prefix, env, work)
            check_cmake(env, work)
        except Fault as fault:
            print(fault)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
