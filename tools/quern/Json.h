//===- Json.h - JSON on standard output -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The output of every --json. Keys keep their order; what is no UTF-8 (a line may hold any bytes) is replaced,
// so that it is JSON always.
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
