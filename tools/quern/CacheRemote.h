//===- CacheRemote.h - quern cache and servers -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_CACHEREMOTE_H
#define QUERN_TOOL_CACHEREMOTE_H

#include "Command.h"
#include "Options.h"

#include <string>

namespace quern {

/// Adds keygen, push, pull and sync to `quern cache`.
void addRemoteCommands(Command &cache, int &exitCode);
/// `quern cache list REMOTE`.
int listRemote(const std::string &server, bool json);

} // namespace quern

#endif // QUERN_TOOL_CACHEREMOTE_H
