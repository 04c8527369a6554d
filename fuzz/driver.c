/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a target without libFuzzer: every file of the corpus as it is, then random changes of them for some time.
 *
 *     fuzz_TARGET [-seconds=N] [-seed=N] FOLDER or FILE...
 *
 * When the target crashes, the input is in ./crash-TARGET and its number and the seed are printed; a file alone with
 * -seconds=0 repeats it. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum { MOST_BYTES = 4096, MOST_SEEDS = 256, CHANGES = 8, CHECK_TIME = 256 };

static struct seed {
    uint8_t *data;
    size_t size;
} seeds[MOST_SEEDS];

static int seed_count;
static uint8_t input[MOST_BYTES];
static size_t input_size;
static uint64_t state, first_state, runs;
static const char *name;

/* xorshift64 */
static uint64_t any(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? state % below : 0;
}

static void on_crash(int number)
{
    char text[256];
    const int length = snprintf(text, sizeof text, "%s: signal %d in run %llu, -seed=%llu, input in ./crash-%s\n", name,
                                number, (unsigned long long)runs, (unsigned long long)first_state, name);
    FILE *file;

    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(2);
    snprintf(text, sizeof text, "crash-%s", name);
    file = fopen(text, "w");
    if (file) {
        fwrite(input, 1, input_size, file);
        fclose(file);
    }
    _exit(1);
}

/* No input takes so long, of processor time: others may use the processor, too. */
static void run(void)
{
    static const struct itimerval limit = { .it_value.tv_sec = 10 };

    runs++;
    setitimer(ITIMER_PROF, &limit, NULL);
    LLVMFuzzerTestOneInput(input, input_size);
}

static void add_file(const char *path)
{
    FILE *file = fopen(path, "r");
    struct seed *seed = &seeds[seed_count];

    if (!file || seed_count == MOST_SEEDS) {
        fprintf(stderr, "%s: cannot take %s\n", name, path);
        exit(2);
    }
    seed->data = malloc(MOST_BYTES);
    seed->size = seed->data ? fread(seed->data, 1, MOST_BYTES, file) : 0;
    seed_count++;
    fclose(file);
}

static void add(const char *path)
{
    char inner[1024];
    struct dirent *entry;
    DIR *folder = opendir(path);

    if (!folder) {
        add_file(path);
        return;
    }
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        add_file(inner);
    }
    closedir(folder);
}

static void take_seed(const struct seed *seed)
{
    memcpy(input, seed->data, seed->size);
    input_size = seed->size;
}

/* Make room for or take away `count` bytes at `at`. */
static void insert(size_t at, size_t count)
{
    if (input_size + count > MOST_BYTES)
        return;
    memmove(input + at + count, input + at, input_size - at);
    for (size_t i = 0; i < count; i++)
        input[at + i] = (uint8_t)any(256);
    input_size += count;
}

static void delete(size_t at, size_t count)
{
    count = count < input_size - at ? count : input_size - at;
    memmove(input + at, input + at + count, input_size - at - count);
    input_size -= count;
}

static void put_text(size_t at, const char *text)
{
    const size_t length = strlen(text);

    if (at + length <= MOST_BYTES) {
        memcpy(input + at, text, length);
        input_size = at + length > input_size ? at + length : input_size;
    }
}

/* A piece of another seed instead of what is here. */
static void splice(size_t at)
{
    const struct seed *other = &seeds[any((uint64_t)seed_count)];
    const size_t from = any(other->size + 1);
    size_t count = any(other->size - from + 1);

    count = at + count > MOST_BYTES ? MOST_BYTES - at : count;
    memcpy(input + at, other->data + from, count);
    input_size = at + count > input_size ? at + count : input_size;
}

static void change(void)
{
    static const char *const numbers[] = { "0", "-1", "2147483647", "2147483648", "-2147483649", "4294967296",
                                           "9223372036854775808", "18446744073709551616", "1e308", "nan", "0x" };
    const size_t at = any(input_size + 1);

    switch (any(7)) {
    case 0: insert(at, 1 + any(8)); break;
    case 1: delete(at, 1 + any(8)); break;
    case 2: put_text(at, numbers[any(sizeof numbers / sizeof numbers[0])]); break;
    case 3: splice(at); break;
    case 4: delete(at, MOST_BYTES); break;
    default:
        if (at < input_size)
            input[at] = any(2) ? (uint8_t)any(256) : (uint8_t)(input[at] ^ 1 << any(8));
        break;
    }
}

static void run_random(double seconds)
{
    const double end = (double)clock() + seconds * CLOCKS_PER_SEC; /* of processor, so that load does not matter */

    while (seed_count && (runs % CHECK_TIME || (double)clock() < end)) {
        take_seed(&seeds[any((uint64_t)seed_count)]);
        for (uint64_t left = 1 + any(CHANGES); left; left--)
            change();
        run();
    }
}

int main(int argc, char **argv)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGPROF };
    double seconds = 1;

    name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    first_state = (uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid();
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "-seconds=", 9))
            seconds = atof(argv[i] + 9);
        else if (!strncmp(argv[i], "-seed=", 6))
            first_state = strtoull(argv[i] + 6, NULL, 10);
        else
            add(argv[i]);
    }
    state = first_state ? first_state : 1;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], on_crash);
    for (int i = 0; i < seed_count; i++) {
        take_seed(&seeds[i]);
        run();
    }
    if (seconds > 0)
        run_random(seconds);
    printf("%s: %llu inputs\n", name, (unsigned long long)runs);
    for (int i = 0; i < seed_count; i++)
        free(seeds[i].data);
    return 0;
}
