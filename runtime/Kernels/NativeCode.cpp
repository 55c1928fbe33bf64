//===- NativeCode.cpp - A device driver's binary of a kernel --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels/NativeCode.h"

namespace quern {

KernelKey nativeKeyOf(const std::string &keyBytes, const Device &device) {
  KernelKey own;
  own.bytes = concat(keyBytes, "native ", device.identity());
  own.digest = digestOf(own.bytes);
  return own;
}

Result<std::string> nativeArtifactOf(const Executable &executable) {
  QUERN_ASSIGN_OR_RETURN(std::string binary, executable.nativeCode());
  QUERN_ASSIGN_OR_RETURN(Artifact artifact, Artifact::parse(executable.artifactBytes()));
  artifact.codeKind = CodeKind::DeviceBinary;
  artifact.keyBytes = nativeKeyOf(artifact.keyBytes, *executable.device()).bytes;
  artifact.code = std::move(binary);
  return artifact.serialize();
}

} // namespace quern
