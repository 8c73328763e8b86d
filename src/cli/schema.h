/* A JSON Schema (draft 7) of topology files, made of the tables of classes and of configuration keys: for editors. */
#ifndef GX_CLI_SCHEMA_H
#define GX_CLI_SCHEMA_H

#include "base/buf.h"
#include "front/registry.h"

void gx_schema(const gx_registry *registry, gx_buf *out);

#endif
