# SPDX-License-Identifier: BSD-3-Clause
"""The facts of a foreign ABI (mpich/facts.txt, ompi/facts.txt) as Python objects, and which groups of constants a
door converts. The format is told at the head of the files."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'api'))
import model  # noqa: E402

# Conversions of plain values, in both directions: name -> constants.
VALUES = {
    'order': r'ORDER_\w+',
    'distrib': r'DISTRIBUTE_(NONE|BLOCK|CYCLIC)',
    'darg': r'DISTRIBUTE_DFLT_DARG',
    'combiner': r'COMBINER_\w+',
    'typeclass': r'TYPECLASS_\w+',
    'comparison': r'IDENT|CONGRUENT|SIMILAR|UNEQUAL',
    'topology': r'CART|GRAPH|DIST_GRAPH',
    'split_type': r'COMM_TYPE_\w+',
    'lock_type': r'LOCK_\w+',
    'flavor': r'WIN_FLAVOR_\w+',
    'memory_model': r'WIN_UNIFIED|WIN_SEPARATE',
    'whence': r'SEEK_\w+',
    'thread_level': r'THREAD_\w+',
    'keyval': r'KEYVAL_INVALID|TAG_UB|IO|HOST|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE|WIN_BASE|WIN_DISP_UNIT|'
              r'WIN_SIZE|WIN_CREATE_FLAVOR|WIN_MODEL',
    'verbosity': r'T_VERBOSITY_\w+',
    'binding': r'T_BIND_\w+',
    'scope': r'T_SCOPE_\w+',
    'pvar_class': r'T_PVAR_CLASS_\w+',
    'source_order': r'T_SOURCE_\w+',
    'cb_safety': r'T_CB_REQUIRE_\w+',
}
# Values that are combined bit by bit.
BITS = {'amode': r'MODE_(APPEND|CREATE|DELETE_ON_CLOSE|EXCL|RDONLY|RDWR|SEQUENTIAL|UNIQUE_OPEN|WRONLY)',
        'assert': r'MODE_NO\w+'}
# Types of the variables of constants that are no handles of MPI's objects.
POINTERS = ('void *', 'char **', 'char ***', 'int *', 'MPI_Status *', 'MPI_T_pvar_handle')


class Fact:
    """What one constant is over there."""

    def __init__(self, constant, words):
        self.constant, self.name = constant, constant.name[4:]
        self.value = self.symbol = self.size = self.stands_for = None
        if words[0] == 'as':
            self.stands_for = words[1]
        elif len(words) == 2:
            self.symbol, self.size = words[0], int(words[1])
        else:
            self.value = int(words[0], 0)
        self.handle = model.HANDLE_TYPES.get(constant.c_type)


def read(path):
    """Facts by the name of the constant, in the order of the table of constants."""
    constants = {c.name: c for _, group in model.read_constants() for c in group}
    facts = {}
    for number, _, text in model.table_lines(path):
        words = text.split()
        if words[0] == '==':
            continue
        if words[0] not in constants or words[0] in facts or not 2 <= len(words) <= 3:
            model.fail(path, number, f'no constant of this name, or twice: {words[0]}')
        facts[words[0]] = Fact(constants[words[0]], words[1:])
    return facts


def chosen(facts, pattern):
    """The facts whose name, without MPI_, is of the pattern and that have a value."""
    return [f for f in facts.values() if re.fullmatch(pattern, f.name) and f.value is not None]


def handles(facts, kind=None):
    return [f for f in facts.values() if f.handle and (kind is None or f.handle == kind)]
