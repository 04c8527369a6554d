/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the names of this machine: localhost, its own name in any form, its addresses, and what /etc/hosts calls
 * these. No name server is asked, so that nothing waits for one. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "hosts.h"

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

bool hosts_is_here(const char *host)
{
    return !strcasecmp(host, "localhost") || !strncasecmp(host, "localhost.", 10) || is_node_name(host) ||
           is_own_address(host) || is_in_hosts_file(host);
}
