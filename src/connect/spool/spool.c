#include "connect/spool/spool.h"

#include "base/os/folder.h"
#include "base/os/time.h"
#include "connect/spool/opening.h"

#include <stdio.h>
#include <string.h>

/* --- Those that are open --------------------------------------------------------------------------------------------- */

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static gx_spool *list; /* of the process, whose folders they are */

static gx_spool *find(const char *path) {
    for (gx_spool *s = list; s; s = s->next)
        if (strcmp(s->path.data, path) == 0) return s;
    return NULL;
}

static void unlist(const gx_spool *spool) {
    for (gx_spool **at = &list; *at; at = &(*at)->next) {
        if (*at != spool) continue;
        *at = spool->next;
        return;
    }
}

/* --- The thread ------------------------------------------------------------------------------------------------------ */

#define MARK_EVERY GALE_SECOND

static void fail(gx_spool *s, int rc, const gale_error *why) {
    s->failed = rc;
    s->why = *why;
    s->ending = true;
}

/* With the monitor held, which it lets go meanwhile. */
static void do_work(gx_spool *s, int (*work)(gx_spool_log *log, gale_error *error)) {
    gale_error error = GALE_ERROR_INIT;
    gx_monitor_unlock(&s->log.monitor);
    int rc = work(&s->log, &error);
    gx_monitor_lock(&s->log.monitor);
    if (rc < 0) fail(s, rc, &error);
    gx_wake_ring(&s->wakes[GX_SPOOL_SINK]);
}

/* With the monitor held, and so is the next. */
static void feed(gx_spool *s) {
    if (s->hungry) gx_wake_ring(&s->wakes[GX_SPOOL_SPOUT]);
    s->hungry = false;
}

/* Records that come closely share a sync. */
static void gather(gx_spool *s) {
    int64_t until = gx_os_monotonic() + GX_SPOOL_GATHER;
    s->gathering = s->log.written - s->log.safe >= GX_SPOOL_FEW;
    while (s->gathering && !s->ending && gx_spool_log_unsafe(&s->log) < GX_SPOOL_BATCH) {
        int64_t left = until - gx_os_monotonic();
        s->gathering = left > 0 && gx_monitor_wait(&s->log.monitor, left);
    }
    s->gathering = false;
}

static void *work(void *user) {
    gx_spool *s = user;
    int64_t due = gx_os_monotonic() + MARK_EVERY;
    gx_monitor_lock(&s->log.monitor);
    while (!s->ending) {
        bool news = s->log.position != s->log.marked;
        int64_t now = gx_os_monotonic();
        if (!s->durable && gx_spool_log_is_behind(&s->log)) {
            gather(s);
            do_work(s, gx_spool_log_sync);
            feed(s);
        } else if (gx_spool_log_can_forget(&s->log) || (news && now >= due)) {
            do_work(s, gx_spool_log_forget);
            due = gx_os_monotonic() + MARK_EVERY;
        } else {
            (void)gx_monitor_wait(&s->log.monitor, news ? due - now : -1);
        }
    }
    gx_monitor_unlock(&s->log.monitor);
    return NULL;
}

void gx_spool_stir(gx_spool *spool) {
    gx_monitor_lock(&spool->log.monitor);
    gx_monitor_notify(&spool->log.monitor);
    gx_monitor_unlock(&spool->log.monitor);
}

void gx_spool_wrote(gx_spool *spool) {
    gx_monitor_lock(&spool->log.monitor);
    if (spool->durable)
        feed(spool);
    else if (!spool->gathering || gx_spool_log_unsafe(&spool->log) >= GX_SPOOL_BATCH)
        gx_monitor_notify(&spool->log.monitor);
    gx_monitor_unlock(&spool->log.monitor);
}

static void end_thread(gx_spool *s) {
    gx_monitor_lock(&s->log.monitor);
    s->ending = true;
    gx_monitor_notify(&s->log.monitor);
    gx_monitor_unlock(&s->log.monitor);
    if (s->thread.started) (void)gx_thread_join(&s->thread, -1);
}

/* --- Joining --------------------------------------------------------------------------------------------------------- */

