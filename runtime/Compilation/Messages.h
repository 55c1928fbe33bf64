//===- Messages.h - Protocol of libquern and its compiler process ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Both ends are of one build and communicate over a socket, which is the standard input of the process. A frame is its
// length (64 bits) and this number of bytes:
//
//   process → libquern, once:  a reply, with the compiler's build, or the reason why it is unavailable
//   libquern → process:        u8 RequestKind, i32 form, i32 verify_ir, string target, string
//                              descriptor, string source, "" for none (quern_compile_request)
//   process → libquern:        an empty frame: the request has arrived
//                              a reply: i32 status, string: the result or a one-line error,
//                              string: the times of the stages
//
// Strings have the format of Support/Bytes.h. The process exits when the socket is closed.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_MESSAGES_H
#define QUERN_RUNTIME_COMPILATION_MESSAGES_H

#include <cstdint>

namespace quern::compiler_messages {

enum class RequestKind : uint8_t { Compile = 1, Explain = 2, Read = 3 };

/// Maximum size of a frame.
constexpr uint64_t maxFrameBytes = uint64_t{1} << 30;
/// Exit status of a process that ran out of memory.
constexpr int exitOutOfMemory = 77;

} // namespace quern::compiler_messages

#endif // QUERN_RUNTIME_COMPILATION_MESSAGES_H
