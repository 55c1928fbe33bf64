//===- Error.cpp - Names of status codes ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The names are those of the public C API without its prefix, so messages can be matched with the header.
//
//===----------------------------------------------------------------------===//
#include "Support/Error.h"

namespace quern {

const char *toString(Status status) {
  switch (status) {
  case Status::Success:
    return "success";
  case Status::OutOfMemory:
    return "out_of_memory";
  case Status::InvalidArguments:
    return "invalid_arguments";
  case Status::Unimplemented:
    return "unimplemented";
  case Status::LastImplReached:
    return "last_impl_reached";
  case Status::RuntimeError:
    return "runtime_error";
  case Status::NotRequired:
    return "not_required";
  case Status::Internal:
    return "internal_error";
  }
  return "unknown";
}

} // namespace quern
