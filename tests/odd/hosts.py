# SPDX-License-Identifier: BSD-3-Clause
"""The odd hosts: how each is made from this machine, by a command put in front of mpiexec or of each rank.

Nothing outside of what the commands themselves unshare is changed; what a machine does not allow (root, unshare,
seccomp, cgroups) shows when the command is tried with `true`, and the host is then skipped."""

import os
import shlex
import sys

COPY = 'process_vm_readv,process_vm_writev'


class Host:
    """front: words before mpiexec. setup: lines of shell that run behind `front`. between: words before each rank's
    program. mute: nothing can be seen of what is printed. cannot: part of the message with which mpiexec must refuse.
    suite: the chapter tests mean something there. folder: a control group to be removed afterwards."""

    def __init__(self, name, front=(), setup='', between=(), mute=False, cannot=None, suite=True, folder=None,
                 ranks=(1, 2, 4)):
        self.name = name
        self.front = list(front)
        self.setup = setup
        self.between = list(between)
        self.mute = mute
        self.cannot = cannot
        self.suite = suite and not between and not mute and not cannot
        self.folder = folder
        self.ranks = ranks

    def prefix(self):
        if not self.setup:
            return self.front
        return self.front + ['sh', '-c', f'{self.setup}\nexec "$@"', 'sh']


def mounts(*lines):
    return {'front': ['unshare', '-m'], 'setup': 'set -e\n' + '\n'.join(lines)}


def denied(deny, calls, error='EPERM'):
    return {'front': [deny, '-e', error, calls]}


def python(line, more=''):
    """Run a line of Python, then the command."""
    return {'front': [sys.executable, '-c', f'import os, sys, signal, socket{more}\n{line}\n'
                      'os.execvp(sys.argv[1], sys.argv[1:])']}


def nobody(*environment):
    return ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', 'env', *environment]


def read_only():
    return [f'if [ -d {d} ]; then mount --bind {d} {d}; mount -o remount,ro,bind {d}; fi'
            for d in ('/tmp', '/var/tmp', '/dev/shm')] + ['mount -o remount,ro,bind / /']


def few_devices(scratch, *names):
    place = shlex.quote(os.path.join(scratch, 'dev'))
    return ([f'mkdir -p {place}', f'mount -t tmpfs tmpfs {place}'] +
            [f'touch {place}/{name}; mount --bind /dev/{name} {place}/{name}' for name in names] +
            [f'mount --rbind {place} /dev'])


def own_group(controller):
    """Where this process is in a hierarchy of version 1, as a directory; None: there is none."""
    try:
        with open('/proc/self/cgroup', encoding='utf-8') as file:
            for line in file:
                _, names, path = line.rstrip('\n').split(':', 2)
                if controller in names.split(','):
                    return f'/sys/fs/cgroup/{controller}' + (path if path != '/' else '')
    except OSError:
        pass
    return None


def group(name, controller, *settings):
    """In a control group of its own; settings: FILE=VALUE."""
    above = own_group(controller) or f'/sys/fs/cgroup/{controller}'
    folder = f'{above}/parley-odd-{os.getpid()}-{name}'
    lines = ['set -e', f'mkdir -p {folder}']
    lines += [f'echo {value} >{folder}/{file}' for file, value in (s.split('=') for s in settings)]
    return Host(name, setup='\n'.join(lines + [f'echo $$ >{folder}/cgroup.procs']), folder=folder)


def filter_hosts(deny):
    """Where the kernel, or what plays it, says no."""
    return [
        Host('deny-copy', **denied(deny, COPY)),
        Host('deny-membarrier', **denied(deny, 'membarrier')),
        Host('deny-both', **denied(deny, COPY + ',membarrier')),
        Host('deny-memfd', **denied(deny, 'memfd_create', 'ENOSYS')),
        Host('deny-memfd-copy', **denied(deny, 'memfd_create,membarrier,' + COPY, 'EACCES')),
        Host('deny-affinity', **denied(deny, 'sched_setaffinity,sched_getaffinity')),
        Host('deny-new', **denied(deny, 'pidfd_open,close_range,futex_waitv,getrandom', 'ENOSYS')),
        Host('deny-much', **denied(deny, COPY + ',membarrier,memfd_create,pidfd_open,close_range,futex_waitv,getrandom,'
                                   'sched_setaffinity,sched_getaffinity,prlimit64,prctl', 'ENOSYS')),
        Host('deny-processes', **denied(deny, 'vfork,clone,clone3', 'EAGAIN'), cannot='no process for it: Resource'),
        Host('deny-in-ranks', between=denied(deny, COPY + ',membarrier,sched_getaffinity')['front']),
    ]


