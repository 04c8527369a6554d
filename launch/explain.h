/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --explain. The table is generated from the catalogue, src/base/diagnostics.txt. */
#ifndef LAUNCH_EXPLAIN_H
#define LAUNCH_EXPLAIN_H

struct explanation {
    int id;
    const char *cause, *remedy; /* remedy: NULL: none */
    const char *since;          /* version */
    const char *text;           /* paragraphs, a line each */
};

extern const struct explanation explanations[]; /* by rising id */
extern const int explanation_count;

/* If the command line begins with --explain, do that and exit: without an id all are listed. */
void explain_if_asked(char **argv);

#endif
