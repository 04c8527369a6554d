# SPDX-License-Identifier: BSD-3-Clause
"""The standard's table as Fortran sees it (MPI 5.0 chapter 19): which routines there are, what each argument is.

Builds on api/model.py. Knows kinds and the few routines whose Fortran form is not that of C; does not know how
anything is written: that is the business of the gen_*.py beside it.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'api'))
import model    # noqa: E402  (the path above comes first)

WITHOUT_FORTRAN = ('_toint', '_fromint')
DROPPED = ('argc', 'argv', 'argc_value', 'varargs')
CHOICE = ('buffer', 'memory', 'attached', 'location')
LARGE_C = ('MPI_Count', 'MPI_Aint', 'MPI_Offset')
SPLIT_OR_REMOTE = ('Put', 'Get', 'Accumulate', 'Get_accumulate', 'Fetch_and_op', 'Compare_and_swap', 'Win_attach',
                   'Win_detach', 'Win_create', 'Buffer_attach', 'Comm_attach_buffer', 'Session_attach_buffer',
                   'Free_mem', 'Get_address', 'F_sync_reg')
CALLBACK_TYPES = {    # kind: (C callback type, name of its abstract interface)
    'user_fn': 'MPI_User_function',
    'comm_copy_fn': 'MPI_Comm_copy_attr_function', 'comm_delete_fn': 'MPI_Comm_delete_attr_function',
    'type_copy_fn': 'MPI_Type_copy_attr_function', 'type_delete_fn': 'MPI_Type_delete_attr_function',
    'win_copy_fn': 'MPI_Win_copy_attr_function', 'win_delete_fn': 'MPI_Win_delete_attr_function',
    'comm_errhandler_fn': 'MPI_Comm_errhandler_function', 'file_errhandler_fn': 'MPI_File_errhandler_function',
    'win_errhandler_fn': 'MPI_Win_errhandler_function', 'session_errhandler_fn': 'MPI_Session_errhandler_function',
    'grequest_query_fn': 'MPI_Grequest_query_function', 'grequest_free_fn': 'MPI_Grequest_free_function',
    'grequest_cancel_fn': 'MPI_Grequest_cancel_function', 'datarep_extent_fn': 'MPI_Datarep_extent_function',
    'datarep_fn': 'MPI_Datarep_conversion_function',
}


class Argument:
    """One argument of a Fortran routine: what the table says, and its class here:

    handle, status, flag, index, choice, string, strings, strings2, callback, address (of a pointer), state (a value
    of the size of an address), state_out, weights, errcodes, bits, plain (numbers, passed by address as they are)
    """

    def __init__(self, function, param, large):
        self.param, self.name, self.direction = param, param.name, param.direction
        self.kind, self.is_array, self.length = param.kind.name, param.is_array, param.length
        self.c_type = param.kind.large if large else param.kind.small
        self.object = param.kind.object
        self.group = self.find_class(function)

    def find_class(self, function):
        kind = self.kind
        if self.object:
            return 'handle'
        if kind in ('status', 'string'):
            return kind
        if kind == 'flag' and not self.is_array:
            return 'flag'
        if kind == 'index' and self.direction == 'out':
            return 'index'
        return {'string_list': 'strings', 'string_lists': 'strings2', 'address_out': 'address', 'value_in': 'state',
                'value_out': 'state_out', 'weight': 'weights', 'logical_bits': 'bits'}.get(kind) or (
                    'choice' if kind in CHOICE else 'callback' if kind in CALLBACK_TYPES else
                    'errcodes' if kind == 'error_code' and self.is_array else 'plain')

    @property
    def is_logical(self):
        return self.kind == 'flag'

    @property
    def number_type(self):
        """C type of a number; int for all that is an INTEGER."""
        return self.c_type if self.c_type in LARGE_C else 'int'

    def callback_type(self, large):
        name = CALLBACK_TYPES[self.kind]
        return name + '_c' if large and self.kind in ('user_fn', 'datarep_fn') else name


class Routine:
    """A Fortran routine in one of its forms: small or large."""

    def __init__(self, function, large):
        self.function, self.large, self.name = function, large, function.name
        self.arguments = [Argument(function, p, large) for p in function.form_params(large)
                          if p.kind.name not in DROPPED
                          and not (p.kind.name == 'string_list' and function.param('argc'))]

    @property
    def low(self):
        return self.name.lower()

    @property
    def has_error(self):
        """Whether the last argument is ierror."""
        return self.function.returns == 'int' and self.name != 'Pcontrol'

    @property
    def has_choice(self):
        return any(a.group == 'choice' for a in self.arguments)

    @property
    def has_pointer(self):
        """Whether module mpi has a second form with TYPE(C_PTR), named _CPTR (MPI 5.0 §9.2, §12.2)."""
        return any(a.group == 'address' and a.name != 'buffer_addr' for a in self.arguments)

    @property
    def is_blocking(self):
        """Whether all that it does with buffers is done when it returns."""
        name = self.name
        return not (any(a.kind == 'request' and a.direction == 'out' for a in self.arguments)
                    or self.is_split or name in SPLIT_OR_REMOTE)

    @property
    def is_split(self):
        """The first half of a split collective call."""
        return self.name.endswith('_begin')

    def argument(self, name):
        return next((a for a in self.arguments if a.name == name), None)

    def signature(self):
        """What Fortran can tell apart: type and kind of each argument (the three large kinds are one)."""
        return [(a.group, a.object, a.group in ('plain', 'index') and a.number_type != 'int') for a in self.arguments]


def routines():
    """(small form, large form or None, overloaded) of every function that has a Fortran form, in the table's order.

    overloaded: the large form can be told from the small one by the types of its arguments (MPI 5.0 §19.2); one
    that differs in callbacks has a name of its own with _c, any other is the same routine."""
    for function in model.read_functions():
        if function.is_tool or function.name.endswith(WITHOUT_FORTRAN):
            continue
        small = Routine(function, False)
        large = Routine(function, True) if function.has_large else None
        overloaded = bool(large) and small.signature() != large.signature()
        if large and not overloaded and not any(a.kind in ('user_fn', 'datarep_fn') for a in large.arguments):
            large = None
        yield small, large, overloaded


def is_old(routine):
    """Deprecated since MPI 2.0: not in mpi_f08, and attribute values are INTEGER."""
    return routine.function.is_compat
