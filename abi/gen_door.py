# SPDX-License-Identifier: BSD-3-Clause
"""Writes the functions of a door: python3 gen_door.py OUTPUT CHAPTER...

Each converts what the program gave, calls the library through its table, and converts what comes back. What is
converted follows from the kinds of parameters (api/kinds.txt) and the lists below; how, from abi.h of the door. A
function whose conversion needs more is written by hand (common/) and named in BY_HAND."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'api'))
import model  # noqa: E402

HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of MPI 5.0 chapter %s for programs of another ABI. Generated from api/; do not edit. */
#include "door.h"
'''

BY_HAND = {
    'Pcontrol', 'Get_version',
    'Comm_create_keyval', 'Type_create_keyval', 'Win_create_keyval', 'Keyval_create',
    'Comm_get_attr', 'Type_get_attr', 'Win_get_attr', 'Attr_get',
    'Comm_create_errhandler', 'Win_create_errhandler', 'File_create_errhandler', 'Session_create_errhandler',
    'Grequest_start', 'Register_datarep', 'Register_datarep_c', 'Op_create', 'Op_create_c',
    'Buffer_attach', 'Buffer_attach_c', 'Buffer_detach', 'Buffer_detach_c',
    'Comm_attach_buffer', 'Comm_attach_buffer_c', 'Comm_detach_buffer', 'Comm_detach_buffer_c',
    'Session_attach_buffer', 'Session_attach_buffer_c', 'Session_detach_buffer', 'Session_detach_buffer_c',
    'Type_get_contents', 'Type_get_contents_c', 'Type_create_struct', 'Comm_spawn_multiple',
    'T_cvar_handle_alloc', 'T_pvar_handle_alloc', 'T_event_handle_alloc', 'T_event_get_info',
    'T_event_register_callback', 'T_event_handle_free', 'T_event_set_dropped_handler',
}
# The conversions between handles and ints: the doors have their own, under the older names c2f and f2c.
LEFT_OUT = re.compile(r'\w+_(toint|fromint)|Abi_\w+')

RANKS = {'dest', 'source', 'source_exact', 'root', 'rank', 'rank_group', 'rank_unused', 'rank_value', 'target'}
TAGS = {'send_tag', 'recv_tag', 'tag_value'}
# Kinds whose values have a conversion of the same name, and those where it is called otherwise.
VALUES = {'assert', 'amode', 'whence', 'order', 'lock_type', 'split_type', 'typeclass', 'thread_level', 'keyval',
          'cb_safety', 'source_order'}
CODES = {'error_class', 'error_code'}
BY_NAME = {
    'Type_get_envelope.combiner': 'combiner', 'Group_compare.result': 'comparison', 'Comm_compare.result': 'comparison',
    'Topo_test.status': 'topology', 'T_cvar_get_info.bind': 'binding', 'T_cvar_get_info.scope': 'scope',
    'T_pvar_get_info.var_class': 'pvar_class', 'T_pvar_get_info.bind': 'binding',
    'T_pvar_get_index.var_class': 'pvar_class', 'T_cvar_get_info.verbosity': 'verbosity',
    'T_pvar_get_info.verbosity': 'verbosity', 'Type_create_darray.array_of_distribs': 'distrib',
    'Type_create_darray.array_of_dargs': 'darg', 'Group_translate_ranks.ranks1': 'rank',
    'Group_translate_ranks.ranks2': 'rank', 'Comm_spawn.array_of_errcodes': 'code',
    'File_set_view.disp': 'displacement', 'Error_string.errorcode': 'told_code',
}
# Texts with no length of their own: the room is a constant of the ABI.
TEXTS = {
    'Comm_get_name.comm_name': 'OBJECT_NAME', 'Type_get_name.type_name': 'OBJECT_NAME',
    'Win_get_name.win_name': 'OBJECT_NAME', 'Get_library_version.version': 'LIBRARY_VERSION_STRING',
    'Get_processor_name.name': 'PROCESSOR_NAME', 'Error_string.string': 'ERROR_STRING',
    'Info_get_nthkey.key': 'INFO_KEY', 'Open_port.port_name': 'PORT_NAME', 'Lookup_name.port_name': 'PORT_NAME',
    'File_get_view.datarep': 'DATAREP_STRING',
}
PLAIN = {
    'MPI_Comm', 'MPI_Datatype', 'MPI_Op', 'MPI_Group', 'MPI_Info', 'MPI_Errhandler', 'MPI_Request', 'MPI_Message',
    'MPI_Session', 'MPI_Win', 'MPI_File', 'MPI_Status',
}
LENGTHS = {'peers': 'door_peers(in_comm(comm))', 'indegree': 'door_degree(in_comm(comm), false)',
           'outdegree': 'door_degree(in_comm(comm), true)'}


def foreign(text):
    """C text with the types of the foreign ABI."""
    return re.sub(r'\bMPI_(\w+)\b', lambda m: 'F_' + m[1] if m[0] in PLAIN else m[0], text)


class Call:
    """One form of a function on its way to C."""

    def __init__(self, function, name, large):
        self.function, self.name, self.large = function, name, large
        self.params = function.form_params(large)
        self.before, self.args, self.after, self.success = [], [], [], []
        for p in self.params:
            self.args.append(self.convert(p))

    def convert(self, p):
        """The argument for the library; what must stand around the call goes into before, after and success."""
        conversion = self.value_of(p)
        if p.kind.object:
            return self.handles(p) if p.is_array else self.handle(p)
        if p.kind.name == 'status':
            return self.statuses(p) if p.is_array else self.status(p)
        if conversion and p.is_array:
            return self.values(p, conversion)
        if conversion:
            return self.value(p, conversion)
        if p.kind.name == 't_pvar' and p.direction == 'in':
            return f'in_pvar({p.name})'
        if p.kind.name == 'weight':
            return f'in_weights({p.name})' if p.direction == 'in' else f'(int *)in_weights({p.name})'
        if p.kind.name == 'buffer' and self.function.chapter in (6, 8): # also where the library refuses MPI_IN_PLACE
            return f'in_buffer({p.name})' if p.direction == 'in' else f'(void *)in_buffer({p.name})'
        if self.key(p) in TEXTS:
            return self.text(p)
        return p.name

    def key(self, p):
        return f'{self.function.name}.{p.name}'

    def value_of(self, p):
        if self.key(p) in BY_NAME:
            return BY_NAME[self.key(p)]
        if p.is_array or self.key(p) == 'Abort.errorcode':
            return None
        kind = p.kind.name
        if kind in RANKS:
            return 'rank'
        if kind in TAGS:
            return 'tag'
        if kind in CODES:
            return 'code'
        return kind if kind in VALUES else None

    def length(self, p):
        """How many elements an array has."""
        if p.length not in LENGTHS:
            return p.length
        length = LENGTHS[p.length]
        buffer = next((b for b in self.params if b.of and p.name in b.of and b.in_place), None)
        return f'{buffer.name} == F_IN_PLACE_ADDRESS ? 0 : {length}' if buffer else length

    def handle(self, p):
        name, kind, c_type = p.name, p.kind.object, p.kind.small
        if p.direction == 'in':
            return f'in_{kind}({name})'
        if p.direction == 'out':
            self.before.append(f'{c_type} {name}_ = 0;')
            self.success.append(f'if ({name})\n    *{name} = out_{kind}({name}_);' if p.may_be_null
                                else f'*{name} = out_{kind}({name}_);')
            return f'{name} ? &{name}_ : NULL'
        self.before.append(f'const {c_type} {name}_was = {name} ? in_{kind}(*{name}) : 0;')
        self.before.append(f'{c_type} {name}_ = {name}_was;')
        self.after.append(f'if ({name}_ != {name}_was)\n    *{name} = out_{kind}({name}_);')
        return f'{name} ? &{name}_ : NULL'

    def scratch(self, p, c_type):
        """Room for a converted array; the user's own pointer tells whether there is one."""
        name = p.name
        self.before += [f'const int {name}_n = door_length({name}, {self.length(p)});',
                        f'{c_type} {name}_near[DOOR_NEAR];',
                        f'{c_type} *const {name}_ = door_room({name}_near, {name}_n, sizeof *{name}_);']
        self.after.insert(0, f'door_room_done({name}_, {name}_near);')

    def handles(self, p):
        name, kind, c_type = p.name, p.kind.object, p.kind.small
        self.scratch(p, c_type)
        self.before.append(f'for (int i = 0; i < {name}_n; i++)\n    {name}_[i] = in_{kind}({name}[i]);')
        if p.direction == 'inout':
            self.after.insert(0, f'for (int i = 0; i < {name}_n; i++)\n    if ({name}_[i] == MPI_REQUEST_NULL)\n'
                                 f'        {name}[i] = F_REQUEST_NULL;')
        return f'{name} ? {name}_ : NULL'

    def status(self, p):
        name = p.name
        self.before.append(f'MPI_Status {name}_;')
        way = {'in': 'in', 'inout': 'changed', 'out': 'new'}[p.direction]
        self.before.append(f'MPI_Status *const {name}_at = {way}_status({name}, &{name}_);')
        if p.direction != 'in':
            way = 'out_changed' if p.direction == 'inout' else 'out'
            self.after.append(f'if ({name}_at)\n    {way}_status(&{name}_, {name});')
        return f'{name}_at'

    def statuses(self, p):
        name = p.name
        self.before += [f'const int {name}_n = F_IS_IGNORED({name}) ? 0 : door_length({name}, {p.length});',
                        f'MPI_Status {name}_near[DOOR_NEAR];',
                        f'MPI_Status *const {name}_ = door_room({name}_near, {name}_n, sizeof *{name}_);',
                        f'for (int i = 0; i < {name}_n; i++)\n    new_status(&{name}[i], &{name}_[i]);']
        self.after += [f'for (int i = 0; i < {name}_n; i++)\n    out_status(&{name}_[i], &{name}[i]);',
                       f'door_room_done({name}_, {name}_near);']
        return f'F_IS_IGNORED({name}) ? MPI_STATUSES_IGNORE : {name}_'

    def value(self, p, conversion):
        name = p.name
        if p.direction == 'in':
            return f'in_{conversion}({name})'
        c_type = p.kind.large if self.large else p.kind.small
        start = f'{name} ? in_{conversion}(*{name}) : 0' if p.direction == 'inout' else '0'
        self.before.append(f'{c_type} {name}_ = {start};')
        store = f'*{name} = out_{conversion}({name}_);'
        self.success.append(f'if ({name})\n    {store}' if p.may_be_null else store)
        return f'{name} ? &{name}_ : NULL'

    def values(self, p, conversion):
        name = p.name
        if p.direction == 'in':
            self.scratch(p, 'int')
            self.before.append(f'for (int i = 0; i < {name}_n; i++)\n    {name}_[i] = in_{conversion}({name}[i]);')
            return f'{name} ? {name}_ : NULL'
        loop = f'for (int i = 0; i < {p.length}; i++)\n    {name}[i] = out_{conversion}({name}[i]);'
        self.success.append(f'if ({name})\n' + '\n'.join('    ' + line for line in loop.split('\n'))
                            if p.may_be_null else loop)
        return name

    def text(self, p):
        """Into a buffer as large as the library wants, then as much of it as the program has room for."""
        name, limit = p.name, TEXTS[self.key(p)]
        length = next((q.name for q in self.params if q.kind.name == 'string_length' and q.direction == 'out'), 'NULL')
        self.before.append(f'char {name}_[MPI_MAX_{limit} + 1];')
        self.success.append(f'door_text({name}, {name}_, F_MAX_{limit}, {length});')
        return f'{name} ? {name}_ : NULL'

    def body(self):
        call = f'parley_calls_1.{self.name}({", ".join(self.args)})'
        if self.function.returns != 'int':
            return [f'return {call};']
        if not (self.before or self.after or self.success):
            return [f'return out_code({call});']
        lines = self.before + [f'const int rc = {call};', ''] + self.after
        if len(self.success) > 1:
            lines.append('if (!rc) {')
            lines += ['    ' + line for item in self.success for line in item.split('\n')] + ['}']
        elif self.success:
            item = self.success[0].split('\n')
            brace = len(item) > 1
            lines.append('if (!rc) {' if brace else 'if (!rc)')
            lines += ['    ' + line for line in item] + (['}'] if brace else [])
        return lines + ['return out_code(rc);']

    def text_of_function(self):
        prototype = foreign(self.function.prototype(self.large, 'PMPI_'))
        lines = [f'/* §{self.function.section} */', 'EXPORTED ' + prototype + ';', prototype, '{']
        for item in self.body():
            lines += ['    ' + line if line else '' for line in item.split('\n')]
        lines += ['}', f'WEAK_ALIAS({self.name});']
        if self.function.chapter in (6, 8) and self.name.endswith('_init'):
            lines.append(f'MPIX_ALIAS({self.name});')
        return '\n'.join(lines) + '\n'


def is_generated(name):
    return name not in BY_HAND and not LEFT_OUT.fullmatch(name)


def generate(*chapters):
    text = HEAD % ', '.join(chapters)
    for function in model.read_functions():
        for name, large in function.forms():
            if str(function.chapter) in chapters and is_generated(name):
                text += '\n' + Call(function, name, large).text_of_function()
    return text


if __name__ == '__main__':
    model.main(generate)
