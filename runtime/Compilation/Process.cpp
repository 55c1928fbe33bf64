//===- Process.cpp - Compiling in separate processes ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A process handles one request at a time, so that a crash has one cause and affects one caller.
//
//===----------------------------------------------------------------------===//
#include "Compilation/Process.h"

#include "Compilation/Child.h"
#include "Compilation/Library.h"
#include "Compilation/Messages.h"
#include "Desc/PrimitiveDesc.h"
#include "Support/Bytes.h"
#include "Support/Forks.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace quern {
namespace {

/// Returns the value of a variable that sets a limit; `standard` if it is not set.
Result<int64_t> limitOf(const char *variable, const char *unit, int64_t standard, int64_t least, int64_t most) {
  const char *text = secure_getenv(variable);
  if (!text || !*text)
    return int64_t(standard);
  const std::string_view digits = text;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (error != std::errc() || end != digits.end() || value < least || value > most)
    return invalidArguments(variable, " is '", digits, "'; it must be a number of ", unit, ", ", least, " to ", most);
  return value;
}

struct Limits {
  CompilerChildSettings settings;
  CompilerChild::Deadline deadline() const {
    return std::chrono::steady_clock::now() + std::chrono::seconds(settings.seconds);
  }
};

Result<Limits> limits() {
  QUERN_ASSIGN_OR_RETURN(int64_t seconds, limitOf("QUERN_COMPILER_SECONDS", "seconds", 60, 1, 86400));
  QUERN_ASSIGN_OR_RETURN(int64_t mib, limitOf("QUERN_COMPILER_MIB", "MiB", 4096, 512, 1 << 20));
  QUERN_ASSIGN_OR_RETURN(std::string program, fileBesideLibrary("QUERN_COMPILER_PROCESS", "quern-compiler-process"));
  QUERN_ASSIGN_OR_RETURN(std::string library, CompilerLibrary::path());
  return Limits{{std::move(program), std::move(library), mib, seconds}};
}

/// True if requests of this thread may be aborted.
thread_local bool isInterruptible = false;

/// The compiler processes of this process.
class Pool {
public:
  static Pool &process() {
    return immortal([] {
      forks::onChild([] { process().forgetInFork(); });
      return new Pool;
    });
  }

  /// A process for one request. It is killed at the end of the lease unless `isGood`.
  struct Lease {
    Lease() = default;
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    ~Lease() {
      if (child)
        Pool::process().giveBack(child, isGood);
    }
    CompilerChild *child = nullptr;
    bool isNew = false, isGood = false;
  };
  /// Marks the start and the end of an exchange. It may be aborted in between, if this thread is interruptible.
  void expose(CompilerChild *child);
  void protect(const CompilerChild *child);
  /// Aborts the exchanges of interruptible threads.
  void interrupt();
  /// Waits while the maximum number of processes is working.
  Result<void> acquire(const Limits &limits, Lease &lease);

private:
  CompilerChild *takeIdle(const CompilerChildSettings &settings);
  void giveBack(CompilerChild *child, bool isGood);
  void forgetInFork();

  ForkMutex mutex; ///< guards the members below
  std::condition_variable_any changed;
  std::vector<CompilerChild *> all, idle;
  std::vector<CompilerChild *> interruptible; ///< those working for interruptible threads
  size_t working = 0;
};

/// Called in the child of a fork, which does not own the processes. They would outlive the parent as long as the child
/// kept their sockets open.
void Pool::forgetInFork() {
  for (CompilerChild *child : all)
    child->abandon(); // those that are working belong to threads that do not exist here
  all.clear();
  idle.clear();
  interruptible.clear();
  working = 0;
  new (&changed) std::condition_variable_any;
}

/// Returns an idle process with these settings, or null. Requires the mutex. Drops idle processes that have other
/// settings or have ended.
CompilerChild *Pool::takeIdle(const CompilerChildSettings &settings) {
  while (!idle.empty()) {
    CompilerChild *child = idle.back();
    idle.pop_back();
    if (child->settings() == settings && child->isIdle())
      return child;
    std::erase(all, child);
    delete child;
  }
  return nullptr;
}

Result<void> Pool::acquire(const Limits &limits, Lease &lease) {
  const size_t most = std::max(1u, std::thread::hardware_concurrency());
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return working < most; });
  lease.child = takeIdle(limits.settings);
  lease.isNew = !lease.child;
  if (lease.isNew) {
    all.reserve(all.size() + 1);
    idle.reserve(all.size() + 1); // so that giveBack() cannot fail
    auto started = std::make_unique<CompilerChild>();
    QUERN_RETURN_IF_ERROR(started->start(limits.settings));
    all.push_back(started.get());
    lease.child = started.release();
  }
  ++working;
  lock.unlock();
  return lease.isNew ? lease.child->greet(limits.deadline()) : Result<void>();
}

