//===- Functions.cpp - One table of functions for every library -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions.h"

#include <dlfcn.h>
#include <stdexcept>

namespace quern::bench {

Functions::Functions(const std::string &libraryPath) {
  const std::string prefix = libraryPath.empty() ? "quern_" : "dnnl_";
  void *library = dlopen(libraryPath.empty() ? nullptr : libraryPath.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw std::runtime_error(dlerror());
  const auto find = [&](const char *name) {
    void *address = dlsym(library, (prefix + name).c_str());
    if (!address)
      throw std::runtime_error(libraryPath + " has no " + prefix + name);
    return address;
  };
#define QUERN_FIND(NAME) NAME = reinterpret_cast<decltype(NAME)>(find(#NAME));
  QUERN_CALLS(QUERN_FIND)
#undef QUERN_FIND
}

void require(quern_status_t status) {
  if (status != quern_success)
    throw std::runtime_error("a call failed with status " + std::to_string(static_cast<int>(status)));
}

} // namespace quern::bench
