/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport ofi: the conformance suite over the software providers that are here, and over a libfabric
 * that is made up (tests/fabric), which behaves as differently as providers do; what can be wrong at the start;
 * processes that fail, leave, come anew or do not belong here. Each test is a process, for libfabric is opened once in
 * a process. */
#include "net/ofi/ofi.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "net/net_ends.h"
#include "net/ofi/int_ofi.h"

enum { LONG = 1000000 };

static struct net_head head_of(uint64_t word)
{
    return (struct net_head){ { word, 0 } };
}

/* --- which libfabric --- */

static int choose(const char *network)
{
    const struct net_ops *ops;
    bool is_firm;
    int rc;

    setenv("PARLEY_NET_FAR", network, 1);
    rc = ofi_choose(&(struct net_ops){ .name = "tcp" }, &ops, &is_firm);
    CHECK(rc || (ops == &ofi_ops) == !strncmp(network, "ofi", 3));
    return rc;
}

/* The made up one lies where it was built. */
static void use_fake(const char *words)
{
    char path[PATH_MAX + 64], own[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);

    CHECK(size > 0);
    own[size] = 0;
    *strrchr(own, '/') = 0;
    snprintf(path, sizeof path, "%s/../tests/fabric/libofi_fake.so", own);
    setenv("PARLEY_OFI_LIBRARY", path, 1);
    setenv("FAKE_FABRIC", words, 1);
    CHECK_INT(choose("ofi"), 0);
}

/* As a process of its own. */
static void apart(void (*test)(const char *arg), const char *arg)
{
    int status;
    const pid_t child = fork();

    CHECK(child >= 0);
    if (!child) {
        test(arg);
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (status)
        fprintf(stderr, "with \"%s\"\n", arg);
    CHECK_INT(status, 0);
}

static void end_open(struct end *end, struct job_head *segment, int proc, int lane, int other)
{
    end_open_by(end, &ofi_ops, config_of(segment, proc, lane), other);
}

static void *close_one(void *net)
{
    ofi_ops.close(net);
    return NULL;
}

/* Both at once: each waits for the other one's answer. */
static void close_both(struct net *a, struct net *b)
{
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, close_one, a));
    ofi_ops.close(b);
    pthread_join(thread, NULL);
}

/* --- the suite --- */

static void run_suite(int lane)
{
    const long before = mem_live();
    struct job_head *segment = segment_create(2);
    struct suite_end a, b;

    suite_open(&a, &ofi_ops, config_of(segment, 0, lane), 1);
    suite_open(&b, &ofi_ops, config_of(segment, 1, lane), 0);
    a.is_remote = b.is_remote = true;
    net_suite(&a, &b);
    net_suite(&b, &a);
    close_both(a.net, b.net);
    segment_destroy(segment);
    CHECK_INT(mem_live(), before);
}

static void test_provider(const char *network)
{
    const struct ofi_library *library;
    struct ofi_found found = { 0 };
    int rc;

    CHECK_INT(choose(network), 0);
    rc = ofi_library_open(&library);
    if (!rc)
        rc = ofi_provider_find(&found);
    ofi_provider_drop(&found);
    if (rc) {
        char text[ERR_TEXT_SIZE];
        err_text(rc, text, sizeof text);
        printf("skipped: %s: %s\n", network, text);
        return;
    }
    run_suite(0);
}

static void test_fake(const char *words)
{
    use_fake(words);
    run_suite(*words ? 0 : NET_LANES - 1);
}

/* --- records --- */

