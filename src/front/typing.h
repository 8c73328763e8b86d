/* The types of a topology's fields: what each stream of a component carries, as far as the file says it, and what a
 * parameter takes.
 *
 * What:    components are noted in the order in which they are made, sources first. A field gets its type from the
 *          class's table (`types`, `gives`), from a word of the file ("status int"), from an expression, or from the
 *          input that it passes on. What comes round a cycle, through a topic, or from a component that no table knows,
 *          is not known, and is never refused.
 * Threads: one at a time. Owner: what is noted lives as long as the document. */
#ifndef GX_FRONT_TYPING_H
#define GX_FRONT_TYPING_H

#include "front/loading.h"

/* Notes the streams of a component that has been made of `args`, whose inputs have been noted. GALE_NO_MEMORY. */
int gx_typing_note(const gx_loading *loading, gx_vertex *vertex, const gx_args *args, const gale_output *outputs,
                   size_t count);

/* A stream of it that has been noted, or NULL; also of no vertex. */
const gx_typed_stream *gx_typing_stream(const gx_vertex *vertex, const char *stream);

/* The types that the fields may have which the parameter names, or by its place stands for. */
uint32_t gx_typing_takes(const gx_args *args, const gx_param *param);

/* GALE_TYPE, with both places and the way out, when nothing that comes in `field` is among `taken`: every tuple would
 * fail. `use` names what takes it: "'time' of 'count'". `name`: of the parameter. */
int gx_typing_check(const gx_loading *loading, const gx_yaml *place, const char *use, const gx_param *param,
                    const gx_typed_field *field, uint32_t taken);

#endif
