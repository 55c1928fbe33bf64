//===- Json.h - JSON on standard output -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The output of every --json option. Keys keep their order. Bytes that are not UTF-8 (a line may have any bytes) are
// replaced, so the output is always valid JSON.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_JSON_H
#define QUERN_TOOLS_JSON_H

#include <nlohmann/json.hpp>

#include <iostream>

namespace quern {

using Json = nlohmann::ordered_json;

inline void printJson(const Json &json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

} // namespace quern

#endif // QUERN_TOOLS_JSON_H