void Pool::expose(CompilerChild *child) {
  std::lock_guard lock(mutex);
  if (isInterruptible)
    interruptible.push_back(child);
}

void Pool::protect(const CompilerChild *child) {
  std::lock_guard lock(mutex);
  std::erase(interruptible, child);
}

void Pool::interrupt() {
  std::lock_guard lock(mutex);
  for (const CompilerChild *child : interruptible)
    child->interrupt();
}

void Pool::giveBack(CompilerChild *child, bool isGood) {
  {
    std::lock_guard lock(mutex);
    --working;
    if (isGood)
      idle.push_back(child);
    else
      std::erase(all, child);
  }
  changed.notify_one();
  if (!isGood)
    delete child;
}

/// Returns the text that identifies the problem, to reproduce a failure.
std::string reproduction(const CompilerRequest &request) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::fromBytes(request.descriptor);
  return concat(" in '", desc ? desc->title() : "an unreadable descriptor", "' for ", request.target);
}

std::string frameOf(const CompilerRequest &request) {
  ByteWriter writer;
  writer.put(request.kind);
  writer.put<int32_t>(request.form);
  writer.put<int32_t>(CompilerLibrary::verifiesIr());
  writer.putString(request.target);
  writer.putString(request.descriptor);
  writer.putString(request.source);
  return writer.take();
}

/// Performs one exchange. Sets `mayRetry` if earlier requests to the process may have caused the failure.
Result<std::string> exchange(const Limits &limits, const CompilerRequest &request, bool &mayRetry) {
  Pool::Lease lease;
  QUERN_RETURN_IF_ERROR(Pool::process().acquire(limits, lease));
  std::string answer;
  Pool::process().expose(lease.child);
  const CompilerChild::Outcome outcome = lease.child->exchange(frameOf(request), answer, limits.deadline());
  Pool::process().protect(lease.child); // its descriptors may be closed from here on
  lease.isGood = outcome == CompilerChild::Outcome::Answered;
  if (lease.isGood)
    return answer;
  Error how = lease.child->end();
  if (outcome == CompilerChild::Outcome::TooLong)
    return internalError("the compiler's process took longer than ", limits.settings.seconds,
                         " s (QUERN_COMPILER_SECONDS)", reproduction(request));
  mayRetry = !lease.isNew && (outcome == CompilerChild::Outcome::Unheard || how.status == Status::OutOfMemory);
  if (how.status == Status::OutOfMemory)
    how.message = concat("needs more than ", limits.settings.memoryMib, " MiB (QUERN_COMPILER_MIB)");
  return Error{how.status, concat("the compiler's process ", how.message, reproduction(request))};
}

} // namespace

Result<std::string> CompilerProcess::answer(const CompilerRequest &request, std::string *stageTimes) {
  QUERN_ASSIGN_OR_RETURN(Limits now, limits());
  bool mayRetry = false, isLast = false;
  Result<std::string> answer = exchange(now, request, mayRetry);
  if (!answer && mayRetry)
    answer = exchange(now, request, isLast);
  if (!answer)
    return answer.takeError();
  ByteReader reader(*answer);
  const auto status = static_cast<Status>(reader.get<int32_t>());
  std::string text(reader.getString());
  const std::string_view times = reader.getString();
  if (!reader.ok() || !reader.atEnd())
    return internalError("the compiler's process returned a malformed response", reproduction(request));
  if (stageTimes)
    *stageTimes = times;
  if (status != Status::Success)
    return Error{status, std::move(text)};
  return text;
}

CompilerProcess::Interruptible::Interruptible() { isInterruptible = true; }
CompilerProcess::Interruptible::~Interruptible() { isInterruptible = false; }

void CompilerProcess::interrupt() { Pool::process().interrupt(); }

} // namespace quern
