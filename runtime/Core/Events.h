//===- Events.h - What happens, for verbose lines and listeners ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// QUERN_VERBOSE or quern_set_verbose() prints lines: 1 executions and servers that are given up, 2 creations and
// compilations as well. Fields are separated by commas, the text form is the last but one, the time in ms the last. A
// listener (quern_set_listener) is told the same things and failures, in structs. While nobody wants an event it costs
// one load.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_EVENTS_H
#define QUERN_RUNTIME_CORE_EVENTS_H

#include "Desc/Key.h"
#include "Support/Error.h"

#include "quern/quern_event.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace quern {

class Primitive;
class Problem;
struct VerifiedProblem;

/// Bits of what may be wanted: quern_event_kind_t, and what only the lines have.
enum Events : unsigned {
  EventCreate = quern_event_create,
  EventExecute = quern_event_execute,
  EventFail = quern_event_fail,
  EventSpecialise = quern_event_specialise,
  EventRemote = quern_event_remote,
  EventCompile = 1u << 16,
};

namespace detail {
inline constexpr unsigned verboseUnread = 1u << 31; ///< QUERN_VERBOSE was not looked at yet
/// The union of what the lines and the listeners want.
inline std::atomic<unsigned> wantedEvents{verboseUnread};
bool isWanted(unsigned events);
} // namespace detail

inline bool isWanted(Events event) {
  const unsigned wanted = detail::wantedEvents.load(std::memory_order_relaxed);
  return (wanted & (event | detail::verboseUnread)) && detail::isWanted(event);
}

/// What a listener is told, before it is in C.
struct Event {
  quern_event_kind_t kind{};
  int64_t ns = 0;
  const Primitive *primitive = nullptr;     ///< created or executed
  std::shared_ptr<const Problem> problem{}; ///< specialised
  quern_origin_t origin{};
  std::span<const quern_exec_arg_t> arguments;
  Status status = Status::Success; ///< of what failed
  const char *function = nullptr, *message = nullptr;
};
using EventDelivery = void (*)(const Event &event, quern_listener_t listener, void *context);

void setVerboseLevel(int level);
/// `events` 0 removes the listener; `deliver` calls it.
Result<void> setListener(quern_listener_t listener, void *context, unsigned events, EventDelivery deliver);
/// Whether this thread is in a listener: what that calls is not reported, nor does its failure
/// replace the thread's message.
bool isInListener();

// Call these if the event is wanted. `ns` is how long it took.
void reportCreated(const Primitive &primitive);
/// `error` is why there is no kernel, or success.
void reportSpecialised(const std::shared_ptr<const Problem> &problem, quern_origin_t origin, const Error &error,
                       int64_t ns);
void reportExecuted(const Primitive &primitive, std::span<const quern_exec_arg_t> arguments, int64_t ns);
/// `stages` says how long each took; `ns` is their sum and what lies between them.
void reportCompiled(const VerifiedProblem &problem, const KernelKey &key, const std::string &stages, int64_t ns);
/// A server of the remote cache is given up for a while, or answers again.
void reportRemote(bool isGivenUp, const char *message) noexcept;
/// A verbose line: what debuggers and profilers lack of the kernel with that key, and why.
void reportDebug(const std::string &key, const std::string &message);
/// `function` is the quern_ function that failed.
void reportFailed(const char *function, Status status, const char *message) noexcept;

} // namespace quern

#endif // QUERN_RUNTIME_CORE_EVENTS_H
