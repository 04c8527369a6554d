/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays the debugger: loads the message-queue library and prints the queues of a running process.
 *   mqs_reader LIBRARY PID RANK           a code of the library's other than success is an error
 *   mqs_reader LIBRARY PID RANK SEED N    N times, with damaged memory: what it says does not matter, but it ends
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

enum { READS_MAX = 2000000, KNOWN = 64 };

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

/* What is damaged: one word in `rarely`, the same ones for a seed, and one allocation in as many fails. 0: nothing. */
static unsigned rarely, reads, seed;
static uint64_t known[KNOWN]; /* what undamaged memory has */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

/* Often to a number that is an address elsewhere, so that lists lead into others. */
static void damage(mqs_taddr_t address, int size, void *to)
{
    const uint64_t chance = mix(address ^ mix(seed));
    uint64_t word = 0;

    memcpy(&word, to, size < 8 ? (size_t)size : 8);
    if (!rarely && word > 1 << 20)
        known[reads % KNOWN] = word;
    if (!rarely || chance % rarely)
        return;
    switch (chance >> 32 & 3) {
    case 0: word = mix(chance); break;
    case 1: word ^= UINT64_C(1) << (chance >> 40) % 64; break;
    default: word = known[(chance >> 40) % KNOWN]; break;
    }
    for (int at = 0; at < size; at += 8)
        memcpy((char *)to + at, &word, size - at < 8 ? (size_t)(size - at) : 8);
}

static int fetch(mqs_process *p, mqs_taddr_t address, int size, void *to)
{
    if (pread(p->memory, to, (size_t)size, (off_t)address) != size)
        return mqs_first_user_code;
    if (++reads > READS_MAX) {
        fprintf(stderr, "seed %u: %u reads, and no end\n", seed, reads);
        exit(1);
    }
    damage(address, size, to);
    return mqs_ok;
}

static void *allocate(size_t size) { return rarely && (unsigned)rand() % rarely == 0 ? NULL : malloc(size); }

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

static const mqs_basic_callbacks basic = { allocate, free, print, error_text, put_image, get_image, put_process,
                                           get_process };
static const mqs_image_callbacks images = { .mqs_find_symbol_fp = find_symbol };
static const mqs_process_callbacks processes = { get_rank, image_of, fetch, to_host };

/* The functions of the library. */
#define FUNCTIONS(DO) \
    DO(mqs_setup_basic_callbacks) DO(mqs_version_compatibility) DO(mqs_dll_taddr_width) DO(mqs_version_string) \
    DO(mqs_dll_error_string) DO(mqs_setup_image) DO(mqs_image_has_queues) DO(mqs_setup_process) \
    DO(mqs_process_has_queues) DO(mqs_update_communicator_list) DO(mqs_setup_communicator_iterator) \
    DO(mqs_get_communicator) DO(mqs_get_comm_group) DO(mqs_next_communicator) DO(mqs_setup_operation_iterator) \
    DO(mqs_next_operation) DO(mqs_destroy_process_info) DO(mqs_destroy_image_info)
#define DECLARE(name) static __typeof__(&name) get_##name;
#define GET(name) get_##name = (__typeof__(&name))function(library, #name);

FUNCTIONS(DECLARE)

/* Has the call succeeded? It must, unless something is damaged. */
static int is_ok(int code, const char *call)
{
    if (code != mqs_ok && !rarely) {
        fprintf(stderr, "%s: %d: %s\n", call, code, get_mqs_dll_error_string(code));
        exit(1);
    }
    return code == mqs_ok;
}

#define OK(call) is_ok(call, #call)

static void print_operations(void)
{
    static const char *const classes[] = { "send", "receive", "message" };
    mqs_pending_operation op;

    for (int class = mqs_pending_sends; class <= mqs_unexpected_messages; class++) {
        if (get_mqs_setup_operation_iterator(&process, class) != mqs_ok)
            continue;
        while (get_mqs_next_operation(&process, &op) == mqs_ok)
            if (!rarely)
                printf("%s %s peer %ld world %ld tag %ld length %ld: %s, %s\n", classes[class],
                       op.status == mqs_st_pending ? "pending" : "matched", op.desired_local_rank,
                       op.desired_global_rank, op.tag_wild ? -1 : op.desired_tag, op.desired_length,
                       op.extra_text[0], op.extra_text[1]);
    }
}

static void print_comm(void)
{
    mqs_communicator comm;
    int *group;

    if (!OK(get_mqs_get_communicator(&process, &comm)) || comm.size < 0 || comm.size > 1 << 20)
        return;
    group = malloc(((size_t)comm.size + 1) * sizeof *group);
    if (OK(get_mqs_get_comm_group(&process, group)) && !rarely) {
        printf("comm %s: rank %ld of %ld, world", comm.name, comm.local_rank, comm.size);
        for (long i = 0; i < comm.size; i++)
            printf(" %d", group[i]);
        printf("\n");
    }
    free(group);
}

static void print_process(void)
{
    const char *message;

    if (OK(get_mqs_process_has_queues(&process, (char **)(uintptr_t)&message)) || rarely)
        (void)OK(get_mqs_update_communicator_list(&process));
    for (int more = get_mqs_setup_communicator_iterator(&process); more == mqs_ok;
         more = get_mqs_next_communicator(&process)) {
        print_comm();
        print_operations();
    }
}

static void print_image(void)
{
    const char *message;

    if (!OK(get_mqs_setup_image(&image, &images)))
        return;
    (void)OK(get_mqs_image_has_queues(&image, &message));
    if (OK(get_mqs_setup_process(&process, &processes))) {
        print_process();
        get_mqs_destroy_process_info(process.info);
    }
    get_mqs_destroy_image_info(image.info);
}

static void open_process(const char *pid, const char *rank)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%s/mem", pid);
    process.memory = open(path, O_RDONLY);
    process.base = base_of(pid);
    process.rank = atoi(rank);
    if (process.memory >= 0 && process.base && get_mqs_version_compatibility() == MQS_INTERFACE_COMPATIBILITY &&
        get_mqs_dll_taddr_width() == sizeof(void *) && strstr(get_mqs_version_string(), "Parley"))
        return;
    fprintf(stderr, "process %s cannot be read, or the library is a wrong one\n", pid);
    exit(1);
}

int main(int argc, char **argv)
{
    void *library = argc == 4 || argc == 6 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int flag;

    if (!library) {
        fprintf(stderr, "mqs_reader LIBRARY PID RANK [SEED N]: %s\n", argc >= 4 ? dlerror() : "arguments");
        return 1;
    }
    MPI_Initialized(&flag);
    FUNCTIONS(GET)
    open_process(argv[2], argv[3]);
    get_mqs_setup_basic_callbacks(&basic);
    print_image();
    for (int i = 0; argc == 6 && i < atoi(argv[5]); i++) {
        seed = (unsigned)(atoi(argv[4]) + i);
        srand(seed);
        rarely = 10u << seed % 8;
        reads = 0;
        print_image();
    }
    return 0;
}
