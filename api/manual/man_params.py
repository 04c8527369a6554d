# SPDX-License-Identifier: BSD-3-Clause
"""What the manual says of parameters and of the errors that checks of arguments find, from kinds and directions.

Texts have the marks of the files beside this one (*name*, `MPI_X`). Does not know how a page looks: gen_man.py."""

import os
import re
import sys

import manual_model
from manual_model import model

sys.path.insert(0, os.path.join(manual_model.HERE, '..', '..', 'src', 'bind'))
import checks    # noqa: E402  (the path above comes first)

# Sentences for kinds of which kinds.txt says too little to a user; a pair tells of one direction. Results begin with
# "set to" (see sentence).
KINDS = {
    'comm': 'communicator', 'comm_unused': 'communicator, which other processes than the root may leave open',
    ('comm', 'out'): 'the communicator', ('group', 'out'): 'the group', ('type', 'out'): 'the datatype',
    ('op', 'out'): 'the operator', ('info', 'out'): 'the info object', ('errhandler', 'out'): 'the error handler',
    ('message', 'out'): 'the message, for `MPI_Mrecv` or `MPI_Imrecv`', ('session', 'out'): 'the session',
    ('win', 'out'): 'the window', ('file', 'out'): 'the file',
    ('request', 'out'): 'the request of the operation',
    'type_used': 'datatype of each element; must be committed',
    'info_or_null': 'info object with hints; `MPI_INFO_NULL`: none',
    ('request_or_null', 'inout'): 'request, which becomes `MPI_REQUEST_NULL` when its operation is complete (a '
                                  'persistent one becomes inactive and stays); `MPI_REQUEST_NULL` is skipped',
    'memory': 'first byte of memory of the program, which the library uses from now on',
    'attached': 'memory for buffered messages, or `MPI_BUFFER_AUTOMATIC` for memory that the library provides',
    'address_out': 'the address of a pointer variable (in C of any pointer type, passed as void *), which is set',
    'location': 'place in memory whose address is asked for',
    'value_in': 'a pointer, or any value of its size, which is handed on as it is',
    'value_out': 'the address of a variable for a pointer, which is set',
    'logical_bits': 'the bytes of a Fortran LOGICAL',
    'object_pointer': 'address of a handle of the kind of object that the variable is bound to; else NULL',
    'count': 'number of elements, 0 or more', 'count_large': 'a number, 0 or more',
    'count_positive': 'number of elements, 1 or more',
    'count_found': 'a number; `MPI_UNDEFINED` if there is none, or if it is too large for the type of the parameter',
    'large_found': 'a number; `MPI_UNDEFINED` if there is none',
    ('param_count', 'in'): 'length of the array of that kind', ('param_count', 'out'): 'a number of values',
    ('bytes', 'out'): 'a size in bytes; `MPI_UNDEFINED` if it is too large for the type of the parameter',
    'position': 'place in the buffer in bytes, counted from 0; is moved behind what has been handled',
    'pack_position': 'place in the buffer in bytes, counted from 0; is moved behind what has been handled',
    'displ': 'where the block begins, in extents of the datatype from the beginning of the buffer; any sign',
    'displ_type': 'where the block begins, in extents of *oldtype*; any sign',
    'displ_bytes': 'a distance in bytes; any sign', 'displ_aint': 'where the block begins, in bytes; any sign',
    'disp_unit': 'bytes that a displacement of 1 means in accesses to this window, 1 or more',
    'target_disp': "where in the target's window, in its displacement units; 0 or more",
    'offset': 'place in the file, in units of the etype of the view, behind its displacement',
    'length': 'a length, 0 or more', 'length_positive': 'a length, 1 or more',
    'dest': 'rank that the message goes to (in the remote group of an intercommunicator), or `MPI_PROC_NULL`',
    'source': 'rank that the message comes from (in the remote group of an intercommunicator), `MPI_ANY_SOURCE`, or '
              '`MPI_PROC_NULL`',
    'source_exact': 'rank that the message comes from, or `MPI_PROC_NULL`',
    'root': 'rank of the root, the same everywhere. Intercommunicator: in the group of the root `MPI_ROOT` at the root '
            'and `MPI_PROC_NULL` at the others, in the other group the rank of the root',
    'rank': 'a rank in the communicator', 'rank_group': 'a rank in the group',
    'rank_value': 'a rank', 'rank_unused': 'a rank, looked at on some processes only',
    'target': 'rank of the target in the group of the window, or `MPI_PROC_NULL`',
    'rank_range': 'triplets of ranks: first, last, stride; the stride may be negative, but not 0',
    'send_tag': 'tag, from 0 to the value of the attribute `MPI_TAG_UB` (here 2147483647)',
    'recv_tag': 'tag, or `MPI_ANY_TAG`', 'tag_value': 'a tag',
    'color': 'number of the new communicator that the process wants to be in, 0 or more; `MPI_UNDEFINED`: in none',
    'key': 'decides on the order of ranks; where equal, the old order counts',
    ('flag', 'in'): 'true (not 0) or false (0)', ('flag', 'out'): 'true (1) or false (0)',
    'flag_optional': 'true (1) or false (0); the pointer may be NULL',
    ('index', 'in'): 'number of the item, counted from 0',
    ('index', 'out'): 'a place in the array, counted from 0 in C and from 1 in Fortran',
    'enum': 'one of the constants named below', 'int': 'an integer',
    'assert': '`MPI_MODE_` constants that promise something about the program, combined by or; 0: nothing',
    'amode': '`MPI_MODE_` constants, combined by or', 'whence': '`MPI_SEEK_SET`, `MPI_SEEK_CUR`, or `MPI_SEEK_END`',
    'order': '`MPI_ORDER_C` (the last dimension varies fastest) or `MPI_ORDER_FORTRAN` (the first does)',
    'lock_type': '`MPI_LOCK_SHARED` or `MPI_LOCK_EXCLUSIVE`',
    'split_type': 'what the processes of one new communicator have in common: an `MPI_COMM_TYPE_` constant, or '
                  '`MPI_UNDEFINED` for a process that wants none',
    'typeclass': '`MPI_TYPECLASS_INTEGER`, `MPI_TYPECLASS_REAL`, or `MPI_TYPECLASS_COMPLEX`',
    'thread_level': '`MPI_THREAD_SINGLE`, `MPI_THREAD_FUNNELED`, `MPI_THREAD_SERIALIZED`, or `MPI_THREAD_MULTIPLE`',
    'weight': 'a weight for each edge, 0 or more; `MPI_UNWEIGHTED` in place of the array: all the same',
    ('keyval', 'inout'): 'attribute key, which becomes `MPI_KEYVAL_INVALID`',
    ('string', 'in'): 'text, ended by a zero byte (Fortran: blanks at the end do not count)',
    ('string', 'out'): 'room for a text, which is ended by a zero byte (Fortran: filled with blanks)',
    ('string_length', 'inout'): 'in: bytes of room for the text, with the zero byte; out: bytes that the whole text '
                                'needs. NULL, or 0: the text is not wanted',
    ('string_length', 'out'): 'length of the text, without the zero byte',
    'argc': 'address of the argument count of main, or NULL', 'argv': 'address of the arguments of main, or NULL',
    ('status', 'out'): 'what is known of the message afterwards; `MPI_STATUS_IGNORE` if it is not wanted',
    ('status', 'in'): 'status of a completed operation', ('status', 'inout'): 'status to be changed',
    'ticks': 'time in ticks of the event source', 'fd': 'file descriptor of a connected stream socket',
    'error_class': 'error class', 'error_code': 'error code', 'keyval': 'attribute key',
}
STATUS_ARRAYS = 'one for each request; `MPI_STATUSES_IGNORE` in place of the array if they are not wanted'
AT = {
    'root': 'Significant at the root only.',
    'leaf': 'Significant at the processes that exchange data with the root: all of an intracommunicator; of an '
            'intercommunicator the group without the root.',
    'both': 'Of an intercommunicator, not significant where *root* is `MPI_PROC_NULL`.',
    'later': 'Not significant at rank 0.',
    'neighbors': 'Not significant where there is no such neighbor.',
}
LENGTHS = {
    'peers': 'one for each process of *comm* (of an intercommunicator: of the remote group)',
    'size': 'one for each process of *comm*',
    'indegree': 'one for each neighbor that sends to this process',
    'outdegree': 'one for each neighbor that this process sends to',
}
# Collective calls whose buffer has a block of count elements for each process; the others have it once.
BLOCKS = {'gather': 'recvbuf', 'allgather': 'recvbuf', 'scatter': 'sendbuf', 'alltoall': 'sendbuf recvbuf',
          'reduce_scatter_block': 'sendbuf'}


