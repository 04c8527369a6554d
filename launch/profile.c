/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: --profile and --trace. The library that does it is preloaded into the ranks; here it is found, and told
 * where to write. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "options.h"

enum { VARIABLE_SIZE = 2 * PATH_MAX };

void options_apply_profile(struct reader *reader, const char *name, char **values)
{
    const bool is_trace = !strncmp(name, "trace", strlen("trace"));
    const char **file = is_trace ? &reader->options->trace : &reader->options->profile;

    *file = values[0] && *values[0] ? values[0] : is_trace ? "parley-trace.json" : "parley-profile";
}

/* The library, in an installation or in a build folder. */
static void find_library(char *path)
{
    static const char *const places[] = { "/../" LIBDIR "/parley/libparley_profile.so",
                                          "/../tools/profile/libparley_profile.so" };

    if (!own_file(places, ARRAY_LEN(places), path))
        die(EXIT_SYSTEM, "E0124: --profile and --trace need libparley_profile.so, which is not there: %s", path);
}

static void set_text(struct options *options, const char *name, const char *value, const char *behind)
{
    char *text = need(VARIABLE_SIZE);

    snprintf(text, VARIABLE_SIZE, "%s=%s%s", name, value, behind);
    strings_add(&options->set, text);
}

/* Of our folder, whatever that of the ranks. */
static void set_path(struct options *options, const char *name, const char *file)
{
    char folder[PATH_MAX] = "";

    if (*file != '/' && getcwd(folder, sizeof folder - 1))
        strcat(folder, "/");
    set_text(options, name, folder, file);
}

/* Each world writes files of its own: NAME becomes NAME.world2, NAME.json becomes NAME.world2.json. */
static void set_file_of_world(struct app *app, const char *text, int world)
{
    const size_t length = strlen(text);
    const bool is_json = length > 5 && !strcmp(text + length - 5, ".json");
    char *own = need(length + 32);

    snprintf(own, length + 32, "%.*s.world%d%s", (int)(is_json ? length - 5 : length), text, world,
             is_json ? ".json" : "");
    strings_add(&app->kept, own);
    strings_add(&app->set, own);
}

void profile_spawned(const struct options *options, struct app *app, int world)
{
    for (size_t i = 0; i < options->set.count; i++) {
        const char *text = options->set.at[i];

        if (!strncmp(text, "PARLEY_PROFILE=", strlen("PARLEY_PROFILE=")) ||
            !strncmp(text, "PARLEY_TRACE=", strlen("PARLEY_TRACE=")))
            set_file_of_world(app, text, world);
    }
}

void profile_prepare(struct options *options)
{
    const char *preload = getenv("LD_PRELOAD");
    char path[VARIABLE_SIZE], behind[VARIABLE_SIZE] = "";

    options->set_by_user = options->set.count;
    if (!options->profile && !options->trace)
        return;
    find_library(path);
    if (preload && *preload)
        snprintf(behind, sizeof behind, ":%s", preload);
    set_text(options, "LD_PRELOAD", path, behind);
    if (options->profile)
        set_path(options, "PARLEY_PROFILE", options->profile);
    if (options->trace)
        set_path(options, "PARLEY_TRACE", options->trace);
}
