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

void setEvent(Event &event, bool value, uint64_t start = 0, uint64_t end = 0);
/// Calls `read` while no event changes.
void readEvents(const std::function<void()> &read);
/// Until `isDone` or the device is lost, which every later wait says. NOT_READY after so many ns.
ze_result_t waitFor(uint64_t timeout, const std::function<bool()> &isDone);

struct Command {
  std::function<ze_result_t(cl_command_queue, cl_event *)> enqueue{}; ///< none: the device is waited for
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
  ze_result_t run(const Commands &commands);
  ze_result_t runOne(const Command &command);

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
