/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Control groups. A limit of any group on the way up counts. Inside a container the path of the group may be
 * one that is not seen here: then what is found on the way up is that of the container. */
#include "sys/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/text.h"

enum { PATH_SIZE = 1024 };

long long cgroup_number(const char *directory, const char *name)
{
    char path[PATH_SIZE], text[32];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return text_read(path, text, sizeof text) ? strtoll(text, NULL, 10) : 0;
}

static long long lesser(long long least, long long here)
{
    return here && (!least || here < least) ? here : least;
}

/* On the way from `group` below `top` up to `top`. */
static long long tightest(const char *top, const char *group, cgroup_limit_fn *limit)
{
    char directory[PATH_SIZE];
    const size_t top_length = (size_t)snprintf(directory, sizeof directory, "%s%s", top, group) - strlen(group);
    long long least = 0;

    for (;;) {
        char *slash = strrchr(directory, '/');
        least = lesser(least, limit(directory));
        if (!slash || slash < directory + top_length)
            return least;
        *slash = 0;
    }
}

/* Is it among the controllers, which commas separate? */
static bool has_controller(const char *controllers, const char *wanted)
{
    while (*controllers) {
        const size_t length = strcspn(controllers, ",");
        if (length == strlen(wanted) && !strncmp(controllers, wanted, length))
            return true;
        controllers += length + (controllers[length] == ',');
    }
    return false;
}

/* One line of /proc/self/cgroup: "number:controllers:path", without controllers for version 2. */
static long long limit_of_line(const char *root, char *line, const char *controller, cgroup_limit_fn *v1,
                               cgroup_limit_fn *v2)
{
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    char top[PATH_SIZE];
    bool is_first_version;

    if (!group)
        return 0;
    *controllers++ = *group++ = 0;
    is_first_version = *controllers;
    if (is_first_version && !has_controller(controllers, controller))
        return 0;
    snprintf(top, sizeof top, "%s/sys/fs/cgroup%s%s", root, is_first_version ? "/" : "",
             is_first_version ? controller : "");
    return tightest(top, strcmp(group, "/") ? group : "", is_first_version ? v1 : v2);
}

long long cgroup_least(const char *root, const char *controller, cgroup_limit_fn *v1, cgroup_limit_fn *v2)
{
    char path[PATH_SIZE], text[4096], *rest = text;
    long long least = 0;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!text_read(path, text, sizeof text)) /* no /proc: what can be seen is our group's, or holds for all */
        snprintf(text, sizeof text, "0::/\n1:%s:/", controller);
    for (char *line; (line = strsep(&rest, "\n"));)
        least = lesser(least, limit_of_line(root, line, controller, v1, v2));
    return least;
}
