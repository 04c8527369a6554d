#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compile.sh FOLDER OUTPUT COMPILER ARGUMENT...: compiles with module files of the program in a folder of its own.
set -e
folder=$1
output=$2
shift 2
mkdir -p "$folder"
exec "$@" -J "$folder" -o "$output"
