//===- Device.cpp - A Level Zero device and its memory --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/Device.h"

#include "Support/Forks.h"

#include "LevelZero/Stream.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>

namespace quern::ze {
namespace {

constexpr size_t alignment = 64;

/// All existing devices. The mutex guards the list.
struct Known {
  ForkMutex mutex;
  std::vector<Device *> devices;
  std::atomic<int> count{0};
  std::atomic<pid_t> process{0}; ///< process that created the first one
};
Known &known() {
  return immortal([] { return new Known; });
}

/// Returns true if the devices belong to the parent of this forked process, in which no driver works.
bool isOfParent() {
  const pid_t process = known().process.load(std::memory_order_acquire);
  return process && process != getpid();
}

template <typename Properties> Properties empty(ze_structure_type_t type) {
  Properties properties{};
  properties.stype = type;
  return properties;
}

/// Limits a value to the maximum of a target.
int32_t clamped(uint32_t value) { return static_cast<int32_t>(std::min<uint32_t>(value, 1u << 30)); }

/// Returns true if a device can be an engine: a GPU, or the device of a driver for CPUs.
bool computes(ze_device_type_t type) { return type == ZE_DEVICE_TYPE_GPU || type == ZE_DEVICE_TYPE_CPU; }

Result<Target> readTarget(ze_device_handle_t device, ze_device_type_t type, DeviceProperties &properties) {
  auto compute = empty<ze_device_compute_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
  QUERN_ZE_TRY(zeDeviceGetComputeProperties, device, &compute);
  auto module = empty<ze_device_module_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
  QUERN_ZE_TRY(zeDeviceGetModuleProperties, device, &module);
  properties.maxGroupCount = compute.maxGroupCountX;
  Target target;
  target.kind = TargetKind::Spirv;
  target.device.subGroupSizes = 0;
  for (uint32_t i = 0; i < std::min<uint32_t>(compute.numSubGroupSizes, std::size(compute.subGroupSizes)); ++i)
    if (std::has_single_bit(compute.subGroupSizes[i]) && compute.subGroupSizes[i] <= 128)
      target.device.subGroupSizes |= compute.subGroupSizes[i];
  if (!target.device.subGroupSizes)
    return unimplemented("the device has no sub-groups of a power of two up to 128");
  target.device.maxGroupSize = clamped(std::min(compute.maxTotalGroupSize, compute.maxGroupSizeX));
  // Targets have at least one byte; no kernel can use so little.
  target.device.groupMemoryBytes = clamped(std::max(compute.maxSharedLocalMemory, 1u));
  // A driver for a CPU builds vectors of adjacent work-items, which vectors inside a work-item would prevent.
  target.device.vectorBytes = type == ZE_DEVICE_TYPE_GPU ? DeviceTraits::gpuVectorBytes : 0;
  target.device.hasF16 = module.flags & ZE_DEVICE_MODULE_FLAG_FP16;
  target.device.hasF64 = module.flags & ZE_DEVICE_MODULE_FLAG_FP64;
  return target;
}

Result<void> readQueueGroup(ze_device_handle_t device, DeviceProperties &properties) {
  uint32_t count = 0;
  QUERN_ZE_TRY(zeDeviceGetCommandQueueGroupProperties, device, &count, nullptr);
  std::vector<ze_command_queue_group_properties_t> groups(
      count, empty<ze_command_queue_group_properties_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES));
  QUERN_ZE_TRY(zeDeviceGetCommandQueueGroupProperties, device, &count, groups.data());
  for (uint32_t i = 0; i < count; ++i)
    if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) {
      properties.queueGroup = i;
      return {};
    }
  return unimplemented("the device has no compute queue");
}

Result<DeviceProperties> readProperties(ze_driver_handle_t driver, ze_device_handle_t device) {
  DeviceProperties properties;
  auto own = empty<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
  QUERN_ZE_TRY(zeDeviceGetProperties, device, &own);
  auto drivers = empty<ze_driver_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
  QUERN_ZE_TRY(zeDriverGetProperties, driver, &drivers);
  properties.name = own.name;
  properties.driverVersion = std::to_string(drivers.driverVersion);
  properties.id = concat(std::hex, own.vendorId, ":", own.deviceId);
  properties.maxAllocationBytes = own.maxMemAllocSize;
  if (own.timerResolution > 0) // in ticks per second
    properties.nsPerTick = 1e9 / static_cast<double>(own.timerResolution);
  if (own.kernelTimestampValidBits > 0 && own.kernelTimestampValidBits < 64)
    properties.tickMask = (uint64_t(1) << own.kernelTimestampValidBits) - 1;
  QUERN_RETURN_IF_ERROR(readQueueGroup(device, properties));
  QUERN_ASSIGN_OR_RETURN(Target target, readTarget(device, own.type, properties));
  properties.target = target;
  return properties;
}