/* Long ones, from where they lie to where they belong, with short ones around them. */
static void test_long(const char *words)
{
    struct job_head *segment = segment_create(2);
    unsigned char *from = mem_alloc(LONG), *to = mem_zalloc(LONG);
    _Atomic uint32_t pending = 0;
    struct end a, b;
    int sent = 0;

    use_fake(words);
    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    b.landed = to;
    for (size_t i = 0; i < LONG; i++)
        from[i] = (unsigned char)(i * 7 + i / 1000);
    for (int i = 0; sent < 20; i++) {
        CHECK(i < 1000000);
        atomic_fetch_add(&pending, 1);
        if (ofi_ops.send_from(a.ep, head_of(1), from, sent % 4 == 3 ? 0 : LONG - (uint32_t)sent, &pending))
            atomic_fetch_sub(&pending, 1);
        else
            sent++;
        if (i % 3 == 0)
            ofi_ops.poll(b.net);
        ofi_ops.poll(a.net);
    }
    poll_until(&a, &b, &b.got, 20);
    for (int i = 0; atomic_load(&pending); i++) {
        CHECK(i < 1000000);
        ofi_ops.poll(a.net);
    }
    CHECK(!memcmp(from, to, LONG - 20));
    CHECK_INT(b.sum, 20);
    close_both(a.net, b.net);
    CHECK(a.lost == -1 && b.lost == -1);
    mem_free(from);
    mem_free(to);
    segment_destroy(segment);
}

/* An address that is not there yet is no error. */
static void test_late(const char *words)
{
    struct job_head *segment = segment_create(2);
    struct end a, b;

    use_fake(words);
    end_open(&a, segment, 0, 0, 1);
    for (int i = 0; i < 100; i++) {
        struct net_buffer buffer;
        _Atomic uint32_t pending = 1;
        CHECK_INT(ofi_ops.send(a.ep, head_of(1), "", 0), NET_AGAIN);
        CHECK_INT(ofi_ops.alloc(a.ep, &buffer), NET_AGAIN);
        CHECK_INT(ofi_ops.send_from(a.ep, head_of(1), "", 0, &pending), NET_AGAIN);
        CHECK_INT(ofi_ops.poll(a.net), 0);
    }
    end_open(&b, segment, 1, 0, 0);
    send_first(&a, &b, 7);
    poll_until(&a, &b, &b.got, 1);
    CHECK_INT(b.sum, 7);
    close_both(a.net, b.net);
    CHECK(a.lost == -1 && b.lost == -1);
    segment_destroy(segment);
}

/* What comes for a lane that is not open yet, or that nobody polls, waits and holds up no other. */
static void test_lanes(const char *words)
{
    struct job_head *segment = segment_create(2);
    static unsigned char payload[OFI_EAGER_MAX];
    struct end a[2], b[2];

    use_fake(words);
    for (int lane = 0; lane < 2; lane++)
        end_open(&a[lane], segment, 0, lane, 1);
    end_open(&b[0], segment, 1, 0, 0);
    for (int i = 0; i < 400; i++) { /* six times what the buffers take */
        for (int lane = 0; lane < 2; lane++) {
            for (int n = 0; ofi_ops.send(a[lane].ep, head_of(1), payload, sizeof payload); n++) {
                CHECK(n < 100000);
                ofi_ops.poll(a[lane].net);
                ofi_ops.poll(b[0].net);
            }
        }
    }
    poll_until(&a[0], &b[0], &b[0].got, 400);
    end_open(&b[1], segment, 1, 1, 0);
    poll_until(&a[1], &b[1], &b[1].got, 400);
    CHECK(ofi_ops.is_silent(b[1].ep));
    for (int lane = 0; lane < 2; lane++)
        close_both(a[lane].net, b[lane].net);
    segment_destroy(segment);
}

/* Process 0 owes it nothing then. */
static void close_alone(struct end *end, struct job_head *segment)
{
    job_proc(segment, 0)->tenant++;
    ofi_ops.renew(end->ep);
    job_proc(segment, 0)->tenant--;
    ofi_ops.close(end->net);
}

/* Another process gets number 1; what it sends before we are told of it waits. */
static void test_renew(const char *words)
{
    struct job_head *segment = segment_create(2);
    struct end a, b;

    use_fake(words);
    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    send_first(&a, &b, 1);
    send_first(&b, &a, 2);
    poll_until(&a, &b, &a.got, 1);
    poll_until(&a, &b, &b.got, 1);
    close(segment_fd);
    for (uint32_t tenant = 1; tenant < 4; tenant++) {
        _Atomic uint32_t pending = 0;
        close_alone(&b, segment);
        job_proc(segment, 1)->tenant = tenant;
        end_open(&b, segment, 1, 0, 0);
        send_first(&b, &a, 10);
        for (int i = 0; i < 20; i++)
            ofi_ops.poll(a.net);
        CHECK_INT(a.got, (int)tenant);
        ofi_ops.renew(a.ep);
        poll_until(&a, &b, &a.got, (int)tenant + 1);
        send_first(&a, &b, 3);
        poll_until(&a, &b, &b.got, 1);
        CHECK_INT(atomic_load(&pending), 0);
    }
    close_both(a.net, b.net);
    CHECK(a.lost == -1 && b.lost == -1);
    munmap(segment, job_transport_offset(2));
}

