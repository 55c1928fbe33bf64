//===- MemoryWatch.cpp - Recording accesses to a kernel's memory ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "MemoryWatch.h"

using namespace quern::test;

void MemoryWatch::add(const std::string &name, const char *data, int64_t bytes, int64_t elementBytes, bool isOfGroup) {
  Buffer buffer{name, data, elementBytes, isOfGroup, nullptr};
  for (const Buffer &known : buffers)
    if (known.data == data && known.elementBytes == elementBytes)
      buffer.elements = known.elements;
  if (!buffer.elements)
    buffer.elements = std::make_shared<std::vector<Element>>(bytes / elementBytes);
  buffers.push_back(std::move(buffer));
}

void MemoryWatch::startPhase(int64_t ofGroup) {
  ++phase;
  group = static_cast<uint32_t>(ofGroup + 1);
}

/// Returns the access to the element that is not ordered with this one; empty if there is none.
std::string MemoryWatch::other(const Buffer &buffer, const Element &element, const Accessor &by) const {
  bool isWriteVisible = buffer.isOfGroup && element.written != phase; // the group started or had a barrier since
  if (element.writer != nobody && element.writer != by.item && !isWriteVisible)
    return "work-item " + std::to_string(element.writer - 1) + " writes";
  if (!by.isWrite)
    return {};
  if (!buffer.isOfGroup && element.readers != nobody && element.readers != group)
    return element.readers == several ? "several groups read"
                                      : "group " + std::to_string(element.readers - 1) + " reads";
  if (element.read != phase || element.reader == by.subGroup)
    return {};
  return element.reader == several ? "several sub-groups read"
                                   : "sub-group " + std::to_string(element.reader - 1) + " reads";
}

void MemoryWatch::keep(Element &element, const Accessor &by) const {
  if (by.isWrite) {
    element.writer = by.item;
    element.written = phase;
    return;
  }
  element.reader = element.read != phase || element.reader == by.subGroup ? by.subGroup : several;
  element.read = phase;
  element.readers = element.readers == nobody || element.readers == group ? group : several;
}

std::string MemoryWatch::note(int64_t item, int64_t subGroup, const DeviceAccess &access) {
  const Buffer &buffer = buffers[static_cast<size_t>(access.buffer)];
  auto &elements = *buffer.elements;
  const std::string what =
      std::string(access.isWrite ? "writes" : "reads") + " element " + std::to_string(access.first) +
      (access.count > 1 ? " and " + std::to_string(access.count - 1) + " after it" : "") + " of " + buffer.name;
  if (access.first < 0 || access.first + access.count > static_cast<int64_t>(elements.size()))
    return what + ", which has " + std::to_string(elements.size());
  if ((reinterpret_cast<uintptr_t>(buffer.data) + static_cast<uintptr_t>(access.first * buffer.elementBytes)) %
      static_cast<uintptr_t>(access.alignment))
    return what + ", whose address is not a multiple of " + std::to_string(access.alignment) + " bytes";
  const Accessor by{static_cast<uint32_t>(item + 1), static_cast<uint32_t>(subGroup + 1), access.isWrite};
  for (int64_t i = access.first; i < access.first + access.count; ++i) {
    Element &element = elements[static_cast<size_t>(i)];
    if (std::string who = other(buffer, element, by); !who.empty())
      return what + ": " + who + " element " + std::to_string(i) + ", too, without synchronization";
    keep(element, by);
  }
  return {};
}
