//===- Mlir.h - A function of the caller's in MLIR ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one problem that is no primitive: what it computes comes with it. It has two states. As it is given it is bytes,
// which only the compiler can read; as it was read it is a function in canonical form and its arguments. Nothing but
// what was read goes into a kernel's key, so that modules that differ in names, places or encoding share a kernel.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_MLIR_H
#define QUERN_DESC_MLIR_H

#include "Desc/Tensor/TensorDesc.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// An argument of one s32 element that sizes or places depend on.
struct MlirNumber {
  size_t argument = 0;
  std::optional<int32_t> value; ///< nothing: executions bring it

  /// "2,5:16": argument 2 and argument 5, which is 16; ascending; nothing of another text.
  static std::optional<std::vector<MlirNumber>> parse(std::string_view text);
  static std::string textOf(const std::vector<MlirNumber> &numbers);
};

struct MlirDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Mlir;
  /// As it is given: MLIR as text or bytecode, to the byte, and the function's name, or "" for the only public one.
  /// Empty in what was read.
  std::string module, function;
  /// As it was read: the text of a module whose only function is @function, on memrefs, its arguments named. Empty in
  /// what is given.
  std::string code;
  std::vector<TensorDesc> args; ///< in the order of @function's arguments: the caller's, then what it returns
  std::string uses;             ///< one letter for each of them: r: read, w: written, u: both, R: a result
  /// For each open size of the arguments, in the order of an execution's list: the first of that list that it equals,
  /// or "=64" where it is a number. "" where none is open.
  std::string sizes;
  /// MlirNumber::textOf(); in a problem whose sizes are known each has its value.
  std::string numbers;
  /// Lowered loop by loop: what others are compared with. With two arguments of f64 behind the code's for each that is
  /// written, laid out as it, zeros before, what is f32 is computed in f64, and these get e and v, so that what
  /// arithmetic of the stated types gives is within oracleMargin (e + sqrt(v)) of the element beside. Without them the
  /// arithmetic is that of the stated types.
  bool oracle = false;

  bool isRead() const { return !code.empty(); }
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("module", self.module), visit("function", self.function), visit("code", self.code), visit("args", self.args),
        visit("uses", self.uses), visit("sizes", self.sizes), visit("numbers", self.numbers),
        visit("oracle", self.oracle);
  }
  bool operator==(const MlirDesc &other) const;
};

/// How many times the error that is expected of every rounding is let pass.
inline constexpr double oracleMargin = 4;

/// More is refused before it is parsed.
inline constexpr size_t maxMlirBytes = size_t(16) << 20;

} // namespace quern

#endif // QUERN_DESC_MLIR_H
