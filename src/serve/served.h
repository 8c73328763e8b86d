/* What is served: a running topology, what is remembered of it, and what may be done to it. All who answer look at this.
 *
 * Threads: made before a door opens; what changes in it has its own lock. Owner: the server.
 */
#ifndef GX_SERVE_SERVED_H
#define GX_SERVE_SERVED_H

#include "base/atomic.h"
#include "base/json.h"
#include "serve/http.h"
#include "serve/snapshot.h"

#include <pthread.h>

/* What a run that is changed is to go on with: its file as it is by now, with these words of -c, --set and --state-adopt laid over what the run was
 * begun with. */
enum { GX_WISH_WORDS_MAX = 64 };

typedef struct gx_wish_words {
    const char *items[GX_WISH_WORDS_MAX];
    size_t count;
} gx_wish_words;

typedef struct gx_wish {
    gx_wish_words settings, sets, adopt;
    bool forget; /* first, what earlier changes have laid over the file */
} gx_wish;

typedef enum gx_changing_state {
    GX_CHANGING_NONE, /* nothing was asked yet */
    GX_CHANGING_ASKED,
    GX_CHANGING_CHECKING,
    GX_CHANGING_STOPPING,
    GX_CHANGING_STARTING,
    GX_CHANGING_DONE,
    GX_CHANGING_REFUSED, /* what ran goes on, or was begun again */
} gx_changing_state;

/* From where it goes on, changed or as it was. */
typedef enum gx_changing_begun {
    GX_BEGUN_NOT,       /* it was not stopped */
    GX_BEGUN_SAVED,     /* a checkpoint: nothing is lost */
    GX_BEGUN_WITH_NONE, /* no state is kept: what was in memory is lost */
} gx_changing_begun;

/* How far the last one is. */
typedef struct gx_changing {
    gx_changing_state state;
    gx_changing_begun begun;
    uint64_t number;            /* of it, from 1 */
    int64_t stood_still;        /* ns that spouts did, once it is done */
    char text[GALE_ERROR_TEXT]; /* why it was refused */
    char laid
        [GALE_ERROR_TEXT]; /* what changes have laid over the file, in a command line's words; what does not fit is cut */
} gx_changing;

/* What the process does beside running the topology. Functions may be NULL: then it is refused. Called on a door's thread; must not wait. */
typedef struct gx_deeds {
    void *user;
    void *ending;                        /* of this; is never NULL */
    void (*end)(void *ending, bool now); /* the run ends as SIGTERM ends it, or at once as the second one does */
    void *log;                           /* of these two */
    const char *(*log_level)(void *log); /* its name; a literal */
    bool (*set_log_level)(void *log, gale_str to); /* false: there is none of this name */
    int (*change)(void *user, const gx_wish *wish,
                  gale_error *error); /* copies it; GALE_AGAIN: another one is on its way, or the run's end is */
    void (*changing)(void *user, gx_changing *ret_now);
} gx_deeds;

/* In the order in which they are shown. */
typedef enum gx_served_door { GX_SERVED_CONTROL, GX_SERVED_LISTEN, GX_SERVED_DOORS } gx_served_door;

typedef struct gx_served {
    pthread_rwlock_t
        guard; /* who looks at the runtime, its topology, parts and history reads; who changes them writes */
    gale_runtime *runtime; /* NULL: another one is on its way */
    const gale_topology *topology;
    const char *file;     /* the topology's, or NULL */
    int64_t started;      /* ns since 1970 */
    int64_t started_time; /* monotonic */
    gx_parts parts;
    gx_deeds deeds;
    gx_atomic32 inactive; /* spouts were told to pause */
    struct gx_history *history;
    gale_logger logger;
    struct gx_debug *debug;
    uint32_t port; /* that it listens at; 0: none */
    struct gx_tappers *tappers;
    struct gx_enders *enders;
    gx_http *doors[GX_SERVED_DOORS]; /* open ones; the guard's, as the runtime is */
} gx_served;

enum { GX_CALL_NAMES = 4 };

/* A request that was let in, and found its route. */
typedef struct gx_call {
    gx_served *served;
    const gx_target *target;
    gale_str names[GX_CALL_NAMES]; /* what stands in the path where the route has a name */
    gale_str accept;               /* the header Accept */
    gale_str body;
    bool known; /* by the token: may hear more than a word */
} gx_call;

typedef void gx_call_fn(const gx_call *call, gx_http_reply *reply);

/* ns from one checkpoint to the next. */
int64_t gx_served_checkpoint_interval(const gx_served *served);

/* {"error": sentence}, with HTTP's status. */
void gx_call_refuse(gx_http_reply *reply, unsigned status, const char *format, ...) GALE_PRINTF(3, 4);

/* The number in the query, `otherwise` when it is not there; false, with a refusal, when it is none between `least` and `most`. */
bool gx_call_number(const gx_call *call, gx_http_reply *reply, const char *name, uint64_t otherwise, uint64_t least,
                    uint64_t most, uint64_t *ret_number);

/* `text` as JSON, borrowed from it; false, with a refusal. */
bool gx_call_body(gx_http_reply *reply, gale_str text, gale_str *ret_json);

/* Has the object no members but these (the list ends with NULL), and none twice? False, with a refusal that names one. */
bool gx_call_only(gx_http_reply *reply, gale_str body, const char *const *names);

/* A JSON object in the body, its only member `name`, a string: copied to `to`. False, with a refusal. */
bool gx_call_text(const gx_call *call, gx_http_reply *reply, const char *name, char *to, size_t room);

/* JSON goes to the reply from here on. */
gx_json gx_call_json(gx_http_reply *reply);

/* {"done": what} */
void gx_call_done(gx_http_reply *reply, const char *what);

#endif
