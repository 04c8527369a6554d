# SPDX-License-Identifier: BSD-3-Clause
"""From kinds to checks: which C expressions of int_check.h guard a function's arguments, and in which order.

First that MPI runs, then the object whose error handler is called, then a root, then the rest as the parameters
stand; a buffer comes after the count and the datatype that describe it."""

import calls  # noqa: F401  puts api/ on the path
import model

# Order: whose error handler an error of the call goes to (MPI 5.0 §9.3).
OWNERS = ('win', 'file', 'comm', 'session')

NULL_HANDLES = {
    'comm': 'MPI_COMM_NULL', 'type': 'MPI_DATATYPE_NULL', 'group': 'MPI_GROUP_NULL', 'op': 'MPI_OP_NULL',
    'info': 'MPI_INFO_NULL', 'errhandler': 'MPI_ERRHANDLER_NULL', 'request': 'MPI_REQUEST_NULL',
    'message': 'MPI_MESSAGE_NULL', 'session': 'MPI_SESSION_NULL', 'win': 'MPI_WIN_NULL', 'file': 'MPI_FILE_NULL',
}
# Kinds of handles with a check of their own; the others are looked up under the name of their class.
HANDLE_CHECKS = ('comm_early', 'comm_intra', 'comm_inter', 'comm_or_null', 'type_used', 'type_or_null', 'info_or_null',
                 'request_or_null', 'win_or_null', 'file_or_null')
UNCHECKED_HANDLES = ('comm_unused',)
FAILED_REQUEST = 'failed request'    # stands for an owner that is known only when a call has failed
# Scalars passed by value: kind -> check, which takes (value, name).
NUMBER_CHECKS = {
    'count': 'check_count', 'count_large': 'check_count', 'count_positive': 'check_positive',
    'param_count': 'check_number', 'bytes': 'check_number', 'pack_bytes': 'check_number',
    'length': 'check_number', 'length_positive': 'check_positive', 'number': 'check_number',
    'partition': 'check_number', 'degree': 'check_number', 'win_size': 'check_size', 'target_disp': 'check_disp',
    'disp_unit': 'check_disp_unit', 'send_tag': 'check_send_tag', 'recv_tag': 'check_recv_tag',
}
RANK_CHECKS = ('dest', 'source', 'source_exact', 'root', 'rank')
# Pointers into the library's or the user's code that must not be NULL. (Attribute callbacks may be: §20.5.)
NEEDED_POINTERS = ('user_fn', 'comm_errhandler_fn', 'file_errhandler_fn', 'session_errhandler_fn',
                   'win_errhandler_fn', 'grequest_query_fn', 'grequest_free_fn', 'grequest_cancel_fn',
                   'datarep_extent_fn', 'address_out', 'value_out', 'logical_bits')
# Results that become MPI_UNDEFINED when an int cannot hold them; others are an error then. (bytes: of a buffer.)
UNDEFINED_WHEN_LARGE = ('count_found', 'bytes')


def is_converted(p):
    """The call sees an object (or a place for one) instead of the user's handle."""
    if not p.kind.object or p.is_array or p.kind.name.startswith('any_'):
        return False
    if p.direction == 'out' and p.may_be_null:
        return False  # the call sees the user's variable, or NULL
    return not (p.kind.name == 'request_or_null' and p.direction == 'inout')


def is_converted_result(p, large):
    """An int or address that the call sees as MPI_Count *."""
    return (not large and p.kind.is_polymorphic and not p.kind.is_fixed and not p.is_array
            and p.direction in ('out', 'inout') and p.kind.small != 'void')


def has_undefined(p):
    return p.kind.name in UNDEFINED_WHEN_LARGE


def user_name(p, large):
    """Name of the parameter in the entry point's prototype."""
    if is_converted(p):
        return p.name + '_handle'
    return p.name + '_small' if is_converted_result(p, large) else p.name


def lookup(p, value):
    """From a handle to its object."""
    return f'obj_{p.kind.name if p.kind.name == "comm_early" else p.kind.object}({value})'


def struct(p):
    return 'struct req' if p.kind.object == 'request' else f'struct {p.kind.object}'


def owner_param(function):
    """The parameter whose error handler counts, or None."""
    for wanted in OWNERS:
        for p in function.params:
            if p.kind.object == wanted and is_converted(p) and p.direction != 'out' \
                    and p.kind.name not in UNCHECKED_HANDLES:
                return p
    return None


def is_taken_message(p):
    return p.kind.name == 'message' and p.direction == 'free'


