/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between a debugger and the library that knows the message queues of an MPI, written from its
 * description (Cownie, Gropp: A Standard Interface for Debugger Access to Message Queue Information in MPI, 1999; MPI
 * Forum tools group: The MPIR Message Queue Display, 2013). Names, types and the order of members are the interface's.
 *
 *   the debugger   loads the library, gives it tables of functions, asks for communicators and operations
 *   the library    reads the process through those functions only, and keeps what it knows with the debugger's objects
 *
 * Everything happens in the debugger's process. Functions return mqs_ok or another code. */
#ifndef TOOLS_MQS_INTERFACE_H
#define TOOLS_MQS_INTERFACE_H

#include <stddef.h>

enum { MQS_INTERFACE_COMPATIBILITY = 2, MQS_INVALID_PROCESS = -1 };

enum { mqs_ok = 0, mqs_no_information = 1, mqs_end_of_list = 2, mqs_first_user_code = 100 };

typedef unsigned long mqs_taddr_t; /* an address in the process */
typedef long mqs_tword_t;

/* The library's, and the debugger's, own. */
typedef struct _mqs_image_info mqs_image_info;
typedef struct _mqs_process_info mqs_process_info;
typedef struct mqs_image_ mqs_image;
typedef struct mqs_process_ mqs_process;
typedef struct mqs_type_ mqs_type;

typedef struct {
    int short_size, int_size, long_size, long_long_size, pointer_size;
} mqs_target_type_sizes;

typedef enum { mqs_lang_c = 'c', mqs_lang_cplus = 'C', mqs_lang_f77 = 'f', mqs_lang_f90 = 'F' } mqs_lang_code;

typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;

enum mqs_status { mqs_st_pending, mqs_st_matched, mqs_st_complete };

typedef struct {
    mqs_taddr_t unique_id;
    mqs_tword_t local_rank; /* of the process */
    mqs_tword_t size;
    char name[64];
} mqs_communicator;

typedef struct {
    int status;                      /* enum mqs_status */
    mqs_tword_t desired_local_rank;  /* -1: any */
    mqs_tword_t desired_global_rank; /* in MPI_COMM_WORLD */
    int tag_wild;
    mqs_tword_t desired_tag;         /* unless tag_wild */
    mqs_tword_t desired_length;      /* bytes */
    int system_buffer;               /* not the user's */
    mqs_taddr_t buffer;
    mqs_tword_t actual_local_rank;   /* these four: matched, or a send, or a message */
    mqs_tword_t actual_global_rank;
    mqs_tword_t actual_tag;
    mqs_tword_t actual_length;
    char extra_text[5][64];          /* shown as it is, up to the first empty one */
} mqs_pending_operation;

/* What the debugger does for the library. */
typedef struct mqs_basic_callbacks {
    void *(*mqs_malloc_fp)(size_t);
    void (*mqs_free_fp)(void *);
    void (*mqs_dprints_fp)(const char *);
    char *(*mqs_errorstring_fp)(int);
    void (*mqs_put_image_info_fp)(mqs_image *, mqs_image_info *);
    mqs_image_info *(*mqs_get_image_info_fp)(mqs_image *);
    void (*mqs_put_process_info_fp)(mqs_process *, mqs_process_info *);
    mqs_process_info *(*mqs_get_process_info_fp)(mqs_process *);
} mqs_basic_callbacks;

typedef struct mqs_image_callbacks {
    void (*mqs_get_type_sizes_fp)(mqs_process *, mqs_target_type_sizes *);
    int (*mqs_find_function_fp)(mqs_image *, char *, mqs_lang_code, mqs_taddr_t *);
    int (*mqs_find_symbol_fp)(mqs_image *, char *, mqs_taddr_t *);
    mqs_type *(*mqs_find_type_fp)(mqs_image *, char *, mqs_lang_code);
    int (*mqs_field_offset_fp)(mqs_type *, char *);
    int (*mqs_sizeof_fp)(mqs_type *);
} mqs_image_callbacks;

typedef struct mqs_process_callbacks {
    int (*mqs_get_global_rank_fp)(mqs_process *);
    mqs_image *(*mqs_get_image_fp)(mqs_process *);
    int (*mqs_fetch_data_fp)(mqs_process *, mqs_taddr_t, int, void *); /* bytes as they are in the process */
    void (*mqs_target_to_host_fp)(mqs_process *, const void *, void *, int);
} mqs_process_callbacks;

/* What the library does for the debugger. Tables stay the debugger's, and valid. */
void mqs_setup_basic_callbacks(const mqs_basic_callbacks *table);
const char *mqs_version_string(void);
int mqs_version_compatibility(void);
int mqs_dll_taddr_width(void);
const char *mqs_dll_error_string(int code);

/* Once for each file that is debugged. *message, if any: printf format for people, its argument the file's name. */
int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *table);
int mqs_image_has_queues(mqs_image *image, const char **message);
void mqs_destroy_image_info(mqs_image_info *info);

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *table);
int mqs_process_has_queues(mqs_process *process, char **message);
void mqs_destroy_process_info(mqs_process_info *info);

/* To be called whenever the process has run. */
int mqs_update_communicator_list(mqs_process *process);
int mqs_setup_communicator_iterator(mqs_process *process);
int mqs_get_communicator(mqs_process *process, mqs_communicator *out);
int mqs_get_comm_group(mqs_process *process, int *world_ranks); /* as many as the communicator has */
int mqs_next_communicator(mqs_process *process);                /* mqs_end_of_list: there is no current one */

/* Those of the current communicator; `op_class`: mqs_op_class. */
int mqs_setup_operation_iterator(mqs_process *process, int op_class);
int mqs_next_operation(mqs_process *process, mqs_pending_operation *out);

#endif
