//===- Events.h - Events for verbose lines and listeners ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// QUERN_VERBOSE or quern_set_verbose() prints lines: level 1 prints executions and suspended servers, level 2 also
// creations and compilations. Fields are separated by commas; lines about a problem end with its text form, the time in
// ms and the key. Listeners (quern_set_listener) receive the same events, and failures, as structs. An event that has
// neither lines nor listeners costs one load.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_EVENTS_EVENTS_H
#define QUERN_RUNTIME_EVENTS_EVENTS_H

#include "Desc/Key.h"
#include "Support/Error.h"

#include "quern/quern_event.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace quern {

class Primitive;
class Problem;
struct VerifiedProblem;

/// Bits of requested events: quern_event_kind_t, and those that only lines report.
enum Events : unsigned {
  EventCreate = quern_event_create,
  EventExecute = quern_event_execute,
  EventFail = quern_event_fail,
  EventSpecialize = quern_event_specialize,
  EventRemote = quern_event_remote,
  EventCompile = 1u << 16,
};

namespace detail {
inline constexpr unsigned verboseUnread = 1u << 31; ///< QUERN_VERBOSE has not been read yet
/// The union of the events that the verbose level and the listeners request.
inline std::atomic<unsigned> wantedEvents{verboseUnread};
bool isWanted(unsigned events);
} // namespace detail

inline bool isWanted(Events event) {
  const unsigned wanted = detail::wantedEvents.load(std::memory_order_relaxed);
  return (wanted & (event | detail::verboseUnread)) && detail::isWanted(event);
}

/// An event before its conversion to the C struct.
struct Event {
  quern_event_kind_t kind{};
  int64_t ns = 0;
  const Primitive *primitive = nullptr;     ///< created or executed
  std::shared_ptr<const Problem> problem{}; ///< specialized
  quern_origin_t origin{};
  std::span<const quern_exec_arg_t> arguments;
  Status status = Status::Success; ///< result of the failed call or compilation
  const char *function = nullptr, *message = nullptr;
};
using EventDelivery = void (*)(const Event &event, quern_listener_t listener, void *context);

void setVerboseLevel(int level);
/// Registers a listener, which `deliver` calls; `events` 0 removes it.
Result<void> setListener(quern_listener_t listener, void *context, unsigned events, EventDelivery deliver);
/// Returns true if this thread is inside a listener. Calls from a listener are not reported, and their failures do not
/// replace the thread's message.
bool isInListener();

/// The fields of a verbose line about a problem.
struct VerboseLine {
  const char *event;
  std::string detail;
  const VerifiedProblem &problem;
  std::string_view text; ///< text form of the problem
  int64_t ns;            ///< duration
  std::string key;       ///< hash of the kernel's key, or "" if there is no kernel
};

// Call the functions below only if the event is wanted. `ns` is the duration.

void notifyListeners(const Event &event);
/// Returns true if lines of this level are to be printed.
bool printsAt(int level);
void printLine(const VerboseLine &line);
const char *nameOfOrigin(quern_origin_t origin);
/// Reports a compilation. `stages` lists the time of each stage; `ns` is the total, including the time between stages.
void reportCompiled(const VerifiedProblem &problem, const KernelKey &key, const std::string &stages, int64_t ns);
/// Reports that a server of the remote cache was suspended, or that it responds again.
void reportRemote(bool isGivenUp, const char *message) noexcept;
/// Prints a verbose line: which data of the kernel debuggers and profilers lack, and why.
void reportDebug(const std::string &key, const std::string &message);
/// Reports that the quern_ function `function` failed.
void reportFailed(const char *function, Status status, const char *message) noexcept;

} // namespace quern

#endif // QUERN_RUNTIME_EVENTS_EVENTS_H