def owner(function):
    p = owner_param(function)
    if p and p.kind.object == 'file':
        return f'io_handler_owner({p.name})'  # of MPI_FILE_NULL if there is no file (§14.7)
    if function.chapter == 14:
        return 'io_handler_owner(NULL)'
    if p:
        return p.name
    for p in function.params:
        if p.kind.object == 'request' and is_converted(p) and p.direction in ('in', 'ref') and not p.is_array:
            return f'req_owner({p.name})'
    for p in function.params:
        if is_taken_message(p):
            return f'p2p_message_owner({p.name})'
    for p in function.params:
        if p.kind.name == 'errhandler' and p.direction == 'in':
            return p.name  # of an object that is not made yet (§7.4.2, §11.3.1)
    for p in function.params:
        if p.kind.name == 'group' and p.direction == 'in':
            return f'{p.name} ? session_alive({p.name}->session) : NULL'
    return 'NULL'


def ended_param(function):
    """A file or a window that the call ends: it may be gone when its error is raised, for its own handler."""
    return next((p for p in function.params if p.kind.object in ('file', 'win') and p.direction == 'free'), None)


def owner_after_call(function):
    """After the call a request or a message may be gone; room obj remembers whose it was (bind_raise_request)."""
    if not owner_param(function) and any(p.kind.object == 'request' and p.direction in ('inout', 'free')
                                         or is_taken_message(p) for p in function.params):
        return FAILED_REQUEST
    return owner(function)


def owner_lookup(p, renames):
    """The owner for a function that does nothing else."""
    user = renames[p.name]
    if p.direction == 'in':
        return f'obj_{p.kind.object}({user})'
    return f'{user} ? obj_{p.kind.object}(*{user}) : NULL'


def handle_checks(p, user):
    kind = p.kind
    check = kind.name if kind.name in HANDLE_CHECKS else kind.object
    if p.direction == 'in':
        return [f'check_{check}({p.name}, {user}, "{p.name}")']
    return [f'check_pointer({user}, "{p.name}")', f'check_{check}({p.name}, *{user}, "{p.name}")']


def array_length(function, p):
    """C expression of an array's length, or None when only the room knows it."""
    if p.length in ('peers', 'size'):
        comm = owner_param(function).name
        return f'{comm}->remote_size' if p.length == 'peers' else f'{comm}->size'
    length = function.param(p.length)
    return p.length if length and not length.is_array else None


def array_checks(function, p):
    length = array_length(function, p)
    if p.may_be_null or p.kind.name == 'status' or length is None:
        return []
    if p.direction == 'in' and p.kind.name in ('count', 'count_positive'):
        return [f'check_counts({p.name}, {length}, "{p.name}")']
    if p.direction == 'in' and p.kind.name in ('type', 'type_used'):
        check = 'check_types' if p.kind.name == 'type' else 'check_types_used'
        return [f'{check}({p.name}, {length}, "{p.name}")']
    if p.kind.object == 'request':
        check = 'check_requests' if p.kind.name == 'request' else 'check_requests_or_null'
        return [f'{check}({p.name}, {length}, "{p.name}")']
    return [f'check_array({p.name}, {length}, "{p.name}")']


def rank_check(function, p):
    if p.kind.name == 'rank_group':
        group = next(q for q in function.params if q.kind.name == 'group'
                     and ('local' in q.name) == ('local' in p.name))
        return [f'check_rank_group({p.name}, {group.name}, "{p.name}")']
    comm = next(q for q in function.params if q.kind.object == 'comm' and q.direction == 'in')
    return [f'check_{p.kind.name}({p.name}, {comm.name}, "{p.name}")']


def buffer_check(function, p, large):
    count, datatype = (function.param(name) for name in (p.of or (None, None))[:2])
    if not count or count.is_array or datatype.is_array:
        is_collective = function.chapter in (6, 8) and not p.in_place
        return [f'check_not_in_place({p.name}, "{p.name}")'] if is_collective else []
    too_many = [f'check_sum({count.name}, {datatype.name}, "{count.name}")'] if large else []
    if p.at == 'neighbors':
        return too_many + [f'check_not_in_place({p.name}, "{p.name}")']
    return too_many + [f'check_buffer({p.name}, {count.name}, {datatype.name}, "{p.name}")']


def number_check(p):
    if p.kind.name == 'length' and 'count' in p.name:
        return [f'check_count({p.name}, "{p.name}")']
    return [f'{NUMBER_CHECKS[p.kind.name]}({p.name}, "{p.name}")']


