/* The shapes of gale's own answers (serve/shape.h): what docs/reference/serving.md tells in words. */
#ifndef GX_SERVE_SHAPES_H
#define GX_SERVE_SHAPES_H

#define GX_SHAPE_LATENCY "{count:i, mean:n?, p50:n?, p90:n?, p99:n?, max:n?}?"
#define GX_SHAPE_HEALTH "{live:b, ready:b, problems:[{component:s?, text:s, since:n?}]}"
#define GX_SHAPE_DONE "{done:s}"

#define GX_SHAPE_CHECKPOINT                                                                                            \
    "{number:i, resumed:i, count:i, put_off:i, age:n?, took:n, took_p50:n, took_p99:n, took_max:n, held:n, "           \
    "held_p50:n, "                                                                                                     \
    "held_p99:n, held_max:n, bytes:i, bytes_max:i, dropped:i, again:i, owed:n, complete:b}?"

#define GX_SHAPE_TOPOLOGY                                                                                              \
    "{name:s, version:s, pid:i, started:n, file:s?, durable:b, executors:i, "                                          \
    "components:[{name:s, kind:s, class:s?, tasks:i, streams:[{name:s, fields:[s]}]}], "                               \
    "edges:[{id:i, from:s, stream:s, to:s, grouping:s, fields:[s], drop:s?}], configuration:{*:?}, "                   \
    "drawing:{width:i, height:i, nodes:[{component:s, x:i, y:i, width:i, height:i}], edges:[{edge:i, points:[[i]], "   \
    "label:[i], back:b}]}?}"

#define GX_SHAPE_COUNTS "executed:i, emitted:i, transferred:i, acked:i, failed:i, timed_out:i, rejected:i, stopped:i, "

#define GX_SHAPE_COMPONENT                                                                                             \
    "{name:s, " GX_SHAPE_COUNTS "expired:i, shed:i, overflowed:i, dropped:i, errors:i, ticks:i, held:i, "              \
    "queued_bytes:i, queued_bytes_max:i, capacity:n, execute:" GX_SHAPE_LATENCY ", process:" GX_SHAPE_LATENCY ", "     \
    "failures:[{reason:s, count:i}], done:b, held_by:{component:s, index:i, share:n, since:n?}?, pending_share:n, "    \
    "pending_limit:i?, rate:n?, "                                                                                      \
    "unwell:[{task:i, since:n, text:s}], metrics:[{name:s, kind:s, labels:{*:s}, help:s, "                             \
    "tasks:i, value:?}]}"

#define GX_SHAPE_TASK                                                                                                  \
    "{task:i, component:s, index:i, executor:i, " GX_SHAPE_COUNTS                                                      \
    "held:i, queued_bytes:i, queued_bytes_max:i, busy_share:n, execute:" GX_SHAPE_LATENCY "}"

#define GX_SHAPE_EXECUTOR "{index:i, tasks:i, busy:n, waiting:n, held:n, in_call:{component:s, task:i, since:n}?}"

#define GX_SHAPE_NOW                                                                                                   \
    "{time:n, uptime:n, phase:s, active:b, "                                                                           \
    "trees:{trees:i, acked:i, failed:i, timed_out:i, rejected:i, stopped:i, open:i, replayed:i, given_up:i, "          \
    "dead_letters:i, dead_letters_lost:i}, complete:" GX_SHAPE_LATENCY ", "                                            \
    "components:[" GX_SHAPE_COMPONENT "], tasks:[" GX_SHAPE_TASK "], "                                                 \
    "streams:[{component:s, stream:s, emitted:i, transferred:i}], edges:[{id:i, executed:i, acked:i, failed:i, "       \
    "rejected:i, expired:i, dropped:i, drop:s?, execute:n?, process:n?}], executors:[" GX_SHAPE_EXECUTOR "], "         \
    "hurts:[{level:s, component:s?, task:i?, text:s, since:n?}], health:" GX_SHAPE_HEALTH ", "                         \
    "checkpoint:" GX_SHAPE_CHECKPOINT ", "                                                                             \
    "memory:{in_use:i, reserved:i, tags:[{name:s, bytes:i}]}, "                                                        \
    "doors:[{name:s, connections:i, requests:i, streams:i, unread_bytes:i}], taps:i}"

#define GX_SHAPE_HISTORY                                                                                               \
    "{times:[n], trees:[n?], acked:[n?], failed:[n?], emitted:[n?], open:[i], p50:[n?], p99:[n?], "                    \
    "components:{*:{executed:[n?], queued_bytes:[i]}}}"

#define GX_SHAPE_SET "{component:s, pending:i}|{component:s, rate:n}|{component:s, drop:s}"

#define GX_SHAPE_WISH "{set:[s]?, config:[s]?, adopt:[s]?, forget:b?}"
#define GX_SHAPE_CHANGE "{number:i}"
#define GX_SHAPE_CHANGING "{number:i, state:s, text:s?, begun:s?, stood_still:n, laid:s?, active:b}"

#define GX_SHAPE_OPEN_TREES "[{spout:s, message_id:s, age:n, place:s, component:s?, text:s}]"

#define GX_SHAPE_DEAD_LETTERS                                                                                          \
    "{file:s?, total:i, letters:[{id:s, time:n?, spout:s, stream:s, reason:s, component:s?, text:s, attempts:i, "      \
    "values:[?]}]}"

#define GX_SHAPE_TAP                                                                                                   \
    "{time:n, component:s, task:i, stream:s, message_id:s?, values:{*:?}, dropped:i}|"                                 \
    "{time:n, component:s, task:i, stream:s, error:s, dropped:i}"

#endif