def base_name(function):
    """Of a collective call without what tells its form: Ineighbor_alltoall, Neighbor_alltoall_init: alltoall."""
    name = function.name.removesuffix('_init').lower()
    name = name.removeprefix('i') if function.name[0] == 'I' else name
    return name.removeprefix('neighbor_')


def is_nonblocking(function):
    return any(p.kind.name == 'request' and p.direction == 'out' for p in function.params) \
        or function.name.endswith('_begin')


def is_operation(function):
    """Whether the request stands for something that uses buffers."""
    return is_nonblocking(function) and any(p.kind.name == 'buffer' for p in function.params)


def buffer_sentence(function, p):
    what = {'in': 'memory that is read', 'out': 'memory that is written', 'inout': 'memory that is read and written'}
    text = what[p.direction]
    if p.of:
        text += ': ' + contents(function, p)
    if function.name.endswith('_end'):
        text += '; the same as in the call that began the operation'
    elif is_operation(function):
        text += '. Until the operation is complete ' + (
            'it must not be changed' if p.direction == 'in' else 'the program must not touch it')
    elif any(q.kind.name == 'target' for q in function.params):
        text += '. Not to be changed until the epoch ends, or a flush'
    return text


def contents(function, p):
    count, datatype, *displs = p.of
    side = ('displs', 'rdispls') if p.direction == 'out' else ('displs', 'sdispls')
    displs = displs or [q.name for q in function.params if q.name in side]
    what = function.param(count)
    if what.is_array:
        index = '[i]' if function.param(datatype).is_array else ''
        item = f'block i has *{count}*[i] elements of *{datatype}*{index}'
        return item + (f' and begins at *{displs[0]}*[i]' if displs else '')
    if function.param('partitions'):
        return f'*partitions* times *{count}* elements of *{datatype}*'
    text = f'*{count}* elements of *{datatype}*'
    if p.name not in BLOCKS.get(base_name(function), '').split():
        return text
    return text + (' for each neighbor' if 'eighbor' in function.name else ' for each process')


