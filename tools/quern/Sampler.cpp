//===- Sampler.cpp - Samples of a thread, 10,000 per second ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Sampler.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace quern {
namespace {

constexpr size_t ringBytes = 1 << 18; ///< about 16,000 samples

size_t pageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

int openEvent(uint32_t type, uint64_t event) {
  perf_event_attr about{};
  about.size = sizeof(about);
  about.type = type;
  about.config = event;
  about.freq = 1;
  about.sample_freq = 10000;
  about.sample_type = PERF_SAMPLE_IP;
  about.disabled = 1;
  about.exclude_kernel = 1;
  about.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &about, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string paranoia() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  std::string level;
  return file >> level ? ", perf_event_paranoid is " + level : "";
}

} // namespace

Result<Sampler> Sampler::open() {
  const char *name = "cycles";
  int file = openEvent(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  if (file < 0) {
    name = "cpu-clock";
    file = openEvent(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  }
  if (file < 0)
    return unimplemented("no samples: perf_event_open: ", std::strerror(errno), paranoia());
  void *ring = mmap(nullptr, pageBytes() + ringBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ring == MAP_FAILED) {
    const int failure = errno;
    close(file);
    return unimplemented("no samples: mmap of perf_event_open: ", std::strerror(failure));
  }
  return Sampler(file, ring, name);
}

Sampler::Sampler(Sampler &&other) noexcept
    : file(std::exchange(other.file, -1)), ring(std::exchange(other.ring, nullptr)), name(std::move(other.name)) {}

Sampler::~Sampler() {
  if (ring)
    munmap(ring, pageBytes() + ringBytes);
  if (file >= 0)
    close(file);
}

void Sampler::start() { ioctl(file, PERF_EVENT_IOC_ENABLE, 0); }
void Sampler::stop() { ioctl(file, PERF_EVENT_IOC_DISABLE, 0); }

void Sampler::take(std::vector<uint64_t> &addresses) {
  auto *about = static_cast<perf_event_mmap_page *>(ring);
  const char *data = static_cast<const char *>(ring) + pageBytes();
  const uint64_t head = std::atomic_ref(about->data_head).load(std::memory_order_acquire);
  uint64_t tail = about->data_tail;
  const auto copy = [&](uint64_t from, void *to, size_t bytes) { // records may wrap around the end
    for (size_t i = 0; i < bytes; ++i)
      static_cast<char *>(to)[i] = data[(from + i) % ringBytes];
  };
  while (tail < head) {
    perf_event_header header{};
    copy(tail, &header, sizeof(header));
    if (header.type == PERF_RECORD_SAMPLE) {
      uint64_t address = 0;
      copy(tail + sizeof(header), &address, sizeof(address));
      addresses.push_back(address);
    }
    tail += header.size;
  }
  std::atomic_ref(about->data_tail).store(tail, std::memory_order_release);
}

} // namespace quern
