//===- GuardedBuffer.h - Memory beside pages that nobody may touch --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What tools and tests give to kernels: a load or a store beyond the guarded end is a fault at once, even of lanes
// that a mask is thought to turn off; on the other side are canaries. Knows nothing of descriptors and needs
// nothing but the C++ library.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_GUARDEDBUFFER_H
#define QUERN_TOOLS_GUARDEDBUFFER_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace quern {

/// Which end of a buffer lies at an inaccessible page.
enum class GuardedSide : uint8_t { End, Beginning };
/// "end" or "beginning".
std::string_view nameOf(GuardedSide side);
std::optional<GuardedSide> guardedSideFromName(std::string_view name);

/// Where a buffer begins.
struct Placement {
  GuardedSide side = GuardedSide::End;
  /// In bytes, a power of two of at most a page. A buffer whose size is a multiple lies flush at either side; at its
  /// end another leaves less than this much between.
  int64_t alignment = 1;
  /// Not 0: the buffer begins that many bytes past a multiple of 64, as near to the page as it can;
  /// `alignment` is not looked at.
  int64_t misalignment = 0;
};

/// Bytes with an inaccessible page on both sides, flush at one of them; what is between the other page and the
/// bytes holds canaries. Movable; pages of small buffers are kept for the next ones. Thread-safe as far as
/// several buffers are concerned.
class GuardedBuffer {
public:
  /// Filled with 0xFF. Throws std::bad_alloc.
  explicit GuardedBuffer(int64_t bytes, const Placement &placement = {});
  GuardedBuffer(GuardedBuffer &&other) noexcept;
  GuardedBuffer &operator=(GuardedBuffer &&other) noexcept;
  ~GuardedBuffer();

  /// Never null, and inaccessible if there are no bytes.
  char *data() { return begin; }
  const char *data() const { return begin; }
  int64_t size() const { return bytes; }
  /// Whether all canaries are as they were.
  bool guardsIntact() const;
  void fillAll(unsigned char value);

private:
  char *pages = nullptr; ///< the accessible ones; null after a move
  int64_t pageCount = 0;
  char *begin = nullptr;
  int64_t bytes = 0;
};

} // namespace quern

#endif // QUERN_TOOLS_GUARDEDBUFFER_H
