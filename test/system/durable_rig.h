/* A small durable job of the whole program, in this process: a log of some lines is read, its good lines are copied
 * into files of a few lines each and counted by what they ask for, each bad one fails twice and becomes a dead letter.
 *
 * What:    a base folder with the topology, and below it `data` with everything that the job reads and writes: in, out,
 *          counts, letters, state/. An image is all of that but `in`, as it is at some moment; put back, its files have
 *          the inodes that they had, since beside them, on a shelf, they have another name for as long as the rig lasts.
 * Threads: one. Owner: durable_rig_end removes the folder. A rig that cannot work ends the program. */
#ifndef TEST_SYSTEM_DURABLE_RIG_H
#define TEST_SYSTEM_DURABLE_RIG_H

#include <stdbool.h>
#include <stddef.h>

enum { DURABLE_LINES_MAX = 400, DURABLE_SAID = 4000, DURABLE_FILES = 24, DURABLE_NAME = 40 };

typedef struct durable_run {
    int code; /* as the shell sees it */
    char said[DURABLE_SAID];
} durable_run;

typedef struct durable_image {
    int count;
    struct {
        char name[DURABLE_NAME]; /* below `data` */
        char *bytes;
        size_t size;
        unsigned long inode;
    } files[DURABLE_FILES];
} durable_image;

/* Makes the folder, and learns from a run without faults what the job has to leave. */
void durable_rig_begin(int lines);
void durable_rig_end(void);

/* The folder `data`, and the path of a file in it (until the next call). */
const char *durable_rig_data(void);
const char *durable_rig_path(const char *name);

/* Runs the job with what is there, to its end or to an error. `slowly`: at 4,000 lines a second, so that several checkpoints
 * are made. */
void durable_rig_run(bool slowly, durable_run *ret_run);

/* What a slow run leaves that dies at the half of its calls of the disk. Not while another disk is in use. */
void durable_rig_die(const durable_image *from, durable_image *ret_image);

/* What is not as a run that came to its end must leave it; NULL: nothing. */
const char *durable_rig_flaw(void);

void durable_image_take(durable_image *ret_image);
void durable_image_put(const durable_image *image); /* nothing else is there then; NULL: nothing */
void durable_image_free(durable_image *image);

#endif
