//===- TextForm.h - Text of tensors ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Text forms of tensors and arguments; a whole problem has PrimitiveDesc::text() and parse(). docs/text-form.md has the
// grammar.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TEXT_TEXTFORM_H
#define QUERN_DESC_TEXT_TEXTFORM_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

class TextReader;

/// Returns a text such as "f32:8x128x1024:abc"; "none" for the zero descriptor. parseTensor(textOf(desc)) == desc if
/// desc is valid.
std::string textOf(const TensorDesc &desc);
void appendTensor(std::string &out, const TensorDesc &desc);

/// On failure the message has three lines, as for PrimitiveDesc::parse().
Result<TensorDesc> parseTensor(std::string_view text);
bool readTensor(TextReader &in, TensorDesc &desc);

/// Returns "src", "dst", "post0.src_1" or the like; a number for an argument without a name.
std::string nameOfArgument(int32_t argument);

} // namespace quern

#endif // QUERN_DESC_TEXT_TEXTFORM_H