static void free_spool(gx_spool *s) {
    for (int i = 0; i < GX_SPOOL_ROLES; i++) gx_wake_fini(&s->wakes[i]);
    gx_buf_fini(&s->path);
    gx_heap heap = s->heap; /* it is in the block that it frees */
    gx_free(&heap, GX_TAG_OTHER, s, sizeof *s);
}

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "disk buffer: out of memory");
}

static gx_spool *make(const char *path) {
    gx_heap heap;
    gx_heap_init(&heap, NULL); /* it may outlive the run of the one who opened it */
    gx_spool *s = gx_alloc(&heap, GX_TAG_OTHER, sizeof *s);
    if (!s) return NULL;
    s->heap = heap;
    s->path = (gx_buf)GX_BUF_INIT(&s->heap);
    for (int i = 0; i < GX_SPOOL_ROLES; i++) s->wakes[i].fd = -1;
    gx_buf_add_text(&s->path, path);
    bool done = gx_buf_text(&s->path) != NULL;
    for (int i = 0; i < GX_SPOOL_ROLES && done; i++) done = gx_wake_init(&s->wakes[i]);
    if (done) return s;
    free_spool(s);
    return NULL;
}

static int open_spool(const char *path, const gale_context *context, gx_spool **ret, gale_error *error) {
    gx_spool *s = make(path);
    if (!s) return no_memory(error);
    s->durable = context->durable;
    const gx_spool_owner owner = { context->task_index, context->task_count, context->durable };
    int rc = gx_spool_log_open(&s->log, &s->heap, s->path.data, &owner, error);
    bool full = rc < 0 && s->log.full;
    if (rc == 0) {
        s->log.at_once = context->durable;
        if (!gx_thread_start(&s->thread, "disk-buffer", work, s)) {
            gx_spool_log_close(&s->log);
            rc = gale_error_set(error, GALE_NO_MEMORY, "disk buffer: no thread can be started");
        }
    }
    if (rc < 0) {
        free_spool(s);
        return full ? GALE_AGAIN : rc;
    }
    s->next = list;
    list = s;
    *ret = s;
    return 0;
}

static int join(const char *path, const gale_context *context, gx_spool_role role, gx_spool **ret, gale_error *error) {
    gx_spool *s = find(path);
    if (s && (s->joined[role] || s->log.tasks != context->task_count || s->durable != context->durable))
        return gale_error_set(
            error, GALE_STATE,
            "disk buffer '%s': %s; each buffer has a folder of its own, one bolt and one spout, with the "
            "same number of tasks",
            path, s->joined[role] ? "is in use by this process already" : "is shared by others");
    int rc = s ? 0 : open_spool(path, context, &s, error);
    if (rc < 0) return rc;
    s->joined[role] = true;
    s->uses++;
    *ret = s;
    return 0;
}

static int find_records(void *user, const char *name) {
    (void)user;
    size_t size = strlen(name);
    return size > 6 && strcmp(name + size - 6, ".spool") == 0;
}

/* Tasks that there are no more have left nothing. */
static int check_others(const char *folder, const gale_context *context, gx_buf *path, gale_error *error) {
    if (context->task_index) return 0;
    gx_buf_reset(path);
    gx_buf_format(path, "%s/%u", folder, context->task_count);
    if (!gx_buf_text(path)) return no_memory(error);
    if (gx_folder_look(path->data, NULL) != GALE_OK) return 0;
    int rc = gx_folder_each(path->data, "", find_records, NULL, error);
    if (rc <= 0) return rc;
    return gale_error_set(error, GALE_STATE,
                          "disk buffer '%s': has records of a task that there is not any more; run it with a higher "
                          "parallelism until it is empty",
                          path->data);
}

int gx_spool_join(const char *folder, const gale_context *context, gx_spool_role role, gx_spool **ret_spool,
                  gale_error *error) {
    gx_buf path = GX_BUF_INIT(NULL);
    int rc = check_others(folder, context, &path, error);
    gx_buf_reset(&path);
    gx_buf_format(&path, "%s/%u", folder, context->task_index);
    if (rc == 0 && !gx_buf_text(&path)) rc = no_memory(error);
    pthread_mutex_lock(&list_mutex);
    if (rc == 0) rc = join(path.data, context, role, ret_spool, error);
    pthread_mutex_unlock(&list_mutex);
    gx_buf_fini(&path);
    return rc;
}