def first_text(p):
    """The sentence of a kind without what the words of the table add."""
    by_kind = KINDS.get((p.kind.name, p.direction)) or KINDS.get(p.kind.name)
    return by_kind or ('any handle' if p.kind.name.startswith('any_') else p.kind.meaning)


def array_text(function, p, text):
    if p.kind.name == 'status':
        return STATUS_ARRAYS
    if p.kind.name == 'weight':
        return text
    length = LENGTHS.get(p.length) or ((f'*{p.length}* of them' if not function.param(p.length).is_array else
                                        'as many as the entries say') if function.param(p.length) else '')
    return f'array{", " + length if length else ""}; each: {text}'


def result_text(p, text):
    if p.direction != 'out' or p.is_array or p.kind.is_fixed or p.kind.name in ('buffer', 'string', 'status'):
        return text
    return 'set to ' + text


def handle_text(p, text):
    if p.direction == 'free':
        name = checks.NULL_HANDLES.get(p.kind.object, 'the null handle')
        return f'{p.kind.meaning}, which is given up; becomes `{name}`' if p.kind.object else \
            f'{p.kind.meaning}, which is given up; becomes the null handle'
    if p.direction == 'ref':
        return f'{p.kind.meaning}; the handle stays as it is'
    return text


def remarks(function, p, text):
    if p.at:
        yield AT[p.at]
    if p.in_place:
        described = ' and '.join(f'*{n}*' for n in p.of or () if len([q for q in function.params if n in (q.of or ())])
                                 == 1)
        where = 'At the root ' if p.in_place == 'root' else ''
        ignored = f', and {described} {"are" if " and " in described else "is"} ignored' if described else ''
        yield f'{where}`MPI_IN_PLACE` (intracommunicators only): the data are where the result goes{ignored}.'
    if p.may_be_null and not re.search(r'\bNULL\b', text):
        yield 'May be NULL.'
    if p.large_only:
        yield f'Only in `MPI_{function.name}_c`.'


