//===- Messages.h - Between libquern and its compiler's process ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Both ends of one build talk over a socket, which is the process's standard input. A frame is its length in
// 64 bits and so many bytes:
//
//   process → libquern, once:  an answer, with the compiler's build, or why there is none
//   libquern → process:        u8 RequestKind, i32 form, i32 verify_ir, string target, string
//                              descriptor, string source, "" for none (quern_compile_request)
//   process → libquern:        an empty frame: the request has arrived
//                              an answer: i32 status, string: the result or one line that says why not,
//                              string: the times of the stages
//
// Strings are those of Support/Bytes.h. The process ends with the socket.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_MESSAGES_H
#define QUERN_RUNTIME_COMPILATION_MESSAGES_H

#include <cstdint>

namespace quern::compiler_messages {

enum class RequestKind : uint8_t { Compile = 1, Explain = 2, Read = 3 };

/// More is no frame.
constexpr uint64_t maxFrameBytes = uint64_t{1} << 30;
/// The exit status of a process that came to the end of its memory.
constexpr int exitOutOfMemory = 77;

} // namespace quern::compiler_messages

#endif // QUERN_RUNTIME_COMPILATION_MESSAGES_H
