//===- Devices.cpp - quern devices ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lists the devices of this machine, and the targets for which kernels can be compiled.
//
//===----------------------------------------------------------------------===//
#include "Command.h"
#include "Desc/Target.h"
#include "Json.h"
#include "Kernel.h"
#include "Output.h"

#include "quern/quern.h"

#include <fstream>
#include <iostream>

namespace quern {
namespace {

std::string cpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      return line.substr(std::min(line.find(':') + 2, line.size()));
  return "unknown";
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (CpuArch arch : {CpuArch::X86_64, CpuArch::AArch64})
    for (CpuIsa isa : isasOf(arch))
      names.emplace_back(nameOfIsa(isa));
  return names;
}

Json describeCpu() {
  const Target &target = Target::host();
  int threads = 0;
  (void)quern_get_num_threads(&threads);
  return {{"kind", "cpu"},
          {"name", cpuName()},
          {"isa", nameOfIsa(target.isa)},
          {"detected_isa", nameOfIsa(detectedIsa())},
          {"target", target.text()},
          {"threads", threads},
          {"l1_kib", target.l1Kib},
          {"l2_kib", target.l2Kib},
          {"l3_kib", target.l3Kib}};
}

/// Returns the device's name and the properties that the compiler uses.
Result<Json> describeGpu(size_t index) {
  QUERN_ASSIGN_OR_RETURN(Device device, Device::open(quern_gpu, index));
  const DeviceTraits &traits = device.target().device;
  Json sizes = Json::array();
  for (int32_t size = 1; size <= 128; size *= 2)
    if (traits.hasSubGroups(size))
      sizes.push_back(size);
  return Json{{"kind", "gpu"},
              {"index", index},
              {"name", device.name()},
              {"sub_group_sizes", sizes},
              {"max_group_size", traits.maxGroupSize},
              {"group_memory_bytes", traits.groupMemoryBytes},
              {"vector_bytes", traits.vectorBytes},
              {"f16", traits.hasF16},
              {"f64", traits.hasF64},
              {"target", device.target().text()}};
}

void printGpu(const Json &gpu) {
  const int64_t vector = gpu["vector_bytes"].get<int64_t>();
  std::cout << "gpu" << gpu["index"] << ' ' << gpu["name"].get<std::string>() << "\n     sub-groups       "
            << gpu["sub_group_sizes"].dump() << "\n     group            up to " << gpu["max_group_size"]
            << " work-items, " << formatBytes(gpu["group_memory_bytes"].get<int64_t>())
            << " of memory\n     a work-item      moves "
            << (vector ? concat("vectors of ", vector, " bytes") : "elements; the driver forms vectors")
            << "\n     arithmetic       f32" << (gpu["f16"].get<bool>() ? ", f16" : "")
            << (gpu["f64"].get<bool>() ? ", f64" : "") << "\n     target           " << gpu["target"].get<std::string>()
            << '\n';
}

void printText(const Json &cpu, const std::vector<Json> &gpus) {
  std::cout << "cpu  " << cpu["name"].get<std::string>() << "\n     instruction set  " << cpu["isa"].get<std::string>();
  if (cpu["isa"] != cpu["detected_isa"])
    std::cout << " (the machine has " << cpu["detected_isa"].get<std::string>() << "; QUERN_MAX_CPU_ISA caps it)";
  std::cout << "\n     threads          " << cpu["threads"] << "\n     caches           L1 "
            << formatBytes(cpu["l1_kib"].get<int64_t>() * 1024) << ", L2 "
            << formatBytes(cpu["l2_kib"].get<int64_t>() * 1024) << ", L3 "
            << formatBytes(cpu["l3_kib"].get<int64_t>() * 1024) << "\n     target           "
            << cpu["target"].get<std::string>() << '\n';
  for (const Json &gpu : gpus)
    printGpu(gpu);
  if (gpus.empty())
    std::cout << "gpu  none\n";
  std::cout << "targets that can be compiled for: native";
  for (const std::string &name : targetNames())
    std::cout << ", " << name;
  std::cout << '\n';
}

int listDevices(bool json) {
  Json cpu = describeCpu(), all = Json::array({cpu});
  std::vector<Json> gpus;
  for (size_t index = 0; index < quern_engine_get_count(quern_gpu); ++index) {
    Result<Json> gpu = describeGpu(index);
    if (!gpu)
      return reportError(gpu.error());
    gpus.push_back(*gpu);
    all.push_back(std::move(*gpu));
  }
  if (json)
    printJson(Json{{"devices", all}, {"targets", targetNames()}});
  else
    printText(cpu, gpus);
  return exitOk;
}

} // namespace

void addDevicesCommand(Command &program, int &exitCode) {
  auto json = std::make_shared<bool>(false);
  Command command = program.subcommand("devices", "List the devices of this machine and the targets of compilation");
  command.flag("--json", *json, "Print JSON");
  command.callback([json, &exitCode] { exitCode = listDevices(*json); });
}

} // namespace quern
