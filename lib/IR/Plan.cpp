//===- Plan.cpp - The plan of a kernel ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "IR/Plan.h"

#include "mlir/IR/Builders.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace quern;

StringRef quern::nameOf(PlanField field) {
  static constexpr llvm::StringLiteral names[] = {
#define QUERN_PLAN_FIELD(FIELD, NAME, PHRASE) NAME,
#include "IR/Plan.def"
  };
  return names[static_cast<int>(field)];
}

/// Returns an empty string for an unknown name.
static StringRef phraseOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
#define QUERN_PLAN_FIELD(FIELD, NAME, PHRASE) .Case(NAME, PHRASE)
#include "IR/Plan.def"
      .Default("");
}

static std::string textOf(NamedAttribute field) {
  std::string value;
  if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
    value = std::to_string(number.getInt());
  else if (auto text = dyn_cast<StringAttr>(field.getValue()))
    value = text.str();
  std::string phrase = phraseOf(field.getName()).str();
  auto replace = [&](StringRef what, StringRef with) {
    if (const size_t at = phrase.find(what); at != std::string::npos)
      phrase.replace(at, what.size(), with);
  };
  replace("{s}", value == "1" ? "" : "s");
  replace(value.empty() ? " {}" : "{}", value);
  return phrase;
}

std::string PlanAttr::text() const {
  if (getFields().empty())
    return stringifyRecipe(getRecipe()).str();
  std::string text;
  for (NamedAttribute field : getFields())
    text += ::textOf(field);
  return text;
}

Attribute PlanAttr::field(StringRef name) const {
  for (NamedAttribute field : getFields())
    if (field.getName() == name)
      return field.getValue();
  return {};
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, Recipe, ArrayRef<NamedAttribute> fields) {
  for (NamedAttribute field : fields)
    if (phraseOf(field.getName()).empty())
      return emitError() << "a plan has no field '" << field.getName().strref() << "'";
  return success();
}

PlanBuilder &PlanBuilder::addValue(PlanField field, Attribute value) {
  fields.emplace_back(StringAttr::get(context, nameOf(field)), value);
  return *this;
}

PlanBuilder &PlanBuilder::add(PlanField field, int64_t number) {
  return addValue(field, Builder(context).getI64IntegerAttr(number));
}

PlanBuilder &PlanBuilder::add(PlanField field, const std::string &text) {
  return addValue(field, StringAttr::get(context, text));
}

PlanBuilder &PlanBuilder::add(PlanField field, Type type) { return add(field, debugString(type)); }

PlanBuilder &PlanBuilder::add(PlanField field) { return addValue(field, UnitAttr::get(context)); }

PlanBuilder &PlanBuilder::add(PlanAttr plan) {
  llvm::append_range(fields, plan.getFields());
  return *this;
}

std::string quern::ceilText(int64_t sizeIndex, int64_t divisor) {
  return ("ceil(size " + Twine(sizeIndex) + " / " + Twine(divisor) + ")").str();
}

std::string quern::textOf(ArrayRef<PlanAttr> plans) {
  std::string text;
  for (PlanAttr plan : plans)
    text += (text.empty() ? "" : " | ") + plan.text();
  return text;
}