void gx_spool_report(const gale_context *context, gale_collector *out, const gale_error *why) {
    if (!why->length) return;
    if (strlen(why->text) > GALE_FAILURE_TEXT)
        gale_log(context->logger, GALE_LOG_ERROR, context->component, "%s", why->text);
    gale_report(out, why->text);
}

/* Those that a stream's `buffer` becomes have names that go together (front/buffer.c). */
static const char *name_other(const char *id, char *other, size_t size) {
    static const char ends[][8] = { "-buffer", "-drain" };
    size_t length = strlen(id);
    for (int i = 0; i < 2; i++) {
        size_t end = strlen(ends[i]);
        if (length <= end || strcmp(id + length - end, ends[i]) != 0) continue;
        snprintf(other, size, "%.*s%s", (int)(length - end), id, ends[1 - i]);
        return other;
    }
    return "THE-OTHER";
}

void gx_spool_report_apart(const gale_context *context, gale_collector *out, const gale_error *why) {
    char other[256];
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, why->code, "%s; to go on: gale state reset DIR --component %s --component %s", why->text,
                   context->component, name_other(context->component, other, sizeof other));
    gx_spool_report(context, out, &error);
}

void gx_spool_keep(gx_spool *spool) {
    pthread_mutex_lock(&list_mutex);
    spool->uses++;
    pthread_mutex_unlock(&list_mutex);
}

void gx_spool_drop(gx_spool *spool) {
    pthread_mutex_lock(&list_mutex);
    bool last = --spool->uses == 0;
    if (last) {
        end_thread(spool);
        gx_spool_log_close(&spool->log);
        unlist(spool);
    }
    pthread_mutex_unlock(&list_mutex);
    if (last) free_spool(spool);
}

void gx_spool_leave(gx_spool *spool, gx_spool_role role) {
    gx_monitor_lock(&spool->log.monitor);
    if (role == GX_SPOOL_SPOUT) spool->asleep = false;
    gx_monitor_unlock(&spool->log.monitor);
    pthread_mutex_lock(&list_mutex);
    spool->joined[role] = false;
    pthread_mutex_unlock(&list_mutex);
    gx_spool_ring(spool, GX_SPOOL_SINK);
    gx_spool_drop(spool);
}

/* --- Between the two ------------------------------------------------------------------------------------------------- */

void gx_spool_ring(gx_spool *spool, gx_spool_role role) {
    gx_wake_ring(&spool->wakes[role]);
}

int gx_spool_safe(gx_spool *spool, uint64_t *ret_safe, bool *ret_asleep, gale_error *error) {
    gx_monitor_lock(&spool->log.monitor);
    int rc = spool->failed;
    if (rc < 0 && error) *error = spool->why;
    *ret_safe = spool->log.safe;
    *ret_asleep = spool->asleep && spool->slept < spool->log.safe;
    gx_monitor_unlock(&spool->log.monitor);
    return rc;
}

void gx_spool_hunger(gx_spool *spool) {
    gx_monitor_lock(&spool->log.monitor);
    spool->hungry = true;
    gx_monitor_unlock(&spool->log.monitor);
}

bool gx_spool_sleep(gx_spool *spool, uint64_t number) {
    gx_monitor_lock(&spool->log.monitor);
    spool->asleep = number >= spool->log.safe;
    spool->slept = number;
    bool asleep = spool->asleep;
    gx_monitor_unlock(&spool->log.monitor);
    return asleep;
}

void gx_spool_woken(gx_spool *spool) {
    gx_monitor_lock(&spool->log.monitor);
    bool was = spool->asleep;
    spool->asleep = false;
    gx_monitor_unlock(&spool->log.monitor);
    if (was) gx_spool_ring(spool, GX_SPOOL_SINK);
}

void gx_spool_answered(gx_spool *spool, uint64_t position) {
    if (gx_spool_log_answered(&spool->log, position)) gx_spool_stir(spool);
}
