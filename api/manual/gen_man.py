# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual's section 3, a page for each function: python3 gen_man.py FOLDER VERSION

The folder is made anew. What a page says of parameters, forms and errors follows from the tables; the rest is in the
texts beside this file. MPI_X_c.3 refers to MPI_X.3."""

import os
import re
import shutil
import sys

import man_params
import manual_model
from manual_model import model

sys.path.insert(0, os.path.join(manual_model.HERE, '..', '..', 'fortran'))
import fortran_model as fm    # noqa: E402  (the path above comes first)
import gen_modules            # noqa: E402

WIDTH = 70    # of prototypes: 80 columns less the margins of man
COMPLETION = {
    'local': 'Local: returns without waiting for other processes.',
    'nonlocal': 'Nonlocal: may wait until other processes have made matching calls.',
    'nonblocking': 'Nonblocking: starts the operation and returns without waiting for other processes. It is complete '
                   'when `MPI_Wait`, `MPI_Test` or one of their relatives says so of *request*, which must be done '
                   'once.',
    'persistent': 'Local: makes a request that is not active. `MPI_Start` or `MPI_Startall` starts the operation, '
                  '`MPI_Wait`, `MPI_Test` or one of their relatives completes it, any number of times; '
                  '`MPI_Request_free` frees the request.',
    'collective': 'Collective over {over}, blocking: all of them must call it{order}, and a process may wait in it for '
                  'the others.',
    'collective nonblocking': 'Collective over {over}, nonblocking: all of them must call it{order}. It returns '
                              'without waiting for them. It is complete when `MPI_Wait`, `MPI_Test` or one of their '
                              'relatives says so of *request*.',
    'collective persistent': 'Collective over {over}: all of them must call it{order}, and a process may wait in it '
                             'for the others. It makes a request that is not active; `MPI_Start` or `MPI_Startall` '
                             'starts the operation, `MPI_Wait`, `MPI_Test` or one of their relatives completes it, any '
                             'number of times. `MPI_Request_free` frees the request.',
    'collective local': 'Collective over {over}, though it does not wait: all of them must call it.',
}
ORDER = ', in the same order as other collective functions of the {what}'
OWNERS = {'comm': 'communicator', 'win': 'window', 'file': 'file'}    # whose collective functions have an order
THREADS = 'Several threads may call it at the same time where `MPI_THREAD_MULTIPLE` is provided.'
THREADS_ANYTIME = 'May be called by any thread at any time, before MPI is initialized and after it is finalized, too.'
THREADS_TOOL = 'May be called by several threads at the same time if `MPI_T_init_thread` has provided ' \
               '`MPI_THREAD_MULTIPLE`.'
THREADS_COLLECTIVE = ' Calls of collective functions on one {what} must not overlap: the program sees to their order.'
THREADS_REQUEST = ' Two threads must not complete the same request.'


# --- text as troff takes it ---

def plain(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + text if text[:1] in ('.', "'") else text


def prose(text):
    """A paragraph: *name* slanted, `code` bold. Hyphens stay hyphens outside of code."""
    text = text.replace('\\', '\\e')
    text = re.sub(r'`([^`]*)`', lambda m: '\\fB' + m[1].replace('-', '\\-') + '\\fP', text)
    text = re.sub(r'(?<![\w*])\*([A-Za-z_]\w*)\*(?![\w*])', r'\\fI\1\\fP', text)
    return '\\&' + text if text[:1] in ('.', "'") else text


def paragraph(text):
    return ['.PP', prose(text)]


def section(title, lines):
    return ['.SH ' + (f'"{title}"' if ' ' in title else title), *lines] if lines else []


def without_first_break(lines):
    return lines[1:] if lines[:1] == ['.PP'] else lines


def verbatim(lines):
    return ['.PP', '.nf', *lines, '.fi']


# --- synopsis ---

def wrapped(head, params):
    """head(params) in lines of WIDTH columns, broken between parameters."""
    lines, line = [], head + '('
    for i, param in enumerate(params):
        piece = param + (',' if i < len(params) - 1 else ')')
        if len(line) + len(piece) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = '    '
        line += piece + ' '
    return lines + [line.rstrip()] if params else [head + '()']


def c_prototype(function, large):
    params = [p.c_declaration(large) for p in function.form_params(large)] or ['void']
    lines = wrapped(f'{function.returns} MPI_{function.name}{"_c" if large else ""}', params)
    return [plain(line) for line in lines[:-1]] + [plain(lines[-1]) + ';']


def c_forms(function):
    lines = ['.nf', '.B #include <mpi.h>']
    for _, large in function.forms():
        lines += ['.PP', *c_prototype(function, large)]
    return lines + ['.fi']


def declarations(texts):
    """Fortran declarations; neighbors of one type share a line while it is short."""
    lines = []
    for text in texts:
        kind, _, name = text.partition(' :: ')
        if lines and lines[-1].startswith(kind + ' :: ') and len(lines[-1]) + len(name) < WIDTH - 6:
            lines[-1] += ', ' + name
        else:
            lines.append(text)
    return ['    ' + plain(line) for line in lines]


def fortran_form(routine, name, declare, error):
    """A routine: its name and arguments, and below their declarations."""
    names = [a.name for a in routine.arguments] + (['ierror'] if routine.has_error else [])
    result = {'double': 'double precision', 'MPI_Aint': 'integer(MPI_ADDRESS_KIND)'}.get(routine.function.returns)
    lines = [plain(line) for line in wrapped((result + ' function ' if result else '') + name, names)]
    return lines + declarations([declare(a) for a in routine.arguments] + ([error] if routine.has_error else []))


def plain_declaration(routine, a):
    """As module mpi and mpif.h have it; a choice buffer is written as in the standard."""
    if a.group in ('choice', 'bits') or a.name == 'buffer_addr':
        return f'<type> :: {a.name}(*)'
    return gen_modules.declare_plain(routine, a, False)


def f08_forms(small, large, overloaded):
    if fm.is_old(small):
        return []
    lines = ['.SS "Fortran, use mpi_f08"', '.nf']
    for routine in (small, large):
        if routine:
            name = f'MPI_{routine.name}' + ('_c' if routine.large and not overloaded else '')
            lines += fortran_form(routine, name, lambda a, r=routine: gen_modules.declare_f08(r, a),
                                  'integer, optional, intent(out) :: ierror')
            lines += ['.PP'] if routine is small and large else []
    return lines + ['.fi']


def fortran_forms(triple):
    if not triple:
        return []
    small = triple[0]
    old = ['.SS "Fortran, use mpi, or mpif.h"', '.nf',
           *fortran_form(small, f'MPI_{small.name}'.upper(), lambda a: plain_declaration(small, a),
                         'integer :: ierror'), '.fi']
    return f08_forms(*triple) + old


# --- the other sections ---

def parameters(function, entry):
    lines = []
    for p in function.params:
        by_hand = entry.params.get(p.name) if entry else None
        lines += ['.TP', f'\\fI{p.name}\\fP ({man_params.direction(p)})',
                  prose(man_params.sentence(function, p, by_hand))]
    return lines


def description(entry):
    lines = []
    for is_example, text in entry.blocks:
        lines += ['.PP', '.RS 4', '.nf', *[plain(line) for line in text.split('\n')], '.fi', '.RE'] if is_example \
            else paragraph(text)
    return without_first_break(lines)


def collective_owner(function):
    """What collective functions are called on, as a word; None: nothing that is there before."""
    return next((OWNERS[p.kind.object] for p in function.params if p.kind.object in OWNERS and p.direction != 'out'),
                None)


def completion(function, entry):
    key = ' '.join(filter(None, (entry.scope_word, entry.scope_how)))
    over, note = entry.scope_over or '', entry.scope_note
    if re.fullmatch(r'\*\w+\*', over):
        over = f'the processes of {over}'
    owner = collective_owner(function)
    order = ORDER.replace('{what}', owner) if owner and entry.scope_over != '*group*' else ''    # there a tag tells
    text = COMPLETION[key].replace('{over}', over).replace('{order}', order)
    if key in ('local', 'nonlocal') and re.match('it (waits|may|does not return)', note):
        return [prose(f'{key.capitalize()}: {note.rstrip(".")}.')]
    return [prose(text + (f' {note[0].upper()}{note[1:].rstrip(".")}.' if note else ''))]


def threads(function, entry):
    if entry.threads:
        return [prose(entry.threads)]
    if function.is_anytime and not function.is_tool:
        return [prose(THREADS_ANYTIME)]
    text = THREADS_TOOL if function.is_tool else THREADS
    if entry.scope_word == 'collective':
        owner = collective_owner(function)
        text += THREADS_COLLECTIVE.replace('{what}', owner) if owner else ''
    elif any(p.kind.object == 'request' and p.direction in ('inout', 'free') for p in function.params):
        text += THREADS_REQUEST
    return [prose(text)]


def error_intro(function):
    if function.returns != 'int':
        return 'No error is returned.'
    if function.is_tool:
        return '`MPI_SUCCESS`, or one of these codes. No error handler is called.'
    return f'`MPI_SUCCESS`, or, where {man_params.handler_of(function)} returns, an error code of one of these ' \
           'classes. The message names the parameter, its value, and what it may be.'


def errors(function, entry):
    found = man_params.found_errors(function) if not function.name.endswith(fm.WITHOUT_FORTRAN) else []
    if function.is_tool:
        found = man_params.tool_errors(found)
        if function.name != 'T_init_thread':
            found.append(('MPI_T_ERR_NOT_INITIALIZED', 'before `MPI_T_init_thread`, or after `MPI_T_finalize`'))
    listed = {}
    for error, text in found + (entry.errors if entry else []):
        listed.setdefault(error, []).append(text)
    if not function.is_anytime and not function.is_tool and function.returns == 'int':
        listed.setdefault('MPI_ERR_OTHER', []).append('MPI is not initialized, or finalized already')
    if not listed:
        is_code = function.returns == 'int' and not function.name.endswith(fm.WITHOUT_FORTRAN)
        text = 'None: it returns `MPI_SUCCESS`.' if is_code else 'None.'
        return [prose(text)]
    lines = [prose(error_intro(function))]
    for error, texts in listed.items():
        text = '; '.join(t.rstrip('.') for t in texts) + '.'
        lines += ['.TP', f'.B {error}', prose(text[0].upper() + text[1:])]
    return lines


def version_since(function):
    text = f'Since MPI {function.since}'
    if function.has_large:
        text += f'; the form with large counts since MPI {max("4.0", function.since)}'
    return text


def standard(function):
    text = f'{version_since(function)}. MPI 5.0, section {function.section}: {function.section_title}.'
    if function.deprecated and not function.section_title.startswith('Deprecated'):
        text += f' Deprecated since MPI {function.deprecated}.'
    return [prose(text)]


def see_also(names):
    return [f'.BR MPI_{name} (3)' + (',' if i < len(names) - 1 else '') for i, name in enumerate(names)]


def page(function, entry, triple, version):
    """The page of one function; `triple` is its Fortran forms, or None."""
    name = f'MPI_{function.name}'
    purpose = entry.purpose if entry else 'a function of MPI'
    names = ', '.join('MPI_' + form for form, _ in function.forms())
    lines = ['.\\" SPDX-License-Identifier: BSD-3-Clause', '.\\" Generated by api/manual/gen_man.py; do not edit.',
             f'.TH {name.upper()} 3 "" "Parley {version}" "Parley"', '.ad l', '.nh',
             *section('NAME', [f'{names} \\- {prose(purpose)}']),
             *section('SYNOPSIS', c_forms(function) + fortran_forms(triple)),
             *section('PARAMETERS', parameters(function, entry))]
    if entry:
        lines += section('DESCRIPTION', description(entry)) + section('COMPLETION', completion(function, entry))
        lines += section('THREADS', threads(function, entry))
    lines += section('ERRORS', errors(function, entry))
    if entry:
        lines += section('IN PARLEY', without_first_break([x for text in entry.parley for x in paragraph(text)]))
    lines += section('STANDARD', standard(function))
    if entry:
        lines += section('SEE ALSO', see_also(entry.see))
    return '\n'.join(lines) + '\n'


def pages(version, functions=None, texts=None):
    """File name: text, of all pages."""
    functions = model.read_functions() if functions is None else functions
    texts = manual_model.read_texts() if texts is None else texts
    fortran = {triple[0].name: triple for triple in fm.routines()}
    found = {}
    for function in functions:
        found[f'MPI_{function.name}.3'] = page(function, texts.get(function.name), fortran.get(function.name), version)
        if function.has_large:
            found[f'MPI_{function.name}_c.3'] = f'.so man3/MPI_{function.name}.3\n'
    return found


def write_pages(folder, version):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, text in pages(version).items():
        model.write_output(os.path.join(folder, name), text)


if __name__ == '__main__':
    try:
        write_pages(*sys.argv[1:])
    except model.TableError as error:
        sys.exit(f'gen_man.py: {error}')
