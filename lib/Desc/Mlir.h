//===- Mlir.h - A function given as MLIR ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The only problem that is not a primitive: its operation is part of the descriptor. It has two states. As given, it is
// bytes that only the compiler can read; as read, it is a function in canonical form and its arguments. A kernel's key
// contains only the latter, so modules that differ in names, locations or encoding share a kernel.
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

/// An argument of one s32 element that sizes or offsets depend on.
struct MlirNumber {
  size_t argument = 0;
  std::optional<int32_t> value; ///< empty: passed at execution

  /// Parses "2,5:16": argument 2, and argument 5 with value 16; arguments must ascend. Returns nothing for malformed
  /// text.
  static std::optional<std::vector<MlirNumber>> parse(std::string_view text);
  static std::string textOf(const std::vector<MlirNumber> &numbers);
};

struct MlirDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Mlir;
  /// Before reading: MLIR text or bytecode, unmodified, and the function's name, or "" for the only public function.
  /// Empty afterwards.
  std::string module, function;
  /// After reading: the text of a module whose only function is @function, on memrefs, with named arguments. Empty
  /// before.
  std::string code;
  std::vector<TensorDesc> args; ///< in the order of @function's arguments: the caller's, then the results
  std::string uses;             ///< one letter per argument: r: read, w: written, u: updated, R: a result
  /// One entry per open size of the arguments, in the order of the list of runtime sizes: the index of the first size
  /// that equals it, or "=64" for a number. "" if no size is open.
  std::string sizes;
  /// MlirNumber::textOf(); if all sizes of the problem are known, each number has its value.
  std::string numbers;
  /// True for the reference, which is lowered loop by loop. The code's arguments may be followed by two f64 arguments
  /// for each written argument, with its layout and initially zero. If they are, f32 is computed in f64, and the two
  /// arguments receive e and v: a result of the stated types must be within oracleMargin (e + sqrt(v)) of the
  /// reference. Otherwise the reference computes in the stated types.
  bool oracle = false;

  bool isRead() const { return !code.empty(); }
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("module", self.module), visit("function", self.function), visit("code", self.code), visit("args", self.args),
        visit("uses", self.uses), visit("sizes", self.sizes), visit("numbers", self.numbers),
        visit("oracle", self.oracle);
  }
  bool operator==(const MlirDesc &other) const;
};

/// Permitted error of a result, as a multiple of the error expected from its roundings.
inline constexpr double oracleMargin = 4;

/// Maximum size of a module in bytes, checked before it is parsed.
inline constexpr size_t maxMlirBytes = size_t(16) << 20;

} // namespace quern

#endif // QUERN_DESC_MLIR_H
