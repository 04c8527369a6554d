#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of services that are known on another machine, too (mpiexec --name-server). The machines are network
namespaces, alpha and beta, which cannot see each other's names.

    names_test.py --build DIR [NAME ...]"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import launch_test as launch  # noqa: E402
import nets_test  # noqa: E402
from launch_test import check, contains, equal  # noqa: E402

# A remote shell that goes from each to the other; and `look NAME`, where it stands, which prints what is found.
BOTH = r"""
here=$$
cat > "$DIR/both" <<END
#!/bin/sh
case \$1 in alpha) at=$here;; beta) at=$there;; *) echo "ssh: no such machine" >&2; exit 255;; esac
exec nsenter --net=/proc/\$at/ns/net sh -c "\$2"
END
chmod +x "$DIR/both"
export PARLEY_RSH="$DIR/both"
wait_for() { until test -e "$1"; do sleep 0.02; done; }
"""


def on_both(script, network='', **more):
    result = nets_test.on_two(network, '', BOTH + script, SERVICES=launch.compiled('services', '-g'), **more)
    return result.returncode, result.stdout.splitlines(), result.stderr


def test_found():
    """On the machine that is named, from there and from elsewhere by the same option; not without it; taken back and
    gone with its job."""
    code, lines, err = on_both(r"""
beta "$MPIEXEC" --name-server alpha -n 2 "$SERVICES" \
    publish 'a name' 'port 1' publish two 'port 2' unpublish two 'port 2' \
    put "$DIR/up" get "$DIR/end" > "$DIR/said" & first=$!
wait_for "$DIR/up"
"$MPIEXEC" -n 1 "$SERVICES" lookup 'a name' lookup two
beta "$MPIEXEC" -n 1 "$SERVICES" lookup 'a name'
unshare -n sleep 300 & third=$!
until [ "$(readlink /proc/$third/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.02; done
gamma() { nsenter --net=/proc/$third/ns/net "$@"; }
gamma "$MPIEXEC" -nameserver alpha -n 2 "$SERVICES" lookup 'a name' lookup two
gamma "$MPIEXEC" -n 1 "$SERVICES" lookup 'a name'
gamma env PARLEY_NAME_SERVER=alpha "$SERVICES" lookup 'a name'
kill $third
touch "$DIR/end"
wait $first; cat "$DIR/said"
"$MPIEXEC" -n 1 "$SERVICES" lookup 'a name'
rm "$DIR/up" "$DIR/end"
""")
    found, unknown = 'lookup ok port 1', 'lookup MPI_ERR_NAME'
    equal((code, lines, err), (0, [found, unknown, found, found, unknown, unknown, found, 'publish ok', 'publish ok',
                                   'unpublish ok', unknown], ''))


def test_connected():
    """Two jobs that know nothing of each other but a name."""
    code, lines, err = on_both(r"""
beta "$MPIEXEC" --name-server alpha -timeout 100 -n 2 "$PORTS" server "$DIR/named" 2 named & server=$!
"$MPIEXEC" -timeout 100 -n 3 "$PORTS" client "$DIR/named" 2 named
wait $server && rm "$DIR/named"
""", nets_test.V4, PORTS=launch.compiled('ports', '-g'))
    equal((code, sorted(lines), err), (0, ['client is done', 'server is done'], ''))


def test_several():
    """Of two jobs on two machines, both of which publish a name; and one that is killed."""
    code, lines, err = on_both(r"""
export PARLEY_NAME_SERVER=alpha
beta "$MPIEXEC" -n 1 "$SERVICES" publish it 'port 1' put "$DIR/one" get "$DIR/end" > "$DIR/said" & one=$!
"$MPIEXEC" -n 1 "$SERVICES" publish it 'port 2' put "$DIR/two" get "$DIR/end" & two=$!
wait_for "$DIR/one"; wait_for "$DIR/two"
beta "$MPIEXEC" -n 1 "$SERVICES" say lookup it 2> "$DIR/err"; cat "$DIR/err"
kill -9 $two
wait $two 2>/dev/null
until beta "$MPIEXEC" -n 1 "$SERVICES" lookup it > "$DIR/found" && grep ok "$DIR/found"; do :; done
touch "$DIR/end"
wait $one
rm "$DIR/one" "$DIR/two" "$DIR/end"
""")
    text = '\n'.join(lines)
    contains(text, 'E1018: ')
    check(' on alpha' in text, text)
    contains(text, 'lookup ok port 1')
    equal((code, err), (0, ''))


def test_unreachable():
    """Nobody is there: both calls say so; and the way breaks while a name is known: that is told."""
    code, lines, err = on_both(r"""
"$MPIEXEC" --name-server nowhere -n 1 "$SERVICES" publish it 'port 1' lookup it
"$MPIEXEC" --name-server nowhere -n 1 "$SERVICES" say lookup it 2>&1 | head -1
name=it$$
"$MPIEXEC" --name-server beta -launch-timeout 100 -n 1 "$SERVICES" publish $name 'port 1' put "$DIR/up" get "$DIR/end" \
    2> "$DIR/err" & job=$!
wait_for "$DIR/up"
kill $(pgrep -f -- "--names=publish.$(printf %s $name | od -An -tx1 | tr -d ' \n')")
wait_for_text() { until grep -q E1020 "$DIR/err"; do sleep 0.02; done; }
wait_for_text
touch "$DIR/end"
wait $job; echo "ended with $?"
cat "$DIR/err"
rm "$DIR/up" "$DIR/end"
""")
    equal((code, lines[:2], err), (0, ['publish another error', 'lookup another error'], ''))
    contains(lines[2], 'E1020: ')
    contains(lines[2], 'names of services are not known on nowhere: mpiexec there has ended, and said: ssh: no such '
             'machine')
    equal(lines[3:5], ['publish ok', 'ended with 0'])
    contains(lines[5], 'rank 0: E1020: names of services are not known on beta')


def test_here():
    """This machine needs no remote shell."""
    env = dict(os.environ, PARLEY_RSH='/no/such/shell')
    for words in (['--name-server', 'localhost'], ['-nameserver', os.uname().nodename]):
        name = f'here {os.getpid()}'
        result = launch.run(*words, '-n', 1, launch.compiled('services', '-g'), 'publish', name, 'port', 'lookup', name,
                            'lookup', 'no ' + name, env=env)
        equal((result.returncode, result.stdout.splitlines(), result.stderr),
              (0, ['publish ok', 'lookup ok port', 'lookup MPI_ERR_NAME'], ''))


def test_mistakes():
    for words in (['--name-server', ''], ['--name-server', 'a,b'], ['--names=what']):
        result = launch.run(*words, 'true')
        equal(result.returncode, 2, result.stderr)
        contains(result.stderr, 'E0101: ')


if __name__ == '__main__':
    sys.exit(launch.main(globals(), __doc__))
