/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: can processes of two machines connect to each other? Both sides of mpiexec --doctor -host use it. Each side
 * listens, names its addresses, and tries those of the other; a word that only the two know shows who answers. */
#ifndef LAUNCH_REACH_H
#define LAUNCH_REACH_H

#include <stdbool.h>

enum { REACH_ADDRESSES = 32, REACH_ADDRESS_SIZE = 64, REACH_TOKEN_SIZE = 40, REACH_WHY_SIZE = 128 };

struct reach_address {
    char text[REACH_ADDRESS_SIZE];
    char interface[24];
};

/* The addresses of this machine by which others may reach it; those of its own if there are no others. */
int reach_own_addresses(struct reach_address addresses[REACH_ADDRESSES]);
/* A listening socket for all of them, or -1 with errno. */
int reach_listen(int *port);
/* Take one connection of the listener, and tell it the word back if it knows it. */
void reach_serve(int listener, const char *token);
/* Connect there, say the word and get it back, within some seconds. The time in microseconds; -1: `why`. */
long reach_try(const char *address, int port, const char *token, char why[REACH_WHY_SIZE]);

/* The other side: mpiexec --reach=PORT|TOKEN|LIBRARY|FOLDER|ADDRESS|... Tells in lines what it finds. */
_Noreturn void reach_answer(char *words);

#endif
