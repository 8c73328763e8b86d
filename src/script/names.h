/* What each name in an expression is for: a value, a member of a table, a method, a key; and which names the text
 * makes itself. It reads tokens, not Lua's grammar: of a text that is not Lua it may answer anything, and Lua refuses
 * that text afterwards.
 * Threads: any. Owner: values; they borrow from the text. */
#ifndef GX_SCRIPT_NAMES_H
#define GX_SCRIPT_NAMES_H

#include "base/buf.h"
#include "script/token.h"

typedef enum gx_name_role {
    GX_NAME_NONE,   /* the token is not a name, or it is a word of Lua's */
    GX_NAME_VALUE,  /* a field, a name of the library, or a name of the text's own */
    GX_NAME_MEMBER, /* behind a point */
    GX_NAME_METHOD, /* behind a colon */
    GX_NAME_KEY     /* of a table that is made; also a label, an attribute */
} gx_name_role;

enum { GX_NAMES_NESTED = 256 };

typedef struct gx_names {
    gale_str rest;
    gx_token before_last, last, now, next;
    gx_name_role role;
    bool is_declared; /* the name is made here: local, a parameter, of a loop */
    uint8_t state;    /* of a list of names that is being read */
    uint32_t depth;   /* of brackets and blocks */
    char open[GX_NAMES_NESTED];
} gx_names;

gx_names gx_names_begin(gale_str text);

/* Goes to the next token. False: the text has ended. */
bool gx_names_advance(gx_names *names);

/* Is what is now called? */
bool gx_names_is_called(const gx_names *names);

/* The names that a text makes itself: those that are declared or assigned to, and keys and members that are given a
 * value. */
typedef struct gx_names_own {
    gx_buf values, keys;  /* between blanks */
    bool has_functions;   /* it defines some */
    bool has_environment; /* it uses _ENV, so that only Lua knows what a name is */
    bool sets_by_index;   /* t[k] = v */
} gx_names_own;

/* False: no memory. */
bool gx_names_own_read(gx_names_own *own, gx_heap *heap, gale_str text);
void gx_names_own_fini(gx_names_own *own);

bool gx_names_has(const gx_buf *list, gale_str name);

#endif
