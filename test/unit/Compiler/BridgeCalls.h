//===- BridgeCalls.h - Calls of the compiler as libquern makes them -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_UNIT_COMPILER_BRIDGECALLS_H
#define QUERN_TEST_UNIT_COMPILER_BRIDGECALLS_H

#include "quern-compiler/Bridge.h"

#include <string>

namespace quern {

inline const quern_compiler_api &api() { return *quern_compiler_get_api(QUERN_COMPILER_API_VERSION); }

inline void append(void *context, const void *bytes, size_t size) {
  static_cast<std::string *>(context)->append(static_cast<const char *>(bytes), size);
}

struct Outcome {
  int status = 0;
  std::string result, error;
};

using Call = int (*)(const quern_compile_request *, const quern_byte_sink *, const quern_byte_sink *);

/// Calls the compiler with the bytes of a descriptor.
inline Outcome ask(Call call, const std::string &bytes, const char *target, int form = QUERN_COMPILER_ARTIFACT,
                   bool verifyIr = true) {
  const quern_compile_request request{bytes.data(), bytes.size(), target, form, verifyIr};
  Outcome outcome;
  const quern_byte_sink result{append, &outcome.result}, error{append, &outcome.error};
  outcome.status = call(&request, &result, &error);
  return outcome;
}

} // namespace quern

#endif // QUERN_TEST_UNIT_COMPILER_BRIDGECALLS_H
