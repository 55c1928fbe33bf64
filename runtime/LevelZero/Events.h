//===- Events.h - Events of a device --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_EVENTS_H
#define QUERN_RUNTIME_LEVELZERO_EVENTS_H

#include "LevelZero/Device.h"

namespace quern::ze {

/// Events that are visible to host and device, with or without timestamps. Not thread-safe.
class Events {
public:
  Events(const Device &device, bool haveTimestamps) : device(device), haveTimestamps(haveTimestamps) {}
  /// Returns an event that is not set and not in use.
  Result<ze_event_handle_t> take();
  /// Returns an event to the pool. The device must not signal it any more.
  void give(ze_event_handle_t event) { used.push_back(event); }
  /// Returns a time in ns: the duration of the event's command if both events are the same; otherwise the time from the
  /// end of the command of `from` to the end of the command of `to`.
  Result<uint64_t> elapsed(ze_event_handle_t from, ze_event_handle_t to) const;

private:
  static constexpr uint32_t poolSize = 64;
  Result<ze_event_handle_t> make();

  const Device &device;
  const bool haveTimestamps;
  std::vector<OwnedEventPool> pools; ///< destroyed after their events
  std::vector<OwnedEvent> events;    ///< in the order of the pools, of which only the last may be partly used
  std::vector<ze_event_handle_t> used;
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_EVENTS_H