/* The process before was not known here, and the new one has said something before we are told of it. */
static void test_renew_late(const char *words)
{
    struct job_head *segment = segment_create(2);
    struct end a, b;

    use_fake(words);
    end_open(&a, segment, 0, 0, 1);
    job_proc(segment, 1)->tenant = 1;
    end_open(&b, segment, 1, 0, 0);
    send_first(&b, &a, 1);
    poll_until(&a, &b, &a.got, 1);
    ofi_ops.renew(a.ep);
    send_first(&b, &a, 2);
    poll_until(&a, &b, &a.got, 2);
    send_first(&a, &b, 3);
    poll_until(&a, &b, &b.got, 1);
    close_both(a.net, b.net);
    CHECK(a.lost == -1 && b.lost == -1);
    segment_destroy(segment);
}

/* Who has not the job's token is not heard. */
static void test_stranger(const char *words)
{
    struct job_head *segment = segment_create(2), *other = segment_create(2);
    struct end a, b, c;

    use_fake(words);
    other->token[1]++;
    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    end_open(&c, other, 1, 0, 0);
    memcpy(job_place(other, 0), job_place(segment, 0), sizeof(struct job_place));
    send_first(&c, &a, 7);
    send_first(&b, &a, 8);
    poll_until(&a, &b, &a.got, 1);
    CHECK(a.got == 1 && a.sum == 8 && a.lost == -1);
    close_alone(&c, other);
    close_both(a.net, b.net);
    munmap(other, job_transport_offset(2));
    segment_destroy(segment);
}

/* --- what is wrong at the start --- */

static void check_refused(int id)
{
    const long before = mem_live();
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 0, 0);
    struct net *net;

    config.sink = (struct net_sink){ .arrive = end_arrive };
    CHECK_INT(err_id(ofi_ops.open(&config, &net)), id);
    CHECK_INT(job_place(segment, 0)->address[JOB_OFI].size, 0);
    segment_destroy(segment);
    CHECK_INT(mem_live(), before);
}

static void test_no_library(const char *path)
{
    setenv("PARLEY_OFI_LIBRARY", path, 1);
    CHECK_INT(choose("ofi"), 0);
    check_refused(366);
}

static void test_refused(const char *words)
{
    use_fake(words);
    check_refused(367);
}

static void test_no_memory(const char *words)
{
    struct job_head *segment = segment_create(2);
    struct net_config config = config_of(segment, 0, 0);
    struct net *net = NULL;

    use_fake(words);
    config.sink = (struct net_sink){ .arrive = end_arrive };
    for (long n = 0; !net; n++) {
        CHECK(n < 1000);
        mem_fail_after(n);
        if (ofi_ops.open(&config, &net))
            net = NULL;
        mem_fail_after(-1);
    }
    ofi_ops.close(net);
    segment_destroy(segment);
}

