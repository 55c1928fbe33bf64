//===- TargetText.cpp - The text form of targets --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A name and, after a colon, the values that differ from the defaults. A device's text has all of its limits, because
// they determine which code it runs.
//
//===----------------------------------------------------------------------===//
#include "Desc/Target.h"

#include <bit>
#include <charconv>

namespace quern {
namespace {

constexpr std::string_view deviceName = "spirv64";

/// "name=value", or only a name.
struct Item {
  std::string_view name, value;
};

std::optional<int32_t> numberOf(std::string_view text) {
  int32_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1 ? std::optional(number) : std::nullopt;
}

/// Calls `read` with each item after the colon.
template <typename Read> Result<void> readItems(std::string_view text, Read read) {
  for (size_t at = text.find(':'); at != text.npos;) {
    size_t comma = text.find(',', at + 1);
    std::string_view item = text.substr(at + 1, comma == text.npos ? comma : comma - at - 1).substr(0, 40);
    size_t equals = item.find('=');
    if (Result<void> ok =
            read(Item{item.substr(0, equals), equals == item.npos ? std::string_view() : item.substr(equals + 1)});
        !ok)
      return ok;
    at = comma;
  }
  return {};
}

Result<void> readVectorBits(Target &target, std::string_view text, std::string_view value) {
  std::optional<int32_t> bits = numberOf(value);
  if (!isSve(target.isa))
    return invalidArguments("target '", text, "': vl is the vector length of SVE, which this level lacks");
  if (!bits || !isSveLength(*bits))
    return invalidArguments("target '", text, "': vl is '", value, "'; it must be 128, 256 or 512");
  target.vectorBits = *bits;
  return {};
}

Result<void> readCpuItem(Target &target, std::string_view text, Item item) {
  if (item.name == "vl")
    return readVectorBits(target, text, item.value);
  int32_t *size = item.name == "l1"   ? &target.l1Kib
                  : item.name == "l2" ? &target.l2Kib
                  : item.name == "l3" ? &target.l3Kib
                                      : nullptr;
  if (!size)
    return invalidArguments("target '", text, "': '", item.name, "' is not one of ",
                            isSve(target.isa) ? "l1, l2, l3 and vl" : "l1, l2 and l3");
  std::optional<int32_t> number = numberOf(item.value);
  if (!number)
    return invalidArguments("target '", text, "': ", item.name, " is '", item.value,
                            "'; it must be a number of KiB from 1 to ", INT32_MAX);
  *size = *number;
  return {};
}

Result<void> readSubGroupSizes(DeviceTraits &device, std::string_view text, std::string_view value) {
  device.subGroupSizes = 0;
  for (size_t at = 0; at <= value.size();) {
    size_t plus = std::min(value.find('+', at), value.size());
    std::optional<int32_t> size = numberOf(value.substr(at, plus - at));
    if (!size || *size > 128 || !std::has_single_bit(static_cast<uint32_t>(*size)))
      return invalidArguments("target '", text, "': sg is '", value,
                              "'; it must be powers of two from 1 to 128, separated by '+'");
    device.subGroupSizes |= static_cast<uint32_t>(*size);
    at = plus + 1;
  }
  return {};
}

Result<void> readVectorBytes(DeviceTraits &device, std::string_view text, std::string_view value) {
  const std::optional<int32_t> bytes = numberOf(value);
  if (!bytes || *bytes < 4 || *bytes > 64 || !std::has_single_bit(static_cast<uint32_t>(*bytes)))
    return invalidArguments("target '", text, "': vec is '", value, "'; it must be a power of two from 4 to 64");
  device.vectorBytes = *bytes;
  return {};
}

Result<void> readDeviceItem(DeviceTraits &device, std::string_view text, Item item) {
  if (item.name == "sg")
    return readSubGroupSizes(device, text, item.value);
  if (item.name == "vec")
    return readVectorBytes(device, text, item.value);
  if (bool *feature = item.name == "f16"   ? &device.hasF16
                      : item.name == "f64" ? &device.hasF64
                                           : nullptr;
      feature && item.value.empty()) {
    *feature = true;
    return {};
  }
  int32_t *number = item.name == "group" ? &device.maxGroupSize
                    : item.name == "slm" ? &device.groupMemoryBytes
                                         : nullptr;
  if (!number)
    return invalidArguments("target '", text, "': '", item.name, "' is not one of sg, group, slm, vec, f16 and f64");
  std::optional<int32_t> value = numberOf(item.value);
  if (!value)
    return invalidArguments("target '", text, "': ", item.name, " is '", item.value,
                            "'; it must be a number from 1 to ", INT32_MAX);
  *number = *value;
  return {};
}

std::string textOf(const DeviceTraits &device) {
  std::string sizes;
  for (uint32_t size = 1; size <= 128; size *= 2)
    if (device.subGroupSizes & size)
      sizes += concat(sizes.empty() ? "" : "+", size);
  return concat(deviceName, ":sg=", sizes, ",group=", device.maxGroupSize, ",slm=", device.groupMemoryBytes,
                device.vectorBytes ? concat(",vec=", device.vectorBytes) : "", device.hasF16 ? ",f16" : "",
                device.hasF64 ? ",f64" : "");
}

} // namespace

std::string_view Target::name() const { return isCpu() ? nameOfIsa(isa) : deviceName; }

Result<Target> Target::parse(std::string_view text) {
  std::string_view shown = text.substr(0, 100); // for messages
  std::string_view name = text.substr(0, text.find(':'));
  if (name == "native")
    return name == text ? Result<Target>(host())
                        : invalidArguments("target '", shown, "': native does not accept cache sizes");
  Target target;
  if (name == deviceName) {
    target.kind = TargetKind::Spirv;
    if (text == deviceName)
      target.device.vectorBytes = DeviceTraits::gpuVectorBytes;
    if (Result<void> read = readItems(text, [&](Item item) { return readDeviceItem(target.device, shown, item); });
        !read)
      return read.takeError();
    return target;
  }
  std::optional<CpuIsa> isa = isaFromName(name);
  if (!isa || name.empty())
    return invalidArguments(
        "target '", shown,
        "' is unknown; known are native, sse42, avx2, avx512_core, avx512_core_vnni, avx512_core_bf16, ",
        "avx512_core_fp16, avx512_core_amx, neon, neon_dotprod, neon_bf16, sve:vl=, sve_bf16:vl= and spirv64");
  target = targetOfIsa(*isa);
  QUERN_RETURN_IF_ERROR(readItems(text, [&](Item item) { return readCpuItem(target, shown, item); }));
  if (isSve(*isa) && !target.vectorBits)
    return invalidArguments("target '", shown, "' lacks the length of its vectors in bits: vl=128, vl=256 or vl=512");
  return target;
}

std::string Target::text() const {
  if (!isCpu())
    return textOf(device);
  constexpr int32_t Target::*sizes[] = {&Target::l1Kib, &Target::l2Kib, &Target::l3Kib};
  std::string out(nameOfIsa(isa));
  char separator = ':';
  const Target standard = targetOfIsa(isa);
  if (vectorBits) {
    out += concat(separator, "vl=", vectorBits);
    separator = ',';
  }
  for (int level = 0; level < 3; ++level) {
    if (this->*sizes[level] == standard.*sizes[level])
      continue;
    out += concat(separator, "l", level + 1, "=", this->*sizes[level]);
    separator = ',';
  }
  return out;
}

} // namespace quern
