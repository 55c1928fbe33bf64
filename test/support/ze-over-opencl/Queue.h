//===- Queue.h - Events, commands and queues -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_ZE_OVER_OPENCL_QUEUE_H
#define QUERN_TEST_ZE_OVER_OPENCL_QUEUE_H

#include "Driver.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace zocl {

struct Event : Counted {
  bool isSet = false;
  uint64_t start = 0, end = 0; ///< of the command that signalled it, in ns
};

/// Guards events and the progress of queues; `changed` tells of any change.
struct Signals {
  std::mutex mutex;
  std::condition_variable changed;
  ze_result_t lost = ZE_RESULT_SUCCESS; ///< the first error of a queue: every later wait gives it
};
Signals &signals();

void setEvent(Event &event, bool value, uint64_t start = 0, uint64_t end = 0);
/// Until `isDone` or the device is lost. NOT_READY after so many ns.
ze_result_t waitFor(uint64_t timeout, const std::function<bool()> &isDone);
/// DEVICE_LOST after an error of a queue.
ze_result_t deviceStatus();

struct Command {
  std::function<ze_result_t(cl_command_queue, cl_event *)> enqueue{}; ///< a command of the device, or
  std::function<void()> host{};                                       ///< what the host does once the device is idle
  Event *signal = nullptr;
  std::vector<Event *> waits{};
  bool isBarrier = false;
};
using Commands = std::vector<Command>;

/// Runs what is submitted on a thread of its own, in order.
class Queue : public Counted {
public:
  Queue(const Context &context, Device &device, bool isSynchronous);
  ~Queue();
  ze_result_t submit(std::shared_ptr<const Commands> commands);
  ze_result_t synchronize(uint64_t timeout);
  cl_int error = CL_SUCCESS; ///< of the construction

  /// Until no queue has anything left to do.
  static void waitForAll();

private:
  void work();
  void run(const Commands &commands);
  bool runOne(const Command &command);
  bool runOnDevice(const Command &command, uint64_t &start, uint64_t &end);
  void fail(const char *what, ze_result_t result);

  Device &device;
  const bool isSynchronous;
  bool isStopping = false;
  cl_command_queue queue = nullptr;
  std::deque<std::shared_ptr<const Commands>> jobs;
  uint64_t submitted = 0, completed = 0;
  std::thread worker;
};

} // namespace zocl

#endif // QUERN_TEST_ZE_OVER_OPENCL_QUEUE_H
