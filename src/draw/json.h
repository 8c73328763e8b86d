/* A topology's components, edges and drawing as JSON: values that stand behind a key or by themselves.
 *
 *     components  [{"name":"count","kind":"bolt","class":"gale.bolt.Count","tasks":4,"streams":[{"name":"default","fields":["word"]}]}]
 *     edges       [{"id":0,"from":"split","stream":"default","to":"count","grouping":"fields","fields":["word"],"drop":null}]
 *     drawing     {"width":640,"height":80,"nodes":[{"component":"count","x":16,"y":16,"width":150,"height":48}],
 *                  "edges":[{"edge":0,"points":[[166,40],[192,40]],"label":[179,40],"back":false}]}
 *
 * Threads: any. */
#ifndef GX_DRAW_JSON_H
#define GX_DRAW_JSON_H

#include "draw/drawing.h"

#include "base/json.h"

void gx_graph_json_components(const gx_graph *graph, gx_json *json);
void gx_graph_json_edges(const gx_graph *graph, gx_json *json);
void gx_drawing_json(const gx_drawing *drawing, gx_json *json);

/* All of it, with the topology's name: {"name":..,"components":..,"edges":..,"drawing":..} */
void gx_drawing_json_whole(const gx_drawing *drawing, gx_json *json);

#endif