def small_containers(deny, scratch):
    """Several at once, as the usual container has them."""
    empty = shlex.quote(os.path.join(scratch, 'empty'))
    lines = [f': >{empty}', f'mount --bind {empty} /etc/hosts', f'mount --bind {empty} /etc/resolv.conf',
             *read_only(), 'umount /dev/shm', 'mount -t tmpfs -o size=4m tmpfs /dev/shm']
    return [
        Host('container', **mounts(*lines, f'exec {deny} {COPY},membarrier "$@"')),
        Host('no-memory', **mounts(*lines, f'exec {deny} -e ENOSYS memfd_create env -u TMPDIR "$@"'),
             cannot='no shared memory for 4 ranks: memfd_create: Function not implemented'),
    ]


def mount_hosts(build, scratch):
    """Where files are missing or may not be written."""
    devices = ('null', 'zero', 'full', 'random', 'urandom', 'tty')
    library = f'export LD_LIBRARY_PATH={shlex.quote(build)}/src' # not found by $ORIGIN without /proc
    empty = shlex.quote(os.path.join(scratch, 'empty'))
    hosts = [
        Host('shm-4m', **mounts('mount -t tmpfs -o size=4m tmpfs /dev/shm')),
        Host('no-shm', **mounts(*few_devices(scratch, *devices))),
        Host('no-devices', **mounts(*few_devices(scratch))),
        Host('read-only', **mounts(*read_only())),
        Host('no-proc', **mounts('mount -t tmpfs tmpfs /proc', library)),
        Host('no-sys', **mounts('mount -t tmpfs tmpfs /sys')),
        Host('no-proc-no-sys', **mounts('mount -t tmpfs tmpfs /proc', 'mount -t tmpfs tmpfs /sys', library)),
        Host('hidepid', front=['unshare', '-m', '-p', '-f'], setup='set -e\nmount -t proc -o hidepid=2 proc /proc\n'
             'exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"'),
        Host('no-names', **mounts(f': >{empty}', f'mount --bind {empty} /etc/hosts',
                                  f'mount --bind {empty} /etc/resolv.conf', f'mount --bind {empty} /etc/nsswitch.conf',
                                  f'mount --bind {empty} /etc/passwd')),
        Host('quota-v2', **mounts('mount -t tmpfs tmpfs /sys', 'mkdir -p /sys/fs/cgroup',
                                  'echo 50000 100000 >/sys/fs/cgroup/cpu.max')),
    ]
    if not build.startswith('/tmp/'):
        hosts.append(Host('noexec-tmp', **mounts('mount -t tmpfs -o noexec tmpfs /tmp')))
    return hosts


def space_hosts():
    """Namespaces, as containers have them: around the job and around each rank."""
    return [
        Host('no-network', front=['unshare', '-n']),
        Host('no-host-name', front=['unshare', '-u'] + python('socket.sethostname("")')['front']),
        Host('long-host-name', front=['unshare', '-u'] + python('socket.sethostname("x" * 64)')['front']),
        Host('user-space', front=['unshare', '-U']),
        Host('root-in-user-space', front=['unshare', '-U', '-r', '-m', '-n', '-i', '-u']),
        Host('process-space', front=['unshare', '-p', '-f']),
        Host('ranks-in-user-spaces', between=['unshare', '-U']),
        Host('ranks-in-process-spaces', between=['unshare', '-p', '-f']),
        Host('ranks-in-networks', between=['unshare', '-n']),
        Host('ranks-without-files', between=python('os.closerange(3, 4096)')['front']),
        Host('ranks-by-a-daemon', between=['unshare', '-p', '-f', '-m', '-i', '-u'] +
             python('os.closerange(3, 4096)')['front']),
        Host('ranks-in-containers', between=['unshare', '-U', '-r', '-p', '-f', '-n', '-m', '-i', '-u']),
        Host('other-clock', front=['unshare', '-T', '-f', '--monotonic', '1000000']),
        Host('ranks-with-other-clocks', between=['unshare', '-T', '-f', '--monotonic', '1000000']),
    ]


