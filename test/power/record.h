/* What test/power/shim.c writes down and recording.py reads: a record, then its name, its other name, its data. */
#ifndef TEST_POWER_RECORD_H
#define TEST_POWER_RECORD_H

#include <stdint.h>

typedef enum record_kind {
    RECORD_MAKE =
        1,         /* `file`, of `mode`, is made, as `name` in `folder` (0: without one); a link's target is its data */
    RECORD_LINK,   /* it has the name, too */
    RECORD_UNLINK, /* the name is gone, also a folder's */
    RECORD_RENAME, /* `name` in `folder` is `other_name` in `other_folder` now; `other`: and that one took its place */
    RECORD_WRITE,  /* the data is in `file` at `offset` */
    RECORD_CUT,    /* it is `offset` bytes long */
    RECORD_SYNC_BEGINS, /* the sync of that number (`other`) of `file` begins (0: of everything) */
    RECORD_SYNC,        /* it is over: what came before its begin lasts; number 0: what came before this record */
    RECORD_TOLD,        /* the data goes to the standard output */
    RECORD_UNSEEN,      /* `file` is mapped for writing: what becomes of it is not seen */
} record_kind;

typedef struct record {
    uint32_t size; /* of all */
    uint32_t kind;
    uint64_t file, folder, other, other_folder; /* inodes */
    int64_t offset;
    uint32_t mode, name_size, other_name_size, data_size;
} record;

#endif
