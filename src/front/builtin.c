#include "front/builtin.h"

#include <pthread.h>

static gx_registry registry;

/* The page of classes shows them in this order. */
static void fill(void) {
    const gx_class_table *const tables[] = { &gx_builtin_spouts,     &gx_builtin_net,       &gx_builtin_exec,
                                             &gx_builtin_spool,      &gx_builtin_bolts,     &gx_builtin_parsers,
                                             &gx_builtin_script,     &gx_builtin_packing,   &gx_builtin_sinks,
                                             &gx_builtin_exec_sinks, &gx_builtin_net_sinks, &gx_builtin_spool_sinks,
                                             &gx_builtin_values };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) registry.tables[registry.table_count++] = *tables[i];
}

const gx_registry *gx_registry_builtin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
    return &registry;
}