def user_hosts():
    return [
        Host('nobody', front=nobody('HOME=/nonexistent')),
        Host('nobody-without-home', front=nobody('-u', 'HOME', '-u', 'USER', '-u', 'LOGNAME')),
        Host('nobody-few-processes', front=['prlimit', '--nproc=40'] + nobody()),
        Host('env-i', front=['env', '-i'], suite=False),
        Host('no-language', front=['env', '-u', 'LANG', '-u', 'LC_ALL', 'LANGUAGE=xx', 'TZ=Nowhere/Land']),
        Host('wrong-language', front=['env', 'LC_ALL=xx_YY.UTF-99', 'TZ=:/nonexistent']),
        Host('much-environment', **python('for i in range(15): os.environ[f"MUCH_{i}"] = "x" * 100000')),
    ]


def limit_hosts():
    return [
        Host('files-64', front=['prlimit', '--nofile=64'], ranks=(1, 2, 8)),
        Host('files-20', front=['prlimit', '--nofile=20'], ranks=(8,), cannot='raise it (ulimit -Hn)'),
        Host('space-300m', front=['prlimit', f'--as={300 << 20}'], suite=False), # threads alone take more
        Host('space-4g', front=['prlimit', f'--as={4 << 30}']),
        Host('data-100m', front=['prlimit', f'--data={100 << 20}'], suite=False),
        Host('locked-0', front=['prlimit', '--memlock=0']),
        Host('stack-unlimited', front=['prlimit', '--stack=unlimited']),
        Host('stack-256k', front=['prlimit', f'--stack={256 << 10}']),
        Host('file-size-4k', front=['prlimit', '--fsize=4096'], cannot='(ulimit -f unlimited)'),
        Host('file-size-soft', front=['prlimit', '--fsize=4096:unlimited']),
        Host('signals-0', front=['prlimit', '--sigpending=0']),
        group('quota', 'cpu', 'cpu.cfs_quota_us=50000'),
        group('memory-200m', 'memory', f'memory.limit_in_bytes={200 << 20}'),
    ]


def parent_hosts(build, scratch):
    """What a careless parent leaves behind."""
    gone = shlex.quote(os.path.join(scratch, 'gone'))
    hosts = [
        Host('closed-stdin', setup='exec <&-'),
        Host('closed-stdout', setup='exec >&-', suite=False),
        Host('closed-stderr', setup='exec 2>&-', mute=True),
        Host('closed-all', setup='exec <&- >&- 2>&-', mute=True),
        Host('to-null', setup='exec >/dev/null 2>/dev/null', mute=True),
        Host('full-stdout', setup='exec >/dev/full', suite=False),
        Host('ignored-signals', setup="trap '' CHLD PIPE HUP INT TERM USR1 USR2 ALRM"),
        Host('blocked-signals', **python('signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - '
                                         '{signal.SIGSEGV})')), # which a test raises
        Host('gone-directory', setup=f'mkdir -p {gone} && cd {gone} && rmdir {gone}'),
        Host('no-name', front=['bash', '-c', 'exec -a "" "$@"', 'bash']),
        Host('idle-priority', front=['nice', '-n', '19']),
        Host('one-processor', front=['taskset', '-c', min_processor()]),
        Host('open-files', **python('for i in range(3, 60): os.dup2(0, i)')),
    ]
    strange = os.path.join(scratch, 'Ünï  cödé "dir" \'')
    os.symlink(build, strange)
    hosts.append(Host('strange-path', front=['env', f'PARLEY_STRANGE={strange}'], suite=False))
    hosts[-1].build = strange
    return hosts


def min_processor():
    return str(min(os.sched_getaffinity(0)))


def all_hosts(build, deny, scratch):
    return ([Host('as-it-is')] + filter_hosts(deny) + small_containers(shlex.quote(deny), scratch) +
            mount_hosts(build, scratch) + space_hosts() + user_hosts() + limit_hosts() + parent_hosts(build, scratch))