def sentence(function, p, by_hand=None):
    """What is said of a parameter."""
    if by_hand:
        text = by_hand
    elif p.kind.name == 'buffer':
        text = buffer_sentence(function, p)
    elif p.kind.name == 'status' and p.direction == 'out' and not p.is_array and function.chapter == 14:
        text = 'tells how much was read or written; `MPI_STATUS_IGNORE` if it is not wanted'
    elif p.kind.name == 'varargs':
        text = 'further arguments'
    else:
        text = result_text(p, handle_text(p, first_text(p)))
        if p.kind.name == 'displ' and base_name(function) == 'alltoallw':
            text = 'where the block begins, in bytes; any sign'
        text = array_text(function, p, text) if p.is_array else text
    text = text[0].upper() + text[1:] if text[0].isalpha() and not text.startswith('void') else text
    return ' '.join([text.rstrip('.') + '.', *remarks(function, p, text)])


def direction(p):
    return {'in': 'in', 'out': 'out', 'inout': 'in and out', 'ref': 'in', 'free': 'in and out'}[p.direction]


# --- errors that the checks find ---

# Check of src/bind/int_check.h: error class, what is wrong.
FOUND = {
    'check_comm': ('MPI_ERR_COMM', 'is no communicator'), 'check_comm_early': ('MPI_ERR_COMM', 'is no communicator'),
    'check_comm_or_null': ('MPI_ERR_COMM', 'is no communicator'),
    'check_comm_intra': ('MPI_ERR_COMM', 'is no intracommunicator'),
    'check_comm_inter': ('MPI_ERR_COMM', 'is no intercommunicator'),
    'check_type': ('MPI_ERR_TYPE', 'is no datatype'), 'check_type_or_null': ('MPI_ERR_TYPE', 'is no datatype'),
    'check_types': ('MPI_ERR_TYPE', 'has an entry that is no datatype'),
    'check_type_used': ('MPI_ERR_TYPE', 'is no datatype, or not committed'),
    'check_types_used': ('MPI_ERR_TYPE', 'has an entry that is no datatype, or not committed'),
    'check_group': ('MPI_ERR_GROUP', 'is no group'), 'check_op': ('MPI_ERR_OP', 'is no operator'),
    'check_info': ('MPI_ERR_INFO', 'is no info object'), 'check_info_or_null': ('MPI_ERR_INFO', 'is no info object'),
    'check_errhandler': ('MPI_ERR_ERRHANDLER', 'is no error handler'),
    'check_request': ('MPI_ERR_REQUEST', 'is no request'),
    'check_request_or_null': ('MPI_ERR_REQUEST', 'is no request'),
    'check_request_variable': ('MPI_ERR_REQUEST', 'is no request'),
    'check_requests': ('MPI_ERR_REQUEST', 'has an entry that is no request'),
    'check_requests_or_null': ('MPI_ERR_REQUEST', 'has an entry that is no request'),
    'check_message': ('MPI_ERR_REQUEST', 'is no message of a matched probe'),
    'check_session': ('MPI_ERR_SESSION', 'is no session'),
    'check_win': ('MPI_ERR_WIN', 'is no window'), 'check_win_or_null': ('MPI_ERR_WIN', 'is no window'),
    'check_file': ('MPI_ERR_FILE', 'is no open file'), 'check_file_or_null': ('MPI_ERR_FILE', 'is no open file'),
    'check_count': ('MPI_ERR_COUNT', 'is negative'), 'check_counts': ('MPI_ERR_COUNT', 'has a negative entry'),
    'check_number': ('MPI_ERR_ARG', 'is negative'), 'check_positive': ('MPI_ERR_ARG', 'is less than 1'),
    'check_size': ('MPI_ERR_SIZE', 'is negative'), 'check_disp': ('MPI_ERR_DISP', 'is negative'),
    'check_disp_unit': ('MPI_ERR_DISP', 'is less than 1'),
    'check_dest': ('MPI_ERR_RANK', 'is no rank of the group'),
    'check_source': ('MPI_ERR_RANK', 'is no rank of the group'),
    'check_source_exact': ('MPI_ERR_RANK', 'is no rank of the group'),
    'check_rank': ('MPI_ERR_RANK', 'is no rank of the group'),
    'check_rank_group': ('MPI_ERR_RANK', 'is no rank of the group'),
    'check_root': ('MPI_ERR_ROOT', 'is no rank of the group, or none of the constants allowed'),
    'check_send_tag': ('MPI_ERR_TAG', 'is negative'),
    'check_recv_tag': ('MPI_ERR_TAG', 'is negative and not `MPI_ANY_TAG`'),
    'check_color': ('MPI_ERR_ARG', 'is negative and not `MPI_UNDEFINED`'),
    'check_pointer': ('MPI_ERR_ARG', 'is NULL'), 'check_array': ('MPI_ERR_ARG', 'is NULL'),
    'check_buffer': ('MPI_ERR_BUFFER', 'is NULL, though there are elements without absolute addresses'),
    'check_not_in_place': ('MPI_ERR_BUFFER', 'is `MPI_IN_PLACE`, which is not allowed there'),
    'check_sum': ('MPI_ERR_COUNT', 'is so large that its bytes are more than `MPI_Count` can say'),
}


