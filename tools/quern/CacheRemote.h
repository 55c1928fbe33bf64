//===- CacheRemote.h - quern cache and servers ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_CACHEREMOTE_H
#define QUERN_TOOL_CACHEREMOTE_H

#include "Cache/RemoteLibrary.h"
#include "Command.h"
#include "Options.h"

#include <string>

namespace quern {

/// Adds the subcommands keygen, push, pull and sync to `quern cache`.
void addRemoteCommands(Command &cache, int &exitCode);
/// Returns the first 16 hexadecimal digits of the public key that signed a kernel, as `quern cache list` prints it.
std::string idOfKey(const quern_remote_origin &origin);
/// Implements `quern cache list REMOTE`. Returns the exit code.
int listRemote(const std::string &server, bool json);

} // namespace quern

#endif // QUERN_TOOL_CACHEREMOTE_H
