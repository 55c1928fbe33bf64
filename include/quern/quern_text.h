/*===- quern/quern_text.h - Problems as lines of text ---------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Descriptors of primitives from lines of text, and the reverse.
 * docs/text-form.md defines the lines.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_TEXT_H
#define QUERN_TEXT_H

#include "quern/quern_primitive.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates the descriptor of any primitive from its text form, one line. After a syntax error the message has three
 * lines: the reason, the line, and a caret under the position.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param line The line, zero-terminated.
 * @return quern_success; quern_invalid_arguments: the line is malformed or the problem is invalid; quern_unimplemented:
 *         the problem is legal but not supported.
 */
QUERN_API quern_status_t quern_primitive_desc_create_from_text(
        quern_primitive_desc_t *primitive_desc, quern_engine_t engine, const char *line) QUERN_NOEXCEPT;

/**
 * Returns the text form of a problem, in which `any` layouts are resolved.
 * @param primitive_desc A primitive descriptor.
 * @param text Receives the line, which the descriptor owns.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_desc_get_text(
        const_quern_primitive_desc_t primitive_desc, const char **text) QUERN_NOEXCEPT;

/**
 * Returns whether the layout of a tensor was chosen by the library.
 * @param primitive_desc A primitive descriptor or null.
 * @param arg The tensor: QUERN_ARG_SRC and so on.
 * @return 1 if the layout was `any` when the descriptor was created, or the tensor was absent, as the destination of a
 *         sum or concat may be; 0 if it was given or the problem does not have the tensor.
 */
QUERN_API int quern_primitive_desc_chose_layout(const_quern_primitive_desc_t primitive_desc, int arg) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TEXT_H */
