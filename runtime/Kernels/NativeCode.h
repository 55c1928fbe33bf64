//===- NativeCode.h - A device driver's binary of a kernel ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A driver's binary is stored with the artifact: next to it in the disk cache, after it in a cache blob. It is also an
// artifact, whose key contains the driver and the device, so a binary of another driver is never loaded.
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_KERNELS_NATIVECODE_H
#define QUERN_RUNTIME_KERNELS_NATIVECODE_H

#include "Desc/Key.h"
#include "Engine/Device.h"

namespace quern {

/// Returns the key of the binary that a device's driver creates from the kernel with the key `keyBytes`.
KernelKey nativeKeyOf(const std::string &keyBytes, const Device &device);
/// Returns the serialized artifact of a device's executable, with nativeKeyOf() as its key and with the driver's binary
/// in place of its code.
Result<std::string> nativeArtifactOf(const Executable &executable);

} // namespace quern

#endif // QUERN_RUNTIME_KERNELS_NATIVECODE_H
