/* SPDX-License-Identifier: BSD-3-Clause */
/* impi-server: its command line, and what the environment allows. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { EXIT_USAGE = 2 };

static const char help[] =
    "usage: impi-server -server N [option ...]\n"
    "Waits for the N clients of an IMPI job, lets them exchange what they must know of each other, and ends when\n"
    "all have ended. Prints one line: the address and port that the clients are to be told.\n"
    "\n"
    "  -server N          how many clients the job has, 1 to 32\n"
    "  -port P, -p P      listen at this port; without it any that is free\n"
    "  -interface ADDR    listen at this address only, such as 127.0.0.1\n"
    "  -auth LIST         ways of authentication in order of preference, such as 1,0; without it 1,0\n"
    "  -timeout SECONDS   give up when not all clients have come by then; without it, wait for ever\n"
    "  -fork              go to the background once the line is printed\n"
    "  -v                 say who comes and goes\n"
    "  -h                 this text\n"
    "\n"
    "A way of authentication must be enabled in the environment, here and at each client:\n"
    "  IMPI_AUTH_NONE     (0) set to anything: nothing is asked\n"
    "  IMPI_AUTH_KEY      (1) a whole number of 64 bits that all must have\n"
    "The key travels in clear text and protects from accidents only: use a private network.\n";

static _Noreturn void bad_usage(const char *why, const char *what)
{
    fprintf(stderr, "impi-server: %s%s\n\n%s", why, what, help);
    exit(EXIT_USAGE);
}

static int64_t read_number(const char *name, const char *text, int64_t min, int64_t max)
{
    char *end, why[128];
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno || *end || end == text || value < min || value > max) {
        snprintf(why, sizeof why, "%s must be a whole number from %lld to %lld, not ", name, (long long)min,
                 (long long)max);
        bad_usage(why, text);
    }
    return value;
}

/* "1,0", "1,7-9": numbers of methods that do not exist here are left out. */
static void read_methods(struct options *options, const char *list)
{
    const char *at = list;

    options->method_count = 0;
    while (*at) {
        char *end;
        long first = strtol(at, &end, 10), last = first;

        if (end != at && *end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtol(end + 1, &end, 10);
        if (end == at || first < 0 || last < first || (*end && *end != ','))
            bad_usage("-auth: a list of numbers and ranges, such as 1,0 or 1,7-9, is expected, not ", list);
        for (; first <= last && first < IMPI_AUTH_METHODS; first++) {
            bool is_there = false;

            for (int i = 0; i < options->method_count; i++)
                is_there |= options->methods[i] == first;
            if (!is_there)
                options->methods[options->method_count++] = (int)first;
        }
        at = end + (*end == ',');
    }
}

/* Only what the user has enabled. */
static void keep_enabled(struct options *options)
{
    const char *key = getenv("IMPI_AUTH_KEY");
    int count = 0;

    for (int i = 0; i < options->method_count; i++) {
        if (options->methods[i] == IMPI_AUTH_KEY ? key != NULL : getenv("IMPI_AUTH_NONE") != NULL)
            options->methods[count++] = options->methods[i];
    }
    options->method_count = count;
    if (!count)
        die("no way of authentication is enabled, so no client could come in; set IMPI_AUTH_KEY to a number, or "
            "IMPI_AUTH_NONE, here and for the clients");
    for (int i = 0; i < count; i++) {
        if (options->methods[i] == IMPI_AUTH_KEY)
            options->key = read_number("IMPI_AUTH_KEY", key, INT64_MIN, INT64_MAX);
        else
            say("warning: IMPI_AUTH_NONE lets anybody in who reaches this port");
    }
}

static void read_address(struct options *options, const char *text)
{
    if (inet_pton(AF_INET, text, &options->address) != 1)
        bad_usage("-interface: an address such as 127.0.0.1 is expected, not ", text);
}

/* True if the option takes a value, which is then `value`. */
static bool read_with_value(struct options *options, const char *name, const char *value)
{
    static const char *const names[] = { "-server", "-port", "-p", "-auth", "-interface", "-timeout" };
    bool is_known = false;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        is_known |= !strcmp(name, names[i]);
    if (!is_known)
        return false;
    if (!value)
        bad_usage(name, " needs a value");
    if (!strcmp(name, "-server"))
        options->clients = (int)read_number(name, value, 1, IMPI_CLIENTS_MAX);
    else if (!strcmp(name, "-auth"))
        read_methods(options, value);
    else if (!strcmp(name, "-interface"))
        read_address(options, value);
    else if (!strcmp(name, "-timeout"))
        options->timeout = (int)read_number(name, value, 0, 1000000);
    else
        options->port = (int)read_number(name, value, 0, UINT16_MAX);
    return true;
}

void options_read(struct options *options, int argc, char **argv)
{
    *options = (struct options){ .methods = { IMPI_AUTH_KEY, IMPI_AUTH_NONE }, .method_count = 2 };
    for (int i = 1; i < argc; i++) {
        if (read_with_value(options, argv[i], argv[i + 1])) {
            i++;
        } else if (!strcmp(argv[i], "-fork")) {
            options->is_background = true;
        } else if (!strcmp(argv[i], "-v")) {
            options->is_verbose = true;
        } else if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
            fputs(help, stdout);
            exit(0);
        } else {
            bad_usage("there is no option ", argv[i]);
        }
    }
    if (!options->clients)
        bad_usage("-server N is missing: how many clients the job has", "");
    keep_enabled(options);
}