static void test_choice(const char *words)
{
    (void)words;
    CHECK_INT(choose("tcp"), 0);
    CHECK_INT(err_id(choose("infiniband")), 369);
    CHECK_INT(err_id(choose("")), 369);
    CHECK_INT(err_id(choose("ofi:")), 369);
    CHECK(ofi_is_fabric("verbs;ofi_rxm") && ofi_is_fabric("efa") && ofi_is_fabric("psm2") && ofi_is_fabric("cxi"));
    CHECK(!ofi_is_fabric("tcp;ofi_rxm") && !ofi_is_fabric("sockets") && !ofi_is_fabric("psm22") &&
          !ofi_is_fabric("verb") && !ofi_is_fabric("shm") && !ofi_is_fabric("udp;ofi_rxd"));
    if (!ofi_has_device(OFI_DEVICES))
        CHECK_INT(choose("auto"), 0);
    use_fake("name=verbs;ofi_rxm");
    CHECK_INT(choose("ofi:verbs;ofi_rxm"), 0);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

/* Which devices count, by what the system says of them. */
static void test_devices(const char *none)
{
    char root[] = "/tmp/ofi_test_XXXXXX", port[PATH_MAX] = "", command[PATH_MAX];

    (void)none;
    CHECK(mkdtemp(root) && !ofi_has_device(root));
    snprintf(port, sizeof port, "%s/infiniband/mlx5_0/ports/1", root);
    snprintf(command, sizeof command, "mkdir -p %s", port);
    CHECK(!system(command) && !ofi_has_device(root));
    write_file(port, "state", "4: ACTIVE\n");
    write_file(port, "link_layer", "Ethernet\n");
    CHECK(!ofi_has_device(root));
    write_file(port, "link_layer", "InfiniBand\n");
    CHECK(ofi_has_device(root));
    write_file(port, "state", "1: DOWN\n");
    CHECK(!ofi_has_device(root));
    snprintf(command, sizeof command, "mkdir -p %s/cxi/cxi0", root);
    CHECK(!system(command) && ofi_has_device(root));
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(!system(command));
}

/* --- processes that do not fit, fail or leave --- */

/* What is sent after that is taken and forgotten. */
static void check_forgets(struct end *a)
{
    _Atomic uint32_t pending = 1;
    struct net_buffer buffer;

    CHECK_INT(ofi_ops.send(a->ep, head_of(1), "x", 1), 0);
    CHECK_INT(ofi_ops.send_from(a->ep, head_of(1), "x", 1, &pending), 0);
    CHECK_INT(atomic_load(&pending), 0);
    CHECK(!ofi_ops.alloc(a->ep, &buffer) && !ofi_ops.commit(a->ep, head_of(1), &buffer, 100));
    for (int i = 0; i < 10; i++)
        ofi_ops.poll(a->net);
}

/* Process 1 has published something else than process 0 can use. */
static void misfit(size_t at, unsigned char value, int id)
{
    struct job_head *segment = segment_create(2);
    struct job_address *address = &job_place(segment, 1)->address[id == 368 && !at ? JOB_TCP : JOB_OFI];
    struct end a;

    end_open(&a, segment, 0, 0, 1);
    memcpy(address->bytes, job_place(segment, 0)->address[JOB_OFI].bytes, sizeof address->bytes);
    address->bytes[at] = value;
    atomic_store(&address->size, job_address_size(&job_place(segment, 0)->address[JOB_OFI]));
    CHECK_INT(ofi_ops.send(a.ep, head_of(1), "", 0), 0);
    poll_until(&a, NULL, &a.lost, 1);
    check_lost(&a, id);
    check_forgets(&a);
    ofi_ops.close(a.net);
    segment_destroy(segment);
}

static void test_misfits(const char *words)
{
    use_fake(words);
    misfit(0, 1, 368);           /* TCP's */
    misfit(1, 4, 364);           /* 32 bits */
    misfit(2, 200, 364);         /* a name beyond the end */
    misfit(4, 'F', 368);         /* another provider */
    misfit(8 + 7, 1, 362);       /* an address that libfabric does not take */
}

/* Sending fails, now or later; `words` ends with what the message must tell. */
static void test_failure(const char *words)
{
    struct job_head *segment = segment_create(2);
    static unsigned char payload[OFI_EAGER_MAX];
    char text[ERR_TEXT_SIZE];
    struct end a, b;

    use_fake(words);
    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    for (int i = 0; a.lost < 0; i++) {
        _Atomic uint32_t pending = 1;
        CHECK(i < 1000);
        (void)ofi_ops.send(a.ep, head_of(1), payload, i % 2 ? 10 : sizeof payload);
        (void)ofi_ops.send(b.ep, head_of(1), payload, 10);
        (void)pending;
        ofi_ops.poll(a.net);
        if (!strstr(words, "dead"))
            ofi_ops.poll(b.net);
    }
    check_lost(&a, 362);
    err_text(a.lost_rc, text, sizeof text);
    if (!strstr(text, strchr(words, '|') + 1))
        printf("%s\n", text);
    CHECK(strstr(text, strchr(words, '|') + 1));
    check_forgets(&a);
    setenv("FAKE_FABRIC", "", 1);
    close_alone(&b, segment);
    ofi_ops.close(a.net);
    segment_destroy(segment);
}

/* Process 1 leaves, having said so. */
static void test_leaving(const char *words)
{
    struct job_head *segment = segment_create(2);
    pthread_t thread;
    struct end a, b;

    use_fake(words);
    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    send_first(&a, &b, 1);
    send_first(&b, &a, 2);
    poll_until(&a, &b, &b.got, 1);
    CHECK(!pthread_create(&thread, NULL, close_one, b.net));
    for (int i = 0; !((struct ofi_peer *)(void *)a.ep)->has_left; i++) {
        CHECK(i < PATIENCE_MS);
        ofi_ops.poll(a.net);
        ready_wait(ofi_ops.wait_fd(a.net), 1);
    }
    ofi_ops.poll(a.net);
    pthread_join(thread, NULL);
    CHECK(a.lost == -1 && a.got == 1);
    CHECK_INT(ofi_ops.send(a.ep, head_of(1), "", 0), 0);
    poll_until(&a, NULL, &a.lost, 1);
    check_lost(&a, 362);
    ofi_ops.close(a.net);
    segment_destroy(segment);
}

/* While memory runs out now and then, nothing is lost. */
static void test_scarce(const char *words)
{
    struct job_head *segment = segment_create(2);
    static unsigned char payload[20000];
    struct end a, b;
    int sent = 0;

    use_fake(words);
    end_open(&a, segment, 0, 0, 1);
    end_open(&b, segment, 1, 0, 0);
    for (int i = 0; sent < 2000; i++) {
        CHECK(i < 1000000);
        mem_fail_after(i % 7);
        sent += !ofi_ops.send(a.ep, head_of(1), payload, (uint32_t)(i * 37) % sizeof payload);
        ofi_ops.poll(b.net);
        mem_fail_after(-1);
        ofi_ops.poll(a.net);
    }
    poll_until(&a, &b, &b.got, 2000);
    close_both(a.net, b.net);
    segment_destroy(segment);
}

int main(int argc, char **argv)
{
    static const char *const fakes[] = {
        "", "mr,iov", "nofd,apart,inject=100", "odd,inject=5000", "shuffle", "again,shuffle,mr", "unordered,odd,again",
    };

    (void)argv;
    for (size_t i = 0; i < ARRAY_LEN(fakes); i++) {
        apart(test_fake, fakes[i]);
        apart(test_long, fakes[i]);
        apart(test_scarce, fakes[i]);
    }
    apart(test_lanes, "");
    apart(test_lanes, "shuffle,apart,again");
    apart(test_late, "");
    apart(test_renew, "");
    apart(test_renew_late, "");
    apart(test_stranger, "");
    apart(test_no_library, "/nowhere/libfabric.so.1");
    apart(test_no_library, "libm.so.6");
    apart(test_refused, "none");
    apart(test_refused, "short");
    apart(test_refused, "long");
    apart(test_refused, "nodomain");
    apart(test_no_memory, "mr");
    apart(test_choice, "");
    apart(test_devices, "");
    apart(test_misfits, "");
    apart(test_failure, "deny|fake is broken: a message cannot be sent: No route to host");
    apart(test_failure, "fail=5|a message has not arrived: Input/output error: cable 7 is loose");
    apart(test_failure, "truncated|a message has not been received: Truncation: cable 7 is loose");
    apart(test_failure, "dead|its queue of completions cannot be read: Input/output error");
    apart(test_leaving, "");
    apart(test_provider, "ofi:tcp;ofi_rxm");
    if (argc > 1) /* it loses datagrams, and takes its time then */
        apart(test_provider, "ofi:udp;ofi_rxd");
    return 0;
}
