/* The parts of two durable jobs that test/kill kills; see job.c. */
#ifndef TEST_KILL_JOB_H
#define TEST_KILL_JOB_H

#include <gale/gale.h>
#include <stdint.h>

/* Sliding windows of the words' own time: `start` is a multiple of JOB_SLIDE. */
enum { JOB_WINDOW = 12, JOB_SLIDE = 4, JOB_LATENESS = 5, JOB_TOP = 5, JOB_COUNTERS = 3 };

/* (time, word): from lines of a time and words. */
gale_bolt job_parse(void);

/* (start, word, count): how often a word came in a window; and the stream "watermark": (mark, task). */
gale_bolt job_count(void);

/* (start, rank, word, count): the ranking of each window that is not closed, whenever the watermark has come to another
 * slide; that of a closed one once more, as the last. */
gale_bolt job_rank(void);

/* (number) and, on the stream "words", (word): from lines of a number and words. Some lines fail now and then, some are never
 * answered now and then, some always fail, some are rejected. Stateless. */
gale_bolt job_moody(void);

#endif
