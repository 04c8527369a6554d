/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes from another host: messages in pieces of any length come out whole, and what no message can be is refused.
 * And the lines by which a cluster learns of the others. */
#include <string.h>

#include "p4/forks.h"
#include "p4/int_hosts.h"
#include "p4/int_keeper.h"
#include "p4/int_stream.h"

enum { COUNT = 300, SPACE = 1 << 20 };

static struct control memory;
struct control *control = &memory;
struct p4_options options;

static unsigned char bytes[SPACE];
static size_t filled;
static struct envelope got;
static char place[70000];
static size_t got_len;
static int begun, ended, peers, clusters, places;

void *intake_begin(const struct envelope *e, size_t len)
{
    got = *e;
    got_len = len;
    begun++;
    return place;
}

void intake_end(void *data, int rc)
{
    CHECK(data == place && !rc);
    CHECK_INT(got.ack, (uint32_t)ended);
    CHECK_INT(got_len, ended * 37 % 3000);
    for (size_t i = 0; i < got_len; i++)
        CHECK_INT(place[i], (char)(ended + (int)i));
    ended++;
}

void p4_set_clusters(const int first[], int count)
{
    CHECK(first[0] == 0);
    clusters = count;
}

void hosts_set_peer(int id, const char *address, const char *port, const char *form)
{
    CHECK(id >= 0 && id < p4_own.total && *address && *port && *form);
    peers++;
}

void route_set_places(int first, int count, int at)
{
    CHECK(first >= 0 && first + count <= p4_own.total && at >= 0);
    places += count;
}

static void put(const void *data, size_t len)
{
    CHECK(filled + len <= SPACE);
    memcpy(bytes + filled, data, len);
    filled += len;
}

static void put_message(const struct envelope *e, size_t len)
{
    unsigned char head[STREAM_HEAD];

    stream_head(head, e, len);
    put(head, sizeof head);
    for (size_t i = 0; i < len; i++)
        put(&(char){ (char)(e->ack + i) }, 1);
}

static void put_hello(int id)
{
    unsigned char head[STREAM_HEAD];

    filled = 0;
    stream_hello(head, id);
    put(head, sizeof head);
}

/* All of it, `step` bytes at a time. */
static bool take_all(size_t step)
{
    struct stream s;
    size_t room, done = 0;

    stream_init(&s);
    while (done < filled) {
        void *to = stream_next(&s, &room);
        size_t n = filled - done < step ? filled - done : step;
        CHECK(room > 0);
        n = n < room ? n : room;
        memcpy(to, bytes + done, n);
        done += n;
        if (!stream_take(&s, n))
            return false;
    }
    return true;
}

static void test_pieces(void)
{
    put_hello(2);
    for (uint32_t i = 0; i < COUNT; i++)
        put_message(&(struct envelope){ .type = -(int)i, .from = 2, .ack = i }, i * 37 % 3000);
    for (size_t step = 1; step < 5000; step = step * 3 + 1) {
        begun = ended = 0;
        CHECK(take_all(step));
        CHECK(begun == COUNT && ended == COUNT);
    }
}

static void refuse(const struct envelope *e, uint64_t len)
{
    unsigned char head[STREAM_HEAD];

    put_hello(2);
    stream_head(head, e, len);
    put(head, sizeof head);
    begun = ended = 0;
    CHECK(!take_all(5));
    CHECK_INT(begun, 0);
}

static void test_wrong(void)
{
    refuse(&(struct envelope){ .from = 1 }, 8);                         /* somebody else's */
    refuse(&(struct envelope){ .from = 2, .kind = KIND_ACK }, 8);       /* has no bytes */
    refuse(&(struct envelope){ .from = 2, .kind = KIND_ACK + 1 }, 0);
    refuse(&(struct envelope){ .from = 2, .datatype = P4DBL + 1 }, 8);
    refuse(&(struct envelope){ .from = 2, .is_xdr = true }, 8);         /* elements of what? */
    refuse(&(struct envelope){ .from = 2 }, ((uint64_t)1 << 32) + 1);
    put_hello(p4_own.total);
    CHECK(!take_all(100));
    put_hello(-1);
    CHECK(!take_all(100));
    put_hello(1);
    bytes[3] ^= 1; /* of the key */
    CHECK(!take_all(100));
}

static bool tell(const char *text)
{
    static struct cluster_plan plan;
    char line[LINE_MAX_LEN];

    snprintf(line, sizeof line, "%s", text);
    return config_take(line, &plan, "10.0.0.1");
}

static void test_lines(void)
{
    CHECK(tell("config 2 3 7 5 4096"));
    CHECK(p4_own.id == 3 && p4_own.first == 3 && p4_own.last == 4 && p4_own.total == 7 && p4_own.debug_level == 5);
    CHECK(!tell("config 2 3 7 5") && !tell("config 0 3 7 5 4096") && !tell("config 5 3 7 5 4096"));
    CHECK(!tell("config 2147483647 3 7 5 4096") && !tell("config 1 -1 7 5 4096") && !tell("config 1 0 1025 5 4096"));
    CHECK(tell("clusters 0 3 5") && clusters == 3);
    CHECK(!tell("clusters 3") && !tell("clusters 0 5 3") && !tell("clusters 0 7") && !tell("clusters "));
    CHECK(tell("peer 6 - 1000 little4848") && tell("peer 0 10.0.0.9 1 big4848") && peers == 2);
    CHECK(!tell("peer 7 - 1000 little4848") && !tell("peer -1 - 1000 little4848") && !tell("peer 1"));
    CHECK(tell("here 5 2 3") && places == 2);
    CHECK(!tell("here 5 3 3") && !tell("here 0 0 0") && !tell("here 0 1 1024") && !tell("here -1 1 0"));
    CHECK(!tell("here "));
    CHECK(tell("xdr") && options.is_xdr_forced && tell("directory /some/where") && tell("output file") && tell("new"));
    CHECK(!strcmp(options.directory, "/some/where") && !strcmp(options.out, "file"));
}

int main(void)
{
    for (int i = 0; i < STREAM_KEY; i++)
        control->key[i] = (unsigned char)(i * 17 + 1);
    p4_own.total = 3;
    test_pieces();
    test_wrong();
    test_lines();
    return 0;
}
