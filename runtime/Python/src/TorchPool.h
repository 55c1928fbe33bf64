//===- TorchPool.h - PyTorch's threads --------------------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses the stable C interface of PyTorch 2.10 and later, in the PyTorch library that the process has loaded, so
// building it does not require PyTorch.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_TORCH_POOL_H
#define QUERN_PYTHON_TORCH_POOL_H

#include "quern/quern.h"

namespace quern::python {

/// Returns the stream on PyTorch's threads, or cpuStream() if PyTorch is not loaded or is older.
quern_stream_t torchStream();

} // namespace quern::python

#endif // QUERN_PYTHON_TORCH_POOL_H
