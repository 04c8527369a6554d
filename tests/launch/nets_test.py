#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on two machines with networks of their own: namespaces, joined by one cable. What the machines have in common
then is what the test gives them.

    nets_test.py --build DIR [NAME ...]"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
from launch_test import Skipped, check, contains, equal  # noqa: E402

# alpha is this namespace, beta the other one; `beta COMMAND` runs something there. The shell that they are reached by
# is a file in the directory.
SETUP = r'''
set -e
unshare -n sleep 300 & there=$!
trap 'kill $there' EXIT
until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
beta() { nsenter --net=/proc/$there/ns/net "$@"; }
cat > "$DIR/rsh" <<END
#!/bin/sh
[ "\$1" = beta ] && exec nsenter --net=/proc/$there/ns/net sh -c "\$2"
exec sh -c "\$2"
END
chmod +x "$DIR/rsh"
export PARLEY_RSH="$DIR/rsh"
ip link set lo up && beta ip link set lo up
ip link add v0 type veth peer name v1 netns $there
ip link set v0 up && beta ip link set v1 up
give() { ip addr add $1 dev v0 $3; beta ip addr add $2 dev v1 $3; }
set +e
'''
LINK = 'give fe80::1/64 fe80::2/64 nodad\n'
V6 = 'give fd00:7::1/64 fd00:7::2/64 nodad\n'
V4 = 'give 10.7.0.1/24 10.7.0.2/24\n'


def on_two(network, settings='', command='"$MPIEXEC" -host alpha:2,beta:2 -n 4 "$FAR" talk', **more):
    """A job of four ranks that talk, two on each machine, in such a network; or something else."""
    probe = subprocess.run(['unshare', '-Urn', 'sh', '-c', 'ip link add v0 type veth peer name v1'],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if probe.returncode:
        raise Skipped('no network namespaces: ' + probe.stdout.strip()[:100])
    script = SETUP + network + f'{settings} {command}\n'
    return subprocess.run(['unshare', '-Urn', 'sh', '-c', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=launch.STOP_AFTER, check=False,
                          env=dict(os.environ, DIR=launch.scratch, MPIEXEC=launch.mpiexec,
                                   FAR=launch.compiled('far'), **more))


def expect_talk(network, settings=''):
    result = on_two(network, settings)
    equal((result.returncode, result.stdout, result.stderr), (0, 'all have heard of all\n', ''))


def test_library_v4():
    expect_talk(V4)


def test_library_v6_only():
    """Both have no other address; ::1 is that of each itself."""
    expect_talk('ip addr del 127.0.0.1/8 dev lo; beta ip addr del 127.0.0.1/8 dev lo\n' + V6)


def test_library_link_only():
    """Addresses that mean something only together with an interface, of which there are two."""
    expect_talk(LINK + 'ip link add w0 type veth peer name w1\n'
                       'ip addr add fe80::9/64 dev w0 nodad; ip link set w0 up; ip link set w1 up\n')


def test_library_others():
    """One machine has a network more, which leads nowhere, and both have one with the same addresses."""
    expect_talk(V4 + V6 + 'ip link add w0 type veth peer name w1; ip link set w0 up; ip link set w1 up\n'
                'ip addr add 10.8.0.1/24 dev w0; ip addr add 172.17.0.1/16 dev w0\n'
                'beta ip link add w0 type veth peer name w1; beta ip link set w0 up; beta ip link set w1 up\n'
                'beta ip addr add 172.17.0.1/16 dev w0\n')


def test_library_dropped():
    """What goes to the other machine is never answered, as a firewall does it."""
    result = on_two(V4 + 'ip neigh replace 10.7.0.2 lladdr 02:00:00:00:00:99 dev v0 nud permanent\n',
                    'PARLEY_TCP_INTERFACE=10.7.0.0/24 PARLEY_TCP_TIMEOUT=1')
    check(result.returncode != 0, 'exit code 0')
    contains(result.stderr, 'E0361')
    check(re.search(r'10\.7\.0\.[12] port \d+: no answer', result.stderr), result.stderr)


MEET = r'''
"$MPIEXEC" -timeout 100 -host $SERVER -n 2 "$PORTS" server "$DIR/net-port" 2 far &
beta "$MPIEXEC" -timeout 100 -host $CLIENT -n 2 "$PORTS" client "$DIR/net-port" 2 talk
code=$?
wait $! && rm "$DIR/net-port" && exit $code
'''


def test_ports():
    """Jobs whose mpiexecs are on two machines, with ranks on one or on both; the last rank opens the port, and each job
    finds the other one's mpiexec by the addresses of its machine."""
    for network in V4, V6:
        for server in 'alpha,beta', 'alpha:2':
            for client in 'localhost:2', 'localhost,beta':
                result = on_two(network, '', MEET, PORTS=launch.compiled('ports'), SERVER=server, CLIENT=client)
                equal((result.returncode, sorted(result.stdout.splitlines()), result.stderr),
                      (0, ['client is done', 'server is done'], ''), f'{server} and {client}')


CUT = r'''
"$MPIEXEC" -timeout 100 -n 2 "$PORTS" server "$DIR/cut-port" 1 computes & server=$!
beta "$MPIEXEC" -timeout 100 -n 2 "$PORTS" client "$DIR/cut-port" 1 computes & client=$!
until [ -e "$DIR/cut-port.met" ]; do sleep 0.02; done
ip link set v0 down
wait $server; echo $?
wait $client; echo $?
'''


def test_library_cut():
    """Two jobs are connected, and nothing comes over the cable between their machines any more: no end of a connection
    either. Nobody is in MPI, so that it is for the mpiexecs to find out."""
    result = on_two(V4, '', CUT, PORTS=launch.compiled('ports'), PARLEY_TCP_TIMEOUT='2')
    equal(result.stdout, '1\n1\n')
    contains(result.stderr, 'E1015')


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
