/* The shapes that a file's nodes must have, checked with one sentence and the place for each that has not.
 *
 * What:    `what` is how messages call the node: "a spout", "the topology".
 * Threads: one at a time. Owner: all that is returned belongs to the document.
 */
#ifndef GX_FRONT_SHAPE_H
#define GX_FRONT_SHAPE_H

#include "front/yaml.h"

#define GX_STREAM_KEYS "id name from to grouping"

/* `node` is a map that has no keys but `known` (words separated by blanks). Unknown ones are kept, where several errors
 * are wanted, and the map is read on. */
int gx_shape_map(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, const char *known, gale_error *error);

/* A stream, in whatever form of it: `known` are the keys that this one has, and of an unknown one that of another form may be meant, too. */
int gx_shape_stream(const gx_yaml_doc *doc, const gx_yaml *node, const char *known, gale_error *error);

/* As gx_shape_map; 1 when an unknown key was kept and `needed` is not there, which may be what was meant by it. */
int gx_shape_map_with(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, const char *known,
                      const char *needed, gale_error *error);

int gx_shape_stream_with(const gx_yaml_doc *doc, const gx_yaml *node, const char *known, const char *needed,
                         gale_error *error);

/* The list under `key`; `*ret_list` is NULL when there is none, or when it is empty or null. */
int gx_shape_list(const gx_yaml_doc *doc, const gx_yaml *map, const char *what, const char *key,
                  const gx_yaml **ret_list, gale_error *error);

/* The scalar under `key`, which must be there and hold text; Storm takes numbers for names as well. */
int gx_shape_text(const gx_yaml_doc *doc, const gx_yaml *map, const char *what, const char *key,
                  const gx_yaml **ret_text, gale_error *error);

/* The whole number under `key`, in min..max; `fallback` when it is not there. */
int gx_shape_number(const gx_yaml_doc *doc, const gx_yaml *map, const char *what, const char *key, int64_t min,
                    int64_t max, int64_t fallback, int64_t *ret_number, gale_error *error);

/* A hint "; did you mean 'x'?" or "", from words separated by blanks. Borrowed from `out`. */
enum { GX_HINT_SIZE = 160 };
const char *gx_shape_hint(gale_str wanted, const char *known, char out[GX_HINT_SIZE]);

#endif
