/*===- quern/quern_text.h - Problems as lines of text ---------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * docs/text-form.md defines the lines.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_TEXT_H
#define QUERN_TEXT_H

#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Any primitive from its line. On a syntax error the message has three lines: the reason, the line, and a caret under
 * the place.
 */
QUERN_API quern_status_t quern_primitive_desc_create_from_text(
        quern_primitive_desc_t *primitive_desc, quern_engine_t engine, const char *line) QUERN_NOEXCEPT;
/** The line that gives this descriptor back, `any` layouts resolved. Owned by the descriptor. */
QUERN_API quern_status_t quern_primitive_desc_get_text(
        const_quern_primitive_desc_t primitive_desc, const char **text) QUERN_NOEXCEPT;

/**
 * 1 if the layout of tensor `arg` (QUERN_ARG_SRC, …) was `any` in what the descriptor was made of, or the tensor
 * absent, as the destination of a sum or concat may be; 0 if it was given or the problem has none.
 */
QUERN_API int quern_primitive_desc_chose_layout(const_quern_primitive_desc_t primitive_desc, int arg) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TEXT_H */
