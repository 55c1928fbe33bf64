//===- Boxed.h - A value stored on the heap -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Copies, compares and lists its fields like the value, but has the size of a pointer, so that a large alternative does
// not enlarge a variant.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_BOXED_H
#define QUERN_DESC_BOXED_H

#include <memory>
#include <utility>

namespace quern {

/// Owns a `T`. A moved-from object may only be assigned to or destroyed.
template <typename T> class Boxed {
public:
  Boxed() : value(std::make_unique<T>()) {}
  Boxed(T initial) : value(std::make_unique<T>(std::move(initial))) {}
  Boxed(const Boxed &other) : value(std::make_unique<T>(*other.value)) {}
  Boxed(Boxed &&) noexcept = default;
  Boxed &operator=(Boxed other) noexcept {
    value = std::move(other.value);
    return *this;
  }

  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return value.get(); }
  const T *operator->() const { return value.get(); }
  operator T &() { return *value; }
  operator const T &() const { return *value; }
  bool operator==(const Boxed &other) const { return *value == *other.value; }

  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    T::visitFields(*self, visit);
  }

private:
  std::unique_ptr<T> value;
};

} // namespace quern

#endif // QUERN_DESC_BOXED_H
