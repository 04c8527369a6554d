# SPDX-License-Identifier: BSD-3-Clause
"""Writes the entry points of some chapters: python3 gen_entry.py OUTPUT CHAPTER...

An entry point turns handles into objects, checks the arguments by their kinds, makes the one call that
calls/*.txt gives, stores the results, and raises an error. How the values appear to the call: README.md."""

import re
import calls as call_lines
import checks
import model

HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry points of MPI 5.0 chapter %s. Generated from api/ and src/bind/calls/; do not edit. */
#include "bind/int_entry.h"
'''
# A function that is not there yet uses none of its parameters.
NO_UNUSED = '\n#pragma GCC diagnostic ignored "-Wunused-parameter"\n'


class Entry:
    """One form of one function on its way to C."""

    def __init__(self, function, name, large, call):
        self.function, self.name, self.large, self.call = function, name, large, call
        if call:
            indent = '\n    ' if call.is_statement else '\n               '
            self.code = call.code.replace('\n', indent)
        self.params = function.form_params(large)
        self.renames = {p.name: checks.user_name(p, large) for p in self.params}

    def prototype(self, prefix='PMPI_'):
        return self.function.prototype(self.large, prefix, self.renames)

    def declarations(self):
        """Lines that make the checked and converted values from the user's."""
        lines = []
        for p in self.params:
            user = self.renames[p.name]
            if checks.is_converted_result(p, self.large):
                start = f'*{user}' if p.direction == 'inout' else '0'
                if p.direction == 'inout':
                    start = f'{user} ? *{user} : 0'
                lines.append(f'MPI_Count {p.name}[1] = {{ {start} }};')
            elif not checks.is_converted(p):
                continue
            elif p.direction == 'in':
                lines.append(f'{checks.struct(p)} *{p.name} = {checks.lookup(p, user)};')
            elif p.direction == 'out':
                lines.append(f'{checks.struct(p)} *{p.name}[1] = {{ NULL }};')
            else:
                lines.append(f'{checks.struct(p)} *{p.name} = {user} ? obj_{p.kind.object}(*{user}) : NULL;')
        return lines

    def stores(self):
        """Lines that give results back, after success."""
        lines = []
        for p in self.params:
            user = self.renames[p.name]
            if checks.is_converted_result(p, self.large):
                if checks.has_undefined(p):
                    lines.append(f'*{user} = small_or_undefined({p.name}[0]);')
                else:
                    lines.append(f'*{user} = ({p.kind.small}){p.name}[0];')
            elif checks.is_converted(p) and p.direction == 'out':
                lines.append(f'*{user} = handle_of_{p.kind.object}({p.name}[0]);')
            elif checks.is_converted(p) and p.direction == 'free' and not checks.is_taken_message(p):
                lines.append(f'*{user} = {checks.NULL_HANDLES[p.kind.object]};')
        return lines

    def results_that_must_fit(self):
        """An address is as wide as what the call sees."""
        return [f'check_fits({p.name}[0], "{p.name}")' for p in self.params
                if checks.is_converted_result(p, self.large) and not checks.has_undefined(p)
                and p.kind.small == 'int']

    def consumed(self):
        """A message is gone whatever the call says (MPI 5.0 §3.8.3)."""
        return [f'*{self.renames[p.name]} = MPI_MESSAGE_NULL;' for p in self.params if checks.is_taken_message(p)]


def raise_line(function, owner, name):
    if function.is_tool:
        return 'return bind_tool(rc);'
    if owner == checks.FAILED_REQUEST:
        return f'return bind_raise_request(rc, "MPI_{name}");'
    return f'return bind_raise({owner}, rc, "MPI_{name}");'


def conditions(expressions):
    """if ((rc = a) || (rc = b) ...) in lines."""
    return 'if (' + '\n        || '.join(expressions) + ')'


def assigned(expression):
    return f'(rc = {expression})'


def look_up_when_checked(entry, declarations, expressions):
    """Objects whose check is unconditional are looked up in it, so that the compiler branches once, and at once."""
    raised = checks.owner(entry.function) + ' ' + checks.owner_after_call(entry.function)
    for p in entry.params:
        user = entry.renames[p.name]
        lookup = f'{p.name} = {checks.lookup(p, user)}'
        whole = f'{checks.struct(p)} *{lookup};'
        at = next((i for i, text in enumerate(expressions)
                   if text.startswith('(rc = check_') and f'({p.name}, {user}, ' in text), None)
        if re.search(rf'\b{p.name}\b', raised) or whole not in declarations or at is None:
            continue
        declarations[declarations.index(whole)] = f'{checks.struct(p)} *{p.name};'
        expressions[at] = expressions[at].replace(f'({p.name}, {user}, ', f'({lookup}, {user}, ', 1)


def refusing(entry, expressions):
    """Others wait in this call: when an argument is wrong, but not what they are asked by, they are told."""
    kinds = ('check_comm', 'check_file')
    first = next(i for i, text in enumerate(expressions) if text.startswith(tuple(f'(rc = {kind}' for kind in kinds)))
    raised = '    ' + raise_line(entry.function, checks.owner(entry.function), entry.name)
    early, late = expressions[:first + 1], expressions[first + 1:]
    return [conditions(early), raised, conditions(late) + ' {', f'    {entry.call.refused};', raised, '}']


def implemented(entry):
    function, call = entry.function, entry.call
    before = checks.all_checks(function, entry.large, entry.renames)
    owner = checks.owner(function)
    after = checks.owner_after_call(function)
    stores, declarations = entry.stores(), entry.declarations()
    look_up_when_checked(entry, declarations, before)
    code = []
    if call.refused:
        code, before = refusing(entry, before), []
        declarations.append('int rc;')
    expressions = list(before)
    ended = checks.ended_param(function)
    if not call.is_statement and after == owner and not ended:
        expressions.append(assigned(entry.code))
        expressions += [assigned(text) for text in entry.results_that_must_fit()]
    if expressions:
        declarations += [] if call.refused else ['int rc;']
        code += [conditions(expressions), '    ' + raise_line(function, owner, entry.name)]
    if call.is_statement:
        code.append(entry.code)
        late = entry.results_that_must_fit()
        if late:
            code += [conditions([assigned(text) for text in late]),
                     '    ' + raise_line(function, owner, entry.name)]
    elif ended:
        declarations.append('struct errhandler *errhandler;')
        code += [f'errhandler = bind_get_errhandler({ended.name});', conditions([assigned(entry.code)]),
                 f'    return bind_raise_ended({ended.name}, errhandler, rc, "MPI_{entry.name}");',
                 'errhandler_unref(errhandler);']
    elif after != owner:
        if not expressions:
            declarations.append('int rc;')
        code += entry.consumed()
        code += [conditions([assigned(entry.code)]), '    ' + raise_line(function, after, entry.name)]
    return declarations, code + stores + ['return MPI_SUCCESS;']


def returns_value(entry):
    """Functions that return no error code: the line is what they return (MPI_Wtime, MPI_Comm_toint, ...)."""
    if entry.call is None:
        raise model.TableError(f'MPI_{entry.name} returns no error code, so it must be implemented')
    return [], [f'return {entry.code};']


def missing(entry):
    owner = checks.owner_param(entry.function)
    text = checks.owner_lookup(owner, entry.renames) if owner else 'NULL'
    return [], [f'return bind_unsupported({text}, "MPI_{entry.name}");']


def quick(entry):
    """The entry point of a function whose usual case has a condition of its own."""
    arguments = ', '.join(entry.renames[p.name] for p in entry.params)
    return [entry.prototype(), '{', f'    if ({entry.call.quick})', '        return MPI_SUCCESS;',
            f'    return checked_{entry.name}({arguments});', '}']


def entry_text(entry):
    function = entry.function
    if function.returns != 'int' or function.name.endswith('_toint'):
        declarations, code = returns_value(entry)
    elif entry.call:
        declarations, code = implemented(entry)
    else:
        declarations, code = missing(entry)
    lines = []
    if function.is_compat:
        lines += ['EXPORTED', entry.prototype() + ';', 'EXPORTED', entry.prototype('MPI_') + ';']
    is_quick = entry.call and entry.call.quick and not entry.large
    lines += [f'/* §{function.section} */',
              'static NOINLINE ' + entry.prototype('checked_') if is_quick else entry.prototype(), '{']
    lines += ['    ' + line for line in declarations] + ([''] if declarations else [])
    lines += ['    ' + line for line in code] + ['}']
    if is_quick:
        lines += ['', *quick(entry)]
    lines.append(f'WEAK_ALIAS({entry.name});')
    if function.alias:
        lines.append(f'OTHER_NAME({function.alias}, {entry.name});')
    return '\n'.join(lines) + '\n'


def generate(*chapters):
    functions = model.read_functions()
    calls = call_lines.read_calls(functions)
    entries = [Entry(function, name, large, call_lines.call_of(calls, name, large))
               for function in functions if str(function.chapter) in chapters
               for name, large in function.forms()]
    includes = sorted({i for entry in entries if entry.call for i in entry.call.includes})
    text = HEAD % ', '.join(chapters)
    text += ('\n' if includes else '') + ''.join(f'#include "{name}"\n' for name in includes) + NO_UNUSED
    return text + ''.join('\n' + entry_text(entry) for entry in entries)


if __name__ == '__main__':
    model.main(generate)