/// Appends the devices of a driver; unusable devices are skipped.
Result<void> addDevices(ze_driver_handle_t driver, std::vector<std::shared_ptr<quern::Device>> &found) {
  uint32_t count = 0;
  QUERN_ZE_TRY(zeDeviceGet, driver, &count, nullptr);
  std::vector<ze_device_handle_t> handles(count);
  QUERN_ZE_TRY(zeDeviceGet, driver, &count, handles.data());
  for (ze_device_handle_t handle : handles) {
    auto properties = empty<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    QUERN_ZE_TRY(zeDeviceGetProperties, handle, &properties);
    if (!computes(properties.type))
      continue;
    Result<std::shared_ptr<Device>> device = Device::create(driver, handle);
    if (!device && device.error().status != Status::Unimplemented)
      return device.takeError();
    if (device)
      found.push_back(std::move(*device));
  }
  return {};
}

/// Returns the usable devices of all drivers; empty without a loader or driver.
Result<std::vector<std::shared_ptr<quern::Device>>> findDevices() {
  std::vector<std::shared_ptr<quern::Device>> found;
  if (!functions())
    return found;
  const ze_result_t result = api().zeInit(ZE_INIT_FLAG_GPU_ONLY);
  if (result == ZE_RESULT_ERROR_UNINITIALIZED || result == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
    return found; // no driver of the loader is for this machine
  if (result)
    return errorOf(result, "zeInit");
  uint32_t count = 0;
  QUERN_ZE_TRY(zeDriverGet, &count, nullptr);
  std::vector<ze_driver_handle_t> drivers(count);
  QUERN_ZE_TRY(zeDriverGet, &count, drivers.data());
  for (ze_driver_handle_t driver : drivers)
    QUERN_RETURN_IF_ERROR(addDevices(driver, found));
  return found;
}

/// Checks that handles of the program can be used.
Result<void> requireLoader() {
  if (!functions())
    return runtimeError("libze_loader.so.1 cannot be opened, although there are handles of Level Zero");
  if (isOfParent())
    return runtimeError("Level Zero was in use when this process was forked: its devices are the parent's");
  return {};
}

} // namespace

Device::Device(ze_driver_handle_t driver, ze_device_handle_t device, ze_context_handle_t context, OwnedContext owned,
               DeviceProperties traits)
    : driver(driver), device(device), contextHandle(context), ownedContext(std::move(owned)),
      traits(std::move(traits)) {
  std::lock_guard lock(known().mutex);
  known().devices.push_back(this);
  pid_t none = 0;
  known().process.compare_exchange_strong(none, getpid());
  ++known().count;
}

Device::~Device() {
  std::lock_guard lock(known().mutex);
  std::erase(known().devices, this);
  --known().count;
}

Result<std::shared_ptr<Device>> Device::make(ze_driver_handle_t driver, ze_device_handle_t device,
                                             ze_context_handle_t context, OwnedContext owned) {
  QUERN_ASSIGN_OR_RETURN(DeviceProperties properties, readProperties(driver, device));
  return std::shared_ptr<Device>(new Device(driver, device, context, std::move(owned), std::move(properties)));
}

Result<std::shared_ptr<Device>> Device::create(ze_driver_handle_t driver, ze_device_handle_t device) {
  const auto desc = empty<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
  ze_context_handle_t context = nullptr;
  QUERN_ZE_TRY(zeContextCreate, driver, &desc, &context);
  return make(driver, device, context, OwnedContext(context));
}

Result<std::shared_ptr<Device>> Device::lend(ze_driver_handle_t driver, ze_device_handle_t device,
                                             ze_context_handle_t context) {
  QUERN_RETURN_IF_ERROR(requireLoader());
  {
    std::lock_guard lock(known().mutex);
    for (Device *each : known().devices)
      if (each->driver == driver && each->device == device && each->contextHandle == context)
        if (std::shared_ptr<Device> shared = each->weak_from_this().lock())
          return shared;
  }
  return make(driver, device, context, nullptr);
}

Result<std::string> Device::identityOf(ze_driver_handle_t driver, ze_device_handle_t device) {
  QUERN_RETURN_IF_ERROR(requireLoader());
  Result<DeviceProperties> properties = readProperties(driver, device);
  return properties ? Result<std::string>(properties->identity()) : properties.takeError();
}

Result<void *> Device::allocate(int64_t bytes) const {
  if (static_cast<uint64_t>(bytes) > traits.maxAllocationBytes)
    return Error{Status::OutOfMemory,
                 concat("cannot allocate ", bytes, " bytes; ", traits.name, " allows ", traits.maxAllocationBytes)};
  const auto desc = empty<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
  void *memory = nullptr;
  QUERN_ZE_TRY(zeMemAllocDevice, contextHandle, &desc, static_cast<size_t>(bytes), alignment, device, &memory);
  return memory;
}

