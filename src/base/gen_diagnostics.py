# SPDX-License-Identifier: BSD-3-Clause
"""From the catalogue of diagnostics, diagnostics.txt:

    gen_diagnostics.py OUTPUT                    remedies as a table in C, for room base
    gen_diagnostics.py OUTPUT --explanations     everything as text, for mpiexec --explain

Scripts that read the catalogue import read_catalogue from here."""

import os
import re
import sys

CATALOGUE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'diagnostics.txt')

TEXT = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from src/base/diagnostics.txt; do not edit. */
'''
REMEDIES = TEXT + '''\
#include "base/int_diagnostic.h"

const struct remedy remedies[] = {
%s
};
const size_t remedy_count = sizeof remedies / sizeof remedies[0];
'''
EXPLANATIONS = TEXT + '''\
#include "explain.h"

#include <stddef.h>

const struct explanation explanations[] = {
%s
};
const int explanation_count = (int)(sizeof explanations / sizeof explanations[0]);
'''


class Entry:
    """One diagnostic; `text` is the explanation, a list of paragraphs."""

    def __init__(self, number, cause):
        self.number, self.cause = number, cause
        self.remedy, self.since, self.test, self.text = '', '', '', ['']

    @property
    def id(self):
        return f'E{self.number:04}'


def fail(number, why):
    sys.exit(f'{CATALOGUE}:{number}: {why}')


def read_field(entry, number, line):
    field, colon, value = line.partition(': ')
    if not entry or not colon or field not in ('remedy', 'since', 'test') or getattr(entry, field):
        fail(number, f'not understood: {line}')
    setattr(entry, field, value.strip())


def read_catalogue():
    """The entries, by rising number; every one complete."""
    entries = []
    with open(CATALOGUE, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip('\n')
            head = re.fullmatch(r'E(\d{4}) (\S.*)', line)
            if head:
                entries.append(Entry(int(head[1]), head[2]))
            elif line.startswith('    '):
                entries[-1].text[-1] += (' ' if entries[-1].text[-1] else '') + line.strip()
            elif not line:
                if entries and entries[-1].text[-1]:
                    entries[-1].text.append('')
            elif not line.startswith('#'):
                read_field(entries[-1] if entries else None, number, line)
    for entry in entries:
        entry.text = [paragraph for paragraph in entry.text if paragraph]
        if not (entry.since and entry.test and entry.text and entry.remedy):
            fail(0, f'{entry.id} lacks a remedy ("-": none), since, test or explanation')
        entry.remedy = entry.remedy if entry.remedy != '-' else ''
    numbers = [entry.number for entry in entries]
    if numbers != sorted(set(numbers)):
        fail(0, 'the numbers do not rise')
    return entries


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n') + '"' if text else 'NULL'


def main(output, *more):
    entries = read_catalogue()
    if more:
        text = EXPLANATIONS % '\n'.join(
            '    { %d, %s, %s, %s, %s },' % (e.number, quoted(e.cause), quoted(e.remedy), quoted(e.since),
                                           quoted('\n'.join(e.text))) for e in entries)
    else:
        text = REMEDIES % '\n'.join(f'    {{ {e.number}, {quoted(e.remedy)} }},' for e in entries)
    with open(output, 'w', encoding='utf-8') as file:
        file.write(text)


if __name__ == '__main__':
    main(*sys.argv[1:])