def param_checks(function, p, large, renames):
    """The checks of one parameter, as expressions."""
    kind, user = p.kind.name, renames[p.name]
    if kind in UNCHECKED_HANDLES or kind.startswith('any_'):
        return []
    if p.is_array:
        return array_checks(function, p)
    if is_converted(p) and p.direction != 'out':
        return handle_checks(p, user)
    if kind == 'request_or_null' and p.direction == 'inout':
        return [f'check_pointer({p.name}, "{p.name}")', f'check_request_variable({p.name}, "{p.name}")']
    if kind == 'buffer':
        return buffer_check(function, p, large)
    if p.direction == 'in' and kind in NUMBER_CHECKS:
        return number_check(p)
    if kind == 'color':
        return [f'check_color({p.name})']
    if p.direction == 'in' and kind in RANK_CHECKS + ('rank_group',):
        return rank_check(function, p)
    needs_pointer = (p.direction != 'in' and not p.kind.is_fixed and kind != 'status') \
        or kind in ('string', 'location') or kind == 'status' and p.direction != 'out' \
        or kind in NEEDED_POINTERS
    if needs_pointer and not p.may_be_null and kind not in ('flag_optional', 'int_optional', 'location'):
        value = f'(void *)(uintptr_t){user}' if kind.endswith('_fn') else user
        return [f'check_pointer({value}, "{p.name}")']
    return []


def describing_buffer(function, p):
    """The one buffer that this parameter describes, or None."""
    buffers = [q for q in function.params if q.of and p.name in q.of]
    return buffers[0] if len(buffers) == 1 else None


def condition(function, p):
    """When a parameter is looked at: a C expression, or ''."""
    parts = []
    comm, root = function.param('comm'), function.param('root')
    if p.at == 'neighbors':
        pass  # room coll knows them, and looks at the buffer where there are any
    elif p.at == 'later':
        parts.append(f'at_later({comm.name}, sendbuf)')
    elif p.at:
        parts.append(f'at_{p.at}({comm.name}, {root.name})')
    buffer = p if p.in_place else describing_buffer(function, p)
    if buffer and buffer.in_place == 'all':
        parts.append(f'{buffer.name} != MPI_IN_PLACE')
    elif buffer and buffer.in_place == 'root':
        parts.append(f'!({buffer.name} == MPI_IN_PLACE && at_root({comm.name}, {root.name}))')
    attached = next((q for q in function.params if q.kind.name == 'attached'), None)
    if attached and p.kind.name == 'bytes':
        parts.append(f'{attached.name} != MPI_BUFFER_AUTOMATIC')  # then the size says nothing (§3.6)
    if function.param('op') and function.param('result_datatype') and p.name.startswith('origin_'):
        parts.append('op_handle != MPI_NO_OP')  # then they are ignored (§12.3.4)
    return ' && '.join(parts)


def rank_of_check(function, p):
    """Order: the owner, a root, then as the parameters stand, buffers behind what describes them."""
    index = function.params.index(p)
    if p is owner_param(function):
        return (0, index)
    if p.kind.name == 'root':
        return (1, index)
    if p.of:
        return (2, max(function.params.index(function.param(name)) for name in p.of) + 0.5)
    return (2, index)


def all_checks(function, large, renames):
    """Expressions, each of which is true when its check fails and then has set rc."""
    found = []
    for p in sorted(function.form_params(large), key=lambda q: rank_of_check(function, q)):
        texts = [f'(rc = {text})' for text in param_checks(function, p, large, renames)]
        if texts:
            found.append((condition(function, p), texts))
        if p.in_place == 'all':
            comm = function.param('comm').name
            found.append((f'{p.name} == MPI_IN_PLACE', [f'(rc = check_in_place({comm}, "{p.name}"))']))
    expressions = [] if function.is_anytime else ['(rc = check_running())']
    for when, texts in merged(found):
        expressions += [conditional(when, texts)] if when else texts
    return expressions


def conditional(when, texts):
    """Checks that matter under a condition only; laid out for a place behind four blanks and `|| `."""
    if len(texts) == 1:
        space = ' ' if len(when) + len(texts[0]) < 90 else '\n            '
        return f'({when}{space}&& {texts[0]})'
    inner = '\n                || '.join(texts)
    return f'({when}\n            && ({inner}))'


def merged(found):
    """Neighbours with the same condition become one."""
    result = []
    for when, texts in found:
        if result and result[-1][0] == when:
            result[-1][1].extend(texts)
        else:
            result.append((when, list(texts)))
    return result
