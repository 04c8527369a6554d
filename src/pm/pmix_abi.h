/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. The binary interface of libpmix (PMIx 3, 4 and 5) as far as we use it: it is opened at run time, and its
 * headers need not be there when this is compiled. pmix_abi_test.c holds it against them. */
#ifndef PM_PMIX_ABI_H
#define PM_PMIX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
    PMX_SUCCESS = 0,
    PMX_LOST_CONNECTION = -61,
    PMX_NSPACE_SIZE = 256,
    PMX_KEY_SIZE = 512,
    PMX_GLOBAL = 3,        /* a scope: for all processes */
};

/* Of a value. */
enum { PMX_BOOL = 1, PMX_STRING = 3, PMX_INT = 6, PMX_UINT32 = 14 };

#define PMX_RANK_ALL (UINT32_MAX - 1) /* what is said of the job and not of one process */

#define PMX_JOB_SIZE  "pmix.job.size"
#define PMX_UNIV_SIZE "pmix.univ.size"
#define PMX_APPNUM    "pmix.appnum"
#define PMX_HOSTNAME  "pmix.hname"
#define PMX_COLLECT   "pmix.collect"
#define PMX_IMMEDIATE "pmix.immediate"

struct pmx_proc {
    char nspace[PMX_NSPACE_SIZE];
    uint32_t rank;
};

struct pmx_value {
    uint16_t type;
    union {
        _Bool flag;
        char *string;
        int integer;
        uint32_t uint32;
        uint64_t words[3];
    } data;
};

struct pmx_info {
    char key[PMX_KEY_SIZE];
    uint32_t flags;
    struct pmx_value value;
};

typedef void pmx_event_done(int status, struct pmx_info *results, size_t count, void *call, void *arg, void *own);
typedef void pmx_event(size_t id, int status, const struct pmx_proc *source, struct pmx_info *info, size_t count,
                       struct pmx_info *results, size_t result_count, pmx_event_done *done, void *arg);

/* Its functions. */
struct pmx_library {
    int (*init)(struct pmx_proc *self, struct pmx_info *info, size_t count);
    int (*finalize)(const struct pmx_info *info, size_t count);
    int (*abort)(int status, const char *message, struct pmx_proc *procs, size_t count);
    int (*put)(uint8_t scope, const char *key, struct pmx_value *value);
    int (*commit)(void);
    int (*fence)(const struct pmx_proc *procs, size_t proc_count, const struct pmx_info *info, size_t count);
    int (*get)(const struct pmx_proc *proc, const char *key, const struct pmx_info *info, size_t count,
               struct pmx_value **value);
    int (*on_event)(int *codes, size_t code_count, struct pmx_info *info, size_t count, pmx_event *handler,
                    void (*registered)(int status, size_t id, void *arg), void *arg);
    const char *(*error_string)(int status);
    void (*free)(void *memory); /* of the C library that it uses */
};

#endif
