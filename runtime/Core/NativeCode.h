//===- NativeCode.h - What a device's driver has made of a kernel --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A driver's binary goes where the artifact goes: beside it in the disk cache, behind it in a cache blob. It is an
// artifact, too, whose key names the driver and the device, so that nobody else's is tried.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_NATIVECODE_H
#define QUERN_RUNTIME_CORE_NATIVECODE_H

#include "Core/Device.h"
#include "Desc/Key.h"

namespace quern {

/// The key of what a device's driver makes of the kernel with the key `keyBytes`.
KernelKey nativeKeyOf(const std::string &keyBytes, const Device &device);
/// The artifact of an executable of a device, under that key and with the driver's binary in place of its code.
Result<std::string> nativeArtifactOf(const Executable &executable);

/// A cache blob of a device: the artifact, and behind it that of the driver's binary.
std::string joinBlob(std::string_view artifact, std::string_view native);
struct BlobParts {
  std::string_view artifact, native; ///< `native` may be empty
};
/// What a blob consists of; one that joinBlob() has not made is an artifact alone.
BlobParts splitBlob(std::string_view blob);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_NATIVECODE_H
