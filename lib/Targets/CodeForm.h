//===- CodeForm.h - Output forms of code generation -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CODEFORM_H
#define QUERN_TARGETS_CODEFORM_H

namespace quern {

enum class CodeForm {
  LlvmIr,
  Assembly,
  Binary, ///< executable by the target: an object or a SPIR-V module
};

} // namespace quern

#endif // QUERN_TARGETS_CODEFORM_H
