//===- ClientThread.cpp - Stores, forks and process exit ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Client.h"

#include "Remote/Transfer.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <pthread.h>

namespace quern::remote {
namespace {

constinit std::mutex forking; ///< held by the forking thread

} // namespace

Result<Client *> Client::open(const quern_remote_config &config) {
  static std::once_flag once;
  // Handlers run in reverse order of registration: prepareTransfers() first, so that the libraries' handlers run after
  // ours.
  std::call_once(once, [] {
    prepareTransfers();
    registerHandlers();
  });
  std::unique_ptr<Client> client(new Client);
  QUERN_RETURN_IF_ERROR(client->configure(config));
  // Uses no lock: a fork that holds the other clients may wait for this call.
  client->older = newest.load();
  while (!newest.compare_exchange_weak(client->older, client.get()))
    ;
  return client.release();
}

void Client::registerHandlers() {
  static constinit Client *held = nullptr; // the newest client that the fork holds
  pthread_atfork(
      [] {
        forking.lock();
        held = newest;
        for (Client *client = held; client; client = client->older)
          client->holdStill();
      },
      [] {
        for (Client *client = held; client; client = client->older)
          client->release();
        forking.unlock();
      },
      [] {
        for (Client *client = held; client; client = client->older)
          client->forgetInFork();
        forking.unlock();
      });
  (void)std::atexit([] {
    const Deadline deadline(exitMs * nsPerMs);
    for (Client *client = newest; client; client = client->older)
      client->stop(deadline.leftNs() / nsPerMs);
  });
}

/// Acquires the lock, unless a fork holds or awaits it, or the process ends. A blocking wait could deadlock: another
/// handler of that fork may wait for the calling thread, as the handler for background compilations does.
bool Client::lockOutsideForks(IdleThread::Lock &lock) {
  while (!lock.try_lock()) {
    if (cut)
      return false;
    std::this_thread::yield();
  }
  return idle.holders == 0 && !idle.isStopping;
}

/// Called before a thread enters libcurl or takes any other lock of the client.
bool Client::enter() {
  IdleThread::Lock lock(idle.mutex, std::defer_lock);
  if (!lockOutsideForks(lock))
    return false;
  ++busy;
  return true;
}

void Client::leave() {
  std::lock_guard guard(idle.mutex);
  if (--busy == 0)
    idle.changed.notify_all();
}

/// Ensures that no thread is in libcurl, and acquires all locks.
void Client::holdStill() {
  cut = true;
  IdleThread::Lock lock(idle.mutex);
  ++idle.holders;
  cut = true; // release() of another fork may have cleared it
  idle.changed.notify_all();
  idle.changed.wait(lock, [&] { return busy == 0; });
  misses.lock();
  for (const std::unique_ptr<Server> &server : servers)
    server->lock();
  lock.release();
}

void Client::release() {
  for (const std::unique_ptr<Server> &server : servers)
    server->unlock();
  misses.unlock();
  cut = --idle.holders > 0 || idle.isStopping;
  idle.mutex.unlock();
  idle.changed.notify_all();
}

/// Called with the mutex held by the forking thread, the only thread of the child. The parent stores the queued
/// artifacts.
void Client::forgetInFork() {
  for (const std::unique_ptr<Server> &server : servers) {
    server->disownSockets();
    server->unlock();
  }
  misses.unlock();
  jobs.clear();
  jobBytes = 0;
  hasJobInHand = false;
  cut = idle.isStopping;
  idle.forgetInFork();
  idle.mutex.unlock();
}

void Client::put(StoredKey key, std::string artifact) {
  if (!isWriting)
    return;
  IdleThread::Lock lock(idle.mutex, std::defer_lock);
  const size_t bytes = artifact.size() + key.bytes.size();
  if (!lockOutsideForks(lock) || jobs.size() >= maxJobs || jobBytes + bytes > maxJobBytes) {
    counts.storesDropped += 1;
    return;
  }
  jobs.push_back({std::move(key), std::move(artifact)});
  jobBytes += bytes;
  ensureThread();
}

void Client::requestProbe(Server &server) {
  std::lock_guard guard(idle.mutex);
  if (idle.isStopping)
    return;
  jobs.push_front({{}, {}, &server});
  ensureThread();
}

/// Starts the thread, or discards the queue if that fails. Requires the mutex.
void Client::ensureThread() {
  if (idle.ensure([this] { run(); }))
    return;
  counts.storesDropped += jobs.size();
  jobs.clear();
  jobBytes = 0;
}

void Client::run() {
  sigset_t signals; // signals are for the program's threads
  sigfillset(&signals);
  (void)pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  idle.serve([&] { return !jobs.empty(); }, [&](IdleThread::Lock &lock) { doJob(lock); });
}

void Client::doJob(IdleThread::Lock &lock) {
  ServerJob job = std::move(jobs.front());
  jobs.pop_front();
  hasJobInHand = true;
  ++busy;
  lock.unlock();
  std::vector<CircuitChange> changes;
  bool wasCut = false;
  try {
    if (job.probed)
      job.probed->probe(Deadline(waitNs, &cut), changes);
    else
      for (const std::unique_ptr<Server> &server : servers)
        if (!server->address().isReadOnly && !wasCut)
          storeAt(*server, job.key, job.artifact, wasCut, changes);
  } catch (...) { // out of memory
    counts.storesDropped += 1;
  }
  lock.lock();
  --busy;
  hasJobInHand = false;
  if (wasCut && !idle.isStopping)
    jobs.push_front(std::move(job)); // retry it later
  else if (!job.probed)
    jobBytes -= job.artifact.size() + job.key.bytes.size();
  idle.changed.notify_all();
  lock.unlock();
  report(changes);
  lock.lock();
}

void Client::flush(int64_t milliseconds) {
  IdleThread::Lock lock(idle.mutex);
  if (!idle.isSelf())
    idle.changed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                          [&] { return !idle.isRunning() || (jobs.empty() && !hasJobInHand); });
}

/// Called at the end of the process. Gives the thread `milliseconds` for the queue, ends it, and waits, for at most the
/// idle time, until no thread of the client is in a library.
void Client::stop(int64_t milliseconds) {
  flush(milliseconds);
  IdleThread::Lock lock(idle.mutex);
  if (idle.isSelf())
    return; // a listener has called exit()
  cut = true;
  counts.storesDropped += jobs.size();
  jobs.clear();
  idle.end(lock);
  lock.lock();
  idle.changed.wait_for(lock, IdleThread::idleTime, [&] { return busy == 0; });
}

} // namespace quern::remote