Result<void *> Device::allocateOnHost(int64_t bytes) const {
  const auto desc = empty<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
  void *memory = nullptr;
  QUERN_ZE_TRY(zeMemAllocHost, contextHandle, &desc, static_cast<size_t>(bytes), alignment, &memory);
  return memory;
}

void Device::free(void *memory) const {
  if (!memory)
    return;
  waitForStreams();
  freeUnused(memory);
}

void Device::freeUnused(void *memory) const {
  if (memory)
    (void)api().zeMemFree(contextHandle, memory);
}

Result<PointedMemory> Device::find(const void *pointer) const {
  auto properties = empty<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
  ze_device_handle_t where = nullptr;
  if (!pointer)
    return PointedMemory{};
  QUERN_ZE_TRY(zeMemGetAllocProperties, contextHandle, pointer, &properties, &where);
  switch (properties.type) {
  case ZE_MEMORY_TYPE_HOST:
    return PointedMemory{MemoryKind::Host, properties.id};
  case ZE_MEMORY_TYPE_DEVICE:
    return where == device ? PointedMemory{MemoryKind::Device, properties.id} : PointedMemory{};
  case ZE_MEMORY_TYPE_SHARED:
    return PointedMemory{MemoryKind::Shared, properties.id};
  default:
    return PointedMemory{};
  }
}

Result<void> Device::copy(void *to, const void *from, size_t bytes) {
  std::lock_guard lock(copyMutex);
  if (!copyList) {
    QUERN_ASSIGN_OR_RETURN(copyList, makeImmediateList(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS));
  }
  QUERN_ZE_TRY(zeCommandListAppendMemoryCopy, copyList.get(), to, from, bytes, nullptr, 0, nullptr);
  return {};
}

Result<OwnedList> Device::makeImmediateList(ze_command_queue_mode_t mode) const {
  auto desc = empty<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  desc.ordinal = traits.queueGroup;
  desc.mode = mode;
  ze_command_list_handle_t list = nullptr;
  QUERN_ZE_TRY(zeCommandListCreateImmediate, contextHandle, device, &desc, &list);
  return OwnedList(list);
}

Result<OwnedList> Device::makeList() const {
  auto desc = empty<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  desc.commandQueueGroupOrdinal = traits.queueGroup;
  ze_command_list_handle_t list = nullptr;
  QUERN_ZE_TRY(zeCommandListCreate, contextHandle, device, &desc, &list);
  return OwnedList(list);
}

Result<OwnedQueue> Device::makeQueue() const {
  auto desc = empty<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  desc.ordinal = traits.queueGroup;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  ze_command_queue_handle_t queue = nullptr;
  QUERN_ZE_TRY(zeCommandQueueCreate, contextHandle, device, &desc, &queue);
  return OwnedQueue(queue);
}

void Device::add(Stream *stream) {
  std::lock_guard lock(streamMutex);
  streams.insert(stream);
}
void Device::remove(Stream *stream) {
  std::lock_guard lock(streamMutex);
  streams.erase(stream);
}
void Device::waitForStreams() const {
  std::lock_guard lock(streamMutex);
  for (Stream *stream : streams)
    (void)stream->wait();
}

Result<std::shared_ptr<const Executable>> Device::load(Artifact artifact, std::string bytes,
                                                       const VerifiedProblem &problem, std::string_view native) {
  return DeviceExecutable::load(std::move(artifact), std::move(bytes), problem, shared_from_this(), native);
}

Result<std::unique_ptr<quern::Stream>> Device::makeStream(Engine *engine, bool isInOrder, bool isProfiling) {
  return Stream::create(engine, *this, isInOrder, isProfiling);
}

} // namespace quern::ze

namespace quern {

uint64_t newAllocation() {
  static std::atomic<uint64_t> last{uint64_t(1) << 63};
  return ++last;
}

Result<std::span<const std::shared_ptr<Device>>> allDevices() {
  struct All {
    ForkMutex mutex;
    bool wereFound = false;
    std::vector<std::shared_ptr<Device>> devices;
  };
  All *all = &immortal([] { return new All; });
  if (ze::isOfParent())
    return std::span<const std::shared_ptr<Device>>();
  std::lock_guard lock(all->mutex);
  if (!all->wereFound) {
    QUERN_ASSIGN_OR_RETURN(all->devices, ze::findDevices());
    all->wereFound = true;
  }
  return std::span<const std::shared_ptr<Device>>(all->devices);
}

Result<PointedMemory> findAnywhere(const void *pointer) {
  if (!pointer || ze::known().count.load(std::memory_order_acquire) == 0 || ze::isOfParent())
    return PointedMemory{};
  std::lock_guard lock(ze::known().mutex);
  for (const Device *device : ze::known().devices)
    if (Result<PointedMemory> found = device->find(pointer); !found || found->kind != MemoryKind::Unknown)
      return found;
  return PointedMemory{};
}

} // namespace quern
