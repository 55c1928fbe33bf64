//===- Messages.h - Protocol of libquern and its compiler process ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Both ends are of one build and communicate over a socket, which is the standard input of the process. A frame is its
// length (64 bits) and this number of bytes:
//
//   process → libquern, once:  a reply, with the compiler's build, or the reason why it is unavailable
//   libquern → process:        u8 kind, i32 form, i32 verify_ir, string target, string descriptor,
//                              string source, "" for none (CompilerRequest)
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
#include <string>
#include <string_view>

namespace quern {

/// A request to the compiler about a problem.
struct CompilerRequest {
  /// Read: returns the descriptor of a function in MLIR after reading.
  enum Kind : uint8_t { Compile = 1, Explain = 2, Read = 3 } kind;
  std::string_view descriptor; ///< PrimitiveDesc::canonicalBytes() of the verified problem, or of a function as given
  const std::string &target;   ///< Target::text()
  int form = 0;                ///< a quern_compiler_form, for Compile
  std::string source{};        ///< see quern_compile_request; "": null
};

} // namespace quern

namespace quern::compiler_messages {

/// Maximum size of a frame.
constexpr uint64_t maxFrameBytes = uint64_t{1} << 30;
/// Exit status of a process that ran out of memory.
constexpr int exitOutOfMemory = 77;

} // namespace quern::compiler_messages

#endif // QUERN_RUNTIME_COMPILATION_MESSAGES_H
