#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Plays a remote shell: HOST COMMAND runs the command here, as sshd does it, with the environment of a fresh login and
# in the home directory. A file named HOST in RSH_DIR is a script that is run first, in the same shell.
host=$1
shift
[ -n "$RSH_DIR" ] && [ -f "$RSH_DIR/$host" ] && . "$RSH_DIR/$host"
cd / && exec env -i HOME=/ USER=far SHELL=/bin/sh PATH=/usr/bin:/bin FAR_HOST="$host" sh -c "$*"
