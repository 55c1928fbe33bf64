//===- GuardedBuffer.h - Memory next to inaccessible pages ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tools and tests pass these buffers to kernels. A load or store past the guarded end faults at once, even of lanes
// that a mask should disable; the other side has canaries. Depends only on POSIX and the C++ library, not on
// descriptors.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_GUARDEDBUFFER_H
#define QUERN_TOOLS_GUARDEDBUFFER_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace quern {

/// The end of a buffer that is adjacent to an inaccessible page.
enum class GuardedSide : uint8_t { End, Beginning };
/// Returns "end" or "beginning".
std::string_view nameOf(GuardedSide side);
std::optional<GuardedSide> guardedSideFromName(std::string_view name);

/// Start address of a buffer.
struct Placement {
  GuardedSide side = GuardedSide::End;
  /// In bytes; a power of two, at most the page size. A buffer whose size is a multiple of the alignment is adjacent to
  /// the page on either side. Another size leaves less than `alignment` bytes between its end and the page.
  int64_t alignment = 1;
  /// If not 0, the buffer starts this many bytes past a multiple of 64, as close to the page as possible, and
  /// `alignment` is ignored.
  int64_t misalignment = 0;
};

/// Bytes with an inaccessible page on both sides, adjacent to one of them; the bytes up to the other page hold
/// canaries. Movable. Pages of small buffers are reused. Different buffers may be used concurrently.
class GuardedBuffer {
public:
  /// Fills the buffer with 0xFF. Throws std::bad_alloc.
  explicit GuardedBuffer(int64_t bytes, const Placement &placement = {});
  GuardedBuffer(GuardedBuffer &&other) noexcept;
  GuardedBuffer &operator=(GuardedBuffer &&other) noexcept;
  ~GuardedBuffer();

  /// Returns the start of the buffer. It is never null, and inaccessible if the size is 0.
  char *data() { return begin; }
  const char *data() const { return begin; }
  int64_t size() const { return bytes; }
  /// Returns true if all canaries are unchanged.
  bool guardsIntact() const;
  void fillAll(unsigned char value);

private:
  char *pages = nullptr; ///< accessible pages; null after a move
  int64_t pageCount = 0;
  char *begin = nullptr;
  int64_t bytes = 0;
};

} // namespace quern

#endif // QUERN_TOOLS_GUARDEDBUFFER_H
