//===- TextFormFuzzer.cpp - The parser of problem lines -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A line is either refused with a message of three lines, or it is a problem that stays equal when written and read as
// text and as bytes. Verification of a problem must return.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"

#include <algorithm>

using namespace quern;

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view line(reinterpret_cast<const char *>(data), size);
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  if (!desc) {
    const std::string &message = desc.error().message;
    require(std::count(message.begin(), message.end(), '\n') == 2 && message.back() == '^');
    return 0;
  }
  Result<PrimitiveDesc> fromText = PrimitiveDesc::parse(desc->text());
  require(fromText && *fromText == *desc);
  Result<PrimitiveDesc> fromBytes = PrimitiveDesc::fromBytes(desc->canonicalBytes());
  require(fromBytes && *fromBytes == *desc);
  Result<VerifiedProblem> problem = verify(*desc, Target());
  require(problem || !problem.error().message.empty());
  return 0;
}
