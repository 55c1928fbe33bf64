//===- Events.cpp - Events for verbose lines and listeners ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each line is written in one call, so lines of several threads do not mix. Listeners are called under a shared lock:
// once a thread has removed a listener, it no longer runs.
//
//===----------------------------------------------------------------------===//
#include "Events/Events.h"

#include "Primitives/Registry.h"
#include "Support/Forks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <shared_mutex>

namespace quern {
namespace {

struct Listener {
  quern_listener_t function;
  void *context;
  unsigned events;
  EventDelivery deliver;
};

/// The requested events and their listeners.
struct Observers {
  /// Guards the members below. Held while listeners run, so only writers hold it in a fork section.
  std::shared_mutex mutex;
  int verbose = -1; ///< -1: QUERN_VERBOSE has not been read yet
  std::vector<Listener> listeners;

  static Observers &process();
  /// In the child of a fork, releases the mutex from the parent's other threads, which do not exist here.
  void forgetInFork();

  /// Computes the set of wanted events. Requires exclusive ownership of the mutex.
  void update() {
    constexpr unsigned ofLevel[] = {0, EventExecute | EventRemote,
                                    EventExecute | EventRemote | EventCreate | EventCompile | EventSpecialize};
    unsigned wanted = verbose < 0 ? detail::verboseUnread : ofLevel[verbose];
    for (const Listener &listener : listeners)
      wanted |= listener.events;
    detail::wantedEvents.store(wanted, std::memory_order_relaxed);
  }
};

/// Observers that are never destroyed, because threads may still run at exit. They are part of the library's data,
/// because failures are also reported when there is no memory.
union Storage {
  constexpr Storage() : observers() {}
  constexpr ~Storage() {}
  Observers observers;
};
constinit Storage storage;

Observers &Observers::process() { return storage.observers; }

thread_local bool inListener = false;

[[gnu::constructor]] void handleForks() {
  forks::onChild([] { Observers::process().forgetInFork(); });
}

void Observers::forgetInFork() {
  new (&mutex) std::shared_mutex;
  if (inListener)
    mutex.lock_shared();
}

/// The exclusive lock of a writer, which is held in a fork section.
struct Writing {
  explicit Writing(Observers &observers) : lock(observers.mutex) {}
  const std::lock_guard<std::shared_mutex> lock;
  const ForkSection section;
};

} // namespace

bool detail::isWanted(unsigned events) {
  if (wantedEvents.load(std::memory_order_relaxed) & verboseUnread) {
    Observers &observers = Observers::process();
    const Writing lock(observers);
    const char *text = secure_getenv("QUERN_VERBOSE");
    if (observers.verbose < 0)
      observers.verbose = text && text[0] >= '0' && text[0] <= '2' && !text[1] ? text[0] - '0' : 0;
    observers.update();
  }
  return (wantedEvents.load(std::memory_order_relaxed) & events) != 0;
}

void setVerboseLevel(int level) {
  Observers &observers = Observers::process();
  const Writing lock(observers);
  observers.verbose = level;
  observers.update();
}

Result<void> setListener(quern_listener_t listener, void *context, unsigned events, EventDelivery deliver) {
  constexpr unsigned known =
      quern_event_create | quern_event_execute | quern_event_fail | quern_event_specialize | quern_event_remote;
  if (events & ~known)
    return invalidArguments("events 0x", std::hex, events, " are not of quern_event_kind_t; all of those are 0x",
                            known);
  if (inListener)
    return invalidArguments("a listener cannot set listeners");
  Observers &observers = Observers::process();
  const Writing lock(observers);
  std::erase_if(observers.listeners,
                [&](const Listener &old) { return old.function == listener && old.context == context; });
  if (events)
    observers.listeners.push_back({listener, context, events, deliver});
  observers.update();
  return {};
}

bool isInListener() { return inListener; }

void notifyListeners(const Event &event) {
  if (inListener)
    return;
  Observers &observers = Observers::process();
  std::shared_lock lock(observers.mutex);
  inListener = true;
  for (const Listener &listener : observers.listeners)
    if (listener.events & event.kind)
      listener.deliver(event, listener.function, listener.context);
  inListener = false;
}

bool printsAt(int level) {
  Observers &observers = Observers::process();
  std::shared_lock lock(observers.mutex);
  return observers.verbose >= level;
}

void printLine(const VerboseLine &line) {
  const std::string text = concat("quern,", line.event, ",", line.detail, ",", nameOf(line.problem.desc.kind()), ",",
                                  line.problem.implementation, ",", line.text, ",", static_cast<double>(line.ns) * 1e-6,
                                  ",", line.key, "\n");
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

const char *nameOfOrigin(quern_origin_t origin) {
  constexpr const char *names[] = {"compiled", "disk", "memory", "blob", "none", "pack", "family", "remote"};
  return names[origin];
}

void reportCompiled(const VerifiedProblem &problem, const KernelKey &key, const std::string &stages, int64_t ns) {
  printLine({"compile", stages, problem, problem.desc.text(), ns, key.digest.hex()});
}

void reportRemote(bool isGivenUp, const char *message) noexcept {
  if (printsAt(1)) {
    std::printf("quern,remote,%s,%s\n", isGivenUp ? "off" : "on", message);
    std::fflush(stdout);
  }
  notifyListeners(
      {.kind = quern_event_remote, .status = isGivenUp ? Status::RuntimeError : Status::Success, .message = message});
}

void reportDebug(const std::string &key, const std::string &message) {
  if (isWanted(EventExecute) && printsAt(1)) {
    std::printf("quern,debug,%s,%s\n", key.c_str(), message.c_str());
    std::fflush(stdout);
  }
}

void reportFailed(const char *function, Status status, const char *message) noexcept {
  notifyListeners({.kind = quern_event_fail, .status = status, .function = function, .message = message});
}

} // namespace quern
