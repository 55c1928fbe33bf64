//===- StackArray.h - Arrays that are on the stack if they are short ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_STACKARRAY_H
#define QUERN_SUPPORT_STACKARRAY_H

#include <cstddef>
#include <type_traits>

namespace quern {

/// An array whose size is known when it is created. Up to `few` elements are part of the object; larger arrays are on
/// the heap. Elements are not initialized: executions take some tens of nanoseconds and write each element before they
/// read it.
template <typename Element, size_t few> class StackArray {
  static_assert(std::is_trivial_v<Element>);

public:
  /// Throws std::bad_alloc.
  explicit StackArray(size_t size) : elements(size <= few ? inside : new Element[size]) {}
  ~StackArray() {
    if (elements != inside)
      delete[] elements;
  }
  StackArray(const StackArray &) = delete;
  StackArray &operator=(const StackArray &) = delete;

  Element *data() { return elements; }
  const Element *data() const { return elements; }
  Element &operator[](size_t index) { return elements[index]; }
  const Element &operator[](size_t index) const { return elements[index]; }

private:
  Element *elements;
  alignas(void *) Element inside[few];
};

} // namespace quern

#endif // QUERN_SUPPORT_STACKARRAY_H
