//===- Events.h - Events of a device --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_EVENTS_H
#define QUERN_RUNTIME_LEVELZERO_EVENTS_H

#include "LevelZero/Device.h"

namespace quern::ze {

/// Events that host and device see, with timestamps or without. Not thread-safe.
class Events {
public:
  Events(const Device &device, bool haveTimestamps) : device(device), haveTimestamps(haveTimestamps) {}
  /// One that is not set and that nobody else has.
  Result<ze_event_handle_t> take();
  /// For take(); the device does not signal it any more.
  void give(ze_event_handle_t event) { used.push_back(event); }
  /// Nanoseconds that the command of an event took, or from the end of one event's to the end of another's.
  Result<uint64_t> elapsed(ze_event_handle_t from, ze_event_handle_t to) const;

private:
  static constexpr uint32_t poolSize = 64;
  Result<ze_event_handle_t> make();

  const Device &device;
  const bool haveTimestamps;
  std::vector<OwnedEventPool> pools; ///< destroyed after their events
  std::vector<OwnedEvent> events;    ///< of the pools in order, all but the last of which are full
  std::vector<ze_event_handle_t> used;
};

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_EVENTS_H
