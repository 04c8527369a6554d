/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: lists and files of hosts. They may name this machine only: localhost, its own name in any form, its
 * addresses, and what /etc/hosts calls these. No name server is asked, so that nothing waits for one. The slots
 * that are named with a host say how many ranks there are when nothing else does. */
#include "options.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "base/base.h"
#include "launch.h"

enum { HOST_SIZE = 256 };

/* Is the address `text` one of this machine? */
static bool is_own_address(const char *text)
{
    unsigned char wanted[sizeof(struct in6_addr)];
    const int family = strchr(text, ':') ? AF_INET6 : AF_INET;
    struct ifaddrs *all = NULL;
    bool is_found;

    if (inet_pton(family, text, wanted) != 1)
        return false;
    is_found = !strncmp(text, "127.", 4) || !strcmp(text, "::1");
    if (is_found || getifaddrs(&all))
        return is_found;
    for (const struct ifaddrs *at = all; at && !is_found; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != family)
            continue;
        if (family == AF_INET)
            is_found = !memcmp(&((struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr, wanted,
                               sizeof(struct in_addr));
        else
            is_found =
                !memcmp(&((struct sockaddr_in6 *)(void *)at->ifa_addr)->sin6_addr, wanted, sizeof wanted);
    }
    freeifaddrs(all);
    return is_found;
}

/* Does a line of /etc/hosts give this name to one of our addresses? */
static bool is_in_hosts_file(const char *host)
{
    FILE *file = fopen("/etc/hosts", "re");
    char line[1024], *rest, *word, address[HOST_SIZE];
    bool is_found = false;

    while (file && !is_found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#\n")] = 0;
        word = strtok_r(line, " \t", &rest);
        if (!word)
            continue;
        snprintf(address, sizeof address, "%s", word);
        while (!is_found && (word = strtok_r(NULL, " \t", &rest)))
            is_found = !strcasecmp(word, host) && is_own_address(address);
    }
    if (file)
        fclose(file);
    return is_found;
}

/* The name of the system, or that name with or without a domain. */
static bool is_node_name(const char *host)
{
    struct utsname system;
    size_t length;

    uname(&system);
    length = strcspn(system.nodename, ".");
    return !strncasecmp(host, system.nodename, length) &&
           (!host[length] ||
            (host[length] == '.' && (!system.nodename[length] || !strcasecmp(host, system.nodename))));
}

bool options_is_this_machine(const char *host)
{
    return !strcasecmp(host, "localhost") || !strncasecmp(host, "localhost.", 10) || is_node_name(host) ||
           is_own_address(host) || is_in_hosts_file(host);
}

/* One host of `length` bytes: [USER@]NAME[:SLOTS]. */
static void take_host(struct reader *reader, const char *name, const char *text, size_t length, int slots)
{
    char host[HOST_SIZE];
    const char *user = memchr(text, '@', length), *start = user ? user + 1 : text;
    struct utsname system;
    char *colon;

    snprintf(host, sizeof host, "%.*s", (int)(length - (size_t)(start - text)), start);
    colon = strrchr(host, ':');
    if (colon && strchr(host, ':') == colon) { /* else an address with many colons */
        *colon = 0;
        if (isdigit((unsigned char)colon[1]))
            slots = options_whole_number(name, colon + 1, 0, OPTIONS_MAX_RANKS);
    }
    if (!options_is_this_machine(host)) {
        uname(&system);
        die(EXIT_USAGE,
            "E0102: -%s %.*s: this version starts processes on this machine only, not on several hosts\n"
            "this machine is localhost or %s",
            name, (int)length, text, system.nodename);
    }
    reader->listed += slots;
    if (reader->listed > OPTIONS_MAX_RANKS)
        reader->listed = OPTIONS_MAX_RANKS;
}

void options_apply_hosts(struct reader *reader, const char *name, char **values)
{
    for (const char *host = values[0]; *host;) {
        const size_t length = strcspn(host, ", ");
        if (length)
            take_host(reader, name, host, length, 1);
        host += length + (host[length] != 0);
    }
}

/* The number behind slots=, slots = or cpu= of a line; 1: there is none. */
static int slots_of(const char *name, const char *line)
{
    static const char *const words[] = { "slots", "cpu", "max_slots", "max-slots" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *at = strstr(line, words[i]);
        char number[16];
        if (!at)
            continue;
        at += strlen(words[i]) + strspn(at + strlen(words[i]), " \t=");
        snprintf(number, sizeof number, "%.*s", (int)strspn(at, "0123456789"), at);
        return *number ? options_whole_number(name, number, 0, OPTIONS_MAX_RANKS) : 1;
    }
    return 1;
}

/* One host a line: NAME, NAME:SLOTS, NAME slots=N; other words behind are not looked at. */
void options_apply_host_file(struct reader *reader, const char *name, char **values)
{
    FILE *file = fopen(values[0], "re");
    char *line = NULL;
    size_t room = 0;

    if (!file)
        die(EXIT_USAGE, "E0101: -%s %s: %s", name, values[0], strerror(errno));
    while (getline(&line, &room, file) >= 0) {
        const char *host = line + strspn(line, " \t");
        const size_t length = strcspn(host, " \t\r\n#");
        if (length)
            take_host(reader, name, host, length, slots_of(name, host + length));
    }
    free(line);
    fclose(file);
}
