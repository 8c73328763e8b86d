/* Warnings of what is no error, and will hurt: told where all problems of a file are wanted. */
#ifndef GX_FRONT_ADVICE_H
#define GX_FRONT_ADVICE_H

#include "front/loading.h"

void gx_advise(const gx_loading *l);

#endif
