//===- Plan.h - Building the plan of a kernel -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A recipe records its decisions as fields of a PlanAttr, in the order of the text that users read.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_PLAN_H
#define QUERN_IR_PLAN_H

#include "IR/QuernDialect.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace quern {

enum class PlanField {
#define QUERN_PLAN_FIELD(FIELD, NAME, PHRASE) FIELD,
#include "IR/Plan.def"
};

llvm::StringRef nameOf(PlanField field);

/// Collects the fields of a plan.
class PlanBuilder {
public:
  PlanBuilder(mlir::Operation *problem, Recipe recipe) : context(problem->getContext()), recipe(recipe) {}
  /// Adds a number.
  PlanBuilder &add(PlanField field, int64_t number);
  PlanBuilder &add(PlanField field, size_t number) { return add(field, static_cast<int64_t>(number)); }
  PlanBuilder &add(PlanField field, int number) { return add(field, static_cast<int64_t>(number)); }
  PlanBuilder &add(PlanField field, unsigned number) { return add(field, static_cast<int64_t>(number)); }
  PlanBuilder &add(PlanField field, const std::string &text);
  PlanBuilder &add(PlanField field, const char *text) { return add(field, std::string(text)); }
  /// Adds the name of a type.
  PlanBuilder &add(PlanField field, mlir::Type type);
  /// Adds a flag.
  PlanBuilder &add(PlanField field);
  PlanBuilder &addIf(bool condition, PlanField field) { return condition ? add(field) : *this; }
  /// Adds a number or a text if `condition` holds.
  template <typename Value> PlanBuilder &addIf(bool condition, PlanField field, const Value &value) {
    return condition ? add(field, value) : *this;
  }
  /// Adds a number, or "?" for an open size.
  template <typename Size> PlanBuilder &addSize(PlanField field, const Size &size) {
    return size.isOpen() ? add(field, size.text()) : add(field, size.known());
  }
  /// Adds the fields of a plan.
  PlanBuilder &add(PlanAttr plan);
  PlanAttr get() const { return PlanAttr::get(context, recipe, fields); }

private:
  PlanBuilder &addValue(PlanField field, mlir::Attribute value);

  mlir::MLIRContext *context;
  Recipe recipe;
  llvm::SmallVector<mlir::NamedAttribute, 16> fields;
};

/// Returns the text of the quotient of an open size and a divisor, rounded up, such as "ceil(size 0 / 16)".
std::string ceilText(int64_t sizeIndex, int64_t divisor);

/// Returns the texts of the plans of consecutive kernels as one line.
std::string textOf(llvm::ArrayRef<PlanAttr> plans);

} // namespace quern

#endif // QUERN_IR_PLAN_H