def found_errors(function):
    """(class, text) of what the checks of arguments find, in the order of the parameters."""
    wrong = {}
    renames = {p.name: checks.user_name(p, False) for p in function.params}
    for p in function.form_params(False):
        for text in checks.param_checks(function, p, False, renames):
            error = FOUND[re.match(r'\w+', text)[0]]
            wrong.setdefault(error, [])
            if p.name not in wrong[error]:
                wrong[error].append(p.name)
    if any(p.kind.name == 'target' for p in function.params):
        wrong[('MPI_ERR_RANK', 'is no rank of the group of the window')] = [
            p.name for p in function.params if p.kind.name == 'target']
    large = [p.name for p in function.form_params(False)
             if checks.is_converted_result(p, False) and not checks.has_undefined(p)]
    if large and function.has_large:
        wrong[('MPI_ERR_VALUE_TOO_LARGE', f'cannot be told by this form, but by `MPI_{function.name}_c`')] = large
    return [(error, ' or '.join([', '.join(f'*{n}*' for n in names[:-1])] * (len(names) > 1) + [f'*{names[-1]}*'])
             + ' ' + text) for (error, text), names in wrong.items()]


def tool_errors(errors):
    """The same of an MPI_T function, where any bad argument is one error."""
    return [('MPI_T_ERR_INVALID', text) for _, text in errors]


def handler_of(function):
    """The error handler that is called, as a text."""
    p = checks.owner_param(function)
    if p and (p.kind.object == 'file' or function.chapter != 14):
        what = {'win': 'window', 'file': 'file', 'comm': 'communicator', 'session': 'session'}[p.kind.object]
        return f'the error handler of the {what}' + (f' *{p.name}*' if p.name != what else '')
    if function.chapter == 14:
        return 'the error handler of `MPI_FILE_NULL`'
    if any(q.kind.object == 'request' and q.direction != 'out' for q in function.params):
        return 'the error handler of the communicator, window or file that the request belongs to'
    if any(checks.is_taken_message(q) for q in function.params):
        return 'the error handler of the communicator of the message'
    if any(q.kind.name == 'errhandler' and q.direction == 'in' for q in function.params):
        return '*errhandler*'
    if any(q.kind.name == 'group' and q.direction == 'in' for q in function.params):
        return 'the error handler of the session that the group comes from (else that of `MPI_COMM_SELF`)'
    return 'the error handler of `MPI_COMM_SELF`' + (
        ' (before `MPI_Init` and after `MPI_Finalize`: the initial error handler)' if function.is_anytime else '')
