/* The one table of configuration keys, and the overlay of a component's keys on the topology's. */
#ifndef GX_TOPOLOGY_CONFIG_H
#define GX_TOPOLOGY_CONFIG_H

#include "base/port.h"

#include <gale/config.h>

typedef enum gx_key_class {
    GX_KEY_WORKS,    /* does what it says */
    GX_KEY_ACCEPTED, /* no effect here, one warning */
    GX_KEY_REFUSED   /* ignoring it would change results: an error */
} gx_key_class;

typedef struct gx_key {
    const char *name;
    gx_key_class class_;
    uint32_t types;           /* bit per gale_type that is allowed; null is always allowed and means unset */
    const char *default_text; /* as YAML scalar; "" none */
    double min, max;          /* for numbers, when min <= max */
    bool component;           /* may stand in a component's own configuration (Storm's list, and gale's keys) */
    const char *text;         /* one sentence for the reference */
} gx_key;

/* All keys, sorted by name. */
const gx_key *gx_config_keys(size_t *ret_count);
const gx_key *gx_config_find(gale_str name);

/* "unknown key 'x'; did you mean 'y'?", where the nearest key may be one whose first words were left out. Returns
 * GALE_CONFIG. */
int gx_config_refuse(gale_str key, gale_error *error);

/* Is it a key of Storm's daemons, as nimbus.seeds? They say how a cluster runs, and have no effect here. */
bool gx_config_is_daemons(gale_str key);

/* Why a key has no effect here, as the end of a sentence: ": there is one process", or "" where nothing is known of it. */
enum { GX_CONFIG_WHY = 240 };
const char *gx_config_why(gale_str key, char out[GX_CONFIG_WHY]);

/* The strings that the key allows, separated by spaces; NULL: any. */
const char *gx_config_words(const gx_key *key);

/* A copy of `topology` with the keys of `component` over it that a component may set. NULL when memory is out. */
gale_config *gx_config_overlay(const gale_config *topology, const gale_config *component);

/* What is set under the key is not to be shown: it came from the environment, or is called a secret there. */
void gx_config_hide(gale_config *config, gale_str key);
bool gx_config_hides(const gale_config *config, gale_str key);

gale_config *gx_config_copy(const gale_config *config);

/* Text as YAML 1.1 reads a plain scalar: null ("", ~), true/yes/on, false/no/off, whole numbers (12, 0x1f, 017,
 * 1_000), other numbers, else a string (without its quotes), which borrows from `text`. */
gale_value gx_config_scalar(gale_str text);

#endif
