/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays the debugger: loads the message-queue library and prints the queues of a running process.
 *   mqs_reader LIBRARY PID RANK
 * It is compiled as an MPI program only to know where the library keeps a symbol. */
#include "mqs_interface.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int MPI_Initialized(int *flag); /* so that the library is linked */

struct mqs_image_ { mqs_image_info *info; };
struct mqs_process_ { mqs_process_info *info; int memory, rank; uintptr_t base; };

static mqs_image image;
static mqs_process process;

static void print(const char *text) { fputs(text, stderr); }
static char *error_text(int code) { (void)code; return (char *)(uintptr_t)"an error"; }
static void put_image(mqs_image *i, mqs_image_info *info) { i->info = info; }
static mqs_image_info *get_image(mqs_image *i) { return i->info; }
static void put_process(mqs_process *p, mqs_process_info *info) { p->info = info; }
static mqs_process_info *get_process(mqs_process *p) { return p->info; }
static int get_rank(mqs_process *p) { return p->rank; }
static mqs_image *image_of(mqs_process *p) { (void)p; return &image; }

static int find_symbol(mqs_image *i, char *name, mqs_taddr_t *out)
{
    const char *found = dlsym(RTLD_DEFAULT, name);
    Dl_info own;

    (void)i;
    if (!found || !dladdr(found, &own))
        return mqs_no_information;
    *out = (uintptr_t)found - (uintptr_t)own.dli_fbase + process.base;
    return mqs_ok;
}

static int fetch(mqs_process *p, mqs_taddr_t address, int size, void *to)
{
    return pread(p->memory, to, (size_t)size, (off_t)address) == size ? mqs_ok : mqs_first_user_code;
}

static void to_host(mqs_process *p, const void *from, void *to, int size)
{
    (void)p;
    memcpy(to, from, (size_t)size);
}

/* Where the process has the library. */
static uintptr_t base_of(const char *pid)
{
    char path[64], line[4200];
    unsigned long base = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%s/maps", pid);
    maps = fopen(path, "r");
    while (maps && !base && fgets(line, sizeof line, maps))
        if (strstr(line, "libmpi_abi.so"))
            sscanf(line, "%lx", &base);
    if (maps)
        fclose(maps);
    return base;
}

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (!found) {
        fprintf(stderr, "%s is not in the library\n", name);
        exit(1);
    }
    return found;
}

#define GET(name) __typeof__(&name) get_##name = (__typeof__(&name))function(library, #name)
#define MUST(call) \
    do { \
        const int code = call; \
        if (code != mqs_ok) { \
            fprintf(stderr, "%s: %d: %s\n", #call, code, get_mqs_dll_error_string(code)); \
            exit(1); \
        } \
    } while (0)

int main(int argc, char **argv)
{
    static const char *const classes[] = { "send", "receive", "message" };
    static const mqs_basic_callbacks basic = { malloc, free, print, error_text, put_image, get_image, put_process,
                                               get_process };
    static const mqs_image_callbacks images = { .mqs_find_symbol_fp = find_symbol };
    static const mqs_process_callbacks processes = { get_rank, image_of, fetch, to_host };
    void *library = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
    mqs_pending_operation op;
    mqs_communicator comm;
    const char *message;
    char path[64];
    int flag, *group;

    if (!library) {
        fprintf(stderr, "mqs_reader LIBRARY PID RANK: %s\n", argc == 4 ? dlerror() : "arguments");
        return 1;
    }
    MPI_Initialized(&flag);
    GET(mqs_setup_basic_callbacks);
    GET(mqs_version_compatibility);
    GET(mqs_dll_taddr_width);
    GET(mqs_version_string);
    GET(mqs_dll_error_string);
    GET(mqs_setup_image);
    GET(mqs_image_has_queues);
    GET(mqs_setup_process);
    GET(mqs_process_has_queues);
    GET(mqs_update_communicator_list);
    GET(mqs_setup_communicator_iterator);
    GET(mqs_get_communicator);
    GET(mqs_get_comm_group);
    GET(mqs_next_communicator);
    GET(mqs_setup_operation_iterator);
    GET(mqs_next_operation);
    GET(mqs_destroy_process_info);
    GET(mqs_destroy_image_info);

    snprintf(path, sizeof path, "/proc/%s/mem", argv[2]);
    process.memory = open(path, O_RDONLY);
    process.base = base_of(argv[2]);
    process.rank = atoi(argv[3]);
    if (process.memory < 0 || !process.base || get_mqs_version_compatibility() != MQS_INTERFACE_COMPATIBILITY ||
        get_mqs_dll_taddr_width() != sizeof(void *) || !strstr(get_mqs_version_string(), "Parley")) {
        fprintf(stderr, "process %s cannot be read, or the library is a wrong one\n", argv[2]);
        return 1;
    }
    get_mqs_setup_basic_callbacks(&basic);
    MUST(get_mqs_setup_image(&image, &images));
    MUST(get_mqs_image_has_queues(&image, &message));
    MUST(get_mqs_setup_process(&process, &processes));
    MUST(get_mqs_process_has_queues(&process, (char **)(uintptr_t)&message));
    MUST(get_mqs_update_communicator_list(&process));
    for (int more = get_mqs_setup_communicator_iterator(&process); more == mqs_ok;
         more = get_mqs_next_communicator(&process)) {
        MUST(get_mqs_get_communicator(&process, &comm));
        group = malloc((size_t)comm.size * sizeof *group);
        MUST(get_mqs_get_comm_group(&process, group));
        printf("comm %s: rank %ld of %ld, world", comm.name, comm.local_rank, comm.size);
        for (long i = 0; i < comm.size; i++)
            printf(" %d", group[i]);
        printf("\n");
        free(group);
        for (int class = mqs_pending_sends; class <= mqs_unexpected_messages; class++) {
            if (get_mqs_setup_operation_iterator(&process, class) != mqs_ok)
                continue;
            while (get_mqs_next_operation(&process, &op) == mqs_ok)
                printf("%s %s peer %ld world %ld tag %ld length %ld: %s, %s\n", classes[class],
                       op.status == mqs_st_pending ? "pending" : "matched", op.desired_local_rank,
                       op.desired_global_rank, op.tag_wild ? -1 : op.desired_tag, op.desired_length, op.extra_text[0],
                       op.extra_text[1]);
        }
    }
    get_mqs_destroy_process_info(process.info);
    get_mqs_destroy_image_info(image.info);
    return 0;
}
