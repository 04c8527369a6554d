#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stands for mpiexec and runs a program as several clients of IMPI, so that any test program becomes a test of it.

    clients.py --build DIR [--clients K] [option of mpiexec ...] -n N program [argument ...]

The N ranks are dealt to K clients (2 without it) in rows, or to as many as there are ranks. Its exit code is the first
one of a client that is not 0, or that of the server."""

import os
import signal
import subprocess
import sys


def read_arguments(words):
    """(build, clients, options of mpiexec, ranks, program and its arguments)"""
    build, clients, options, ranks = None, 2, [], 1
    while words and words[0].startswith('-'):
        name = words.pop(0)
        if name == '--build':
            build = words.pop(0)
        elif name == '--clients':
            clients = int(words.pop(0))
        elif name == '-n':
            ranks = int(words.pop(0))
            break
        else:
            options.append(name)
    return build, min(clients, ranks), options, ranks, words


def main():
    build, clients, options, ranks, program = read_arguments(sys.argv[1:])
    environment = dict(os.environ, IMPI_AUTH_KEY='20000101')
    server = subprocess.Popen([f'{build}/impi/impi-server', '-server', str(clients), '-interface', '127.0.0.1',
                               '-timeout', '60'], stdout=subprocess.PIPE, env=environment, text=True)
    address = server.stdout.readline().strip()
    jobs = []
    for client in range(clients):
        count = ranks // clients + (client < ranks % clients)
        jobs.append(subprocess.Popen([f'{build}/launch/mpiexec', *options, '-client', str(client), address,
                                      '-n', str(count), *program], env=environment))

    def pass_on(number, _frame):
        for job in jobs:
            job.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, pass_on)
    codes = [job.wait() for job in jobs]
    code = next((c for c in codes if c), 0)
    if code:
        server.kill() # it would say that a client was lost
    return server.wait() if not code else code


if __name__ == '__main__':
    sys.exit(main())
