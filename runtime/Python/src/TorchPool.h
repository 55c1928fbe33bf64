//===- TorchPool.h - PyTorch's threads --------------------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// By the stable C interface of PyTorch 2.10 and later, of the PyTorch that the process has: nothing of it is needed to
// build this.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_TORCH_POOL_H
#define QUERN_PYTHON_TORCH_POOL_H

#include "quern/quern.h"

namespace quern::python {

/// The stream on PyTorch's threads; that of `cpuStream` where PyTorch is not there, or older.
quern_stream_t torchStream();

} // namespace quern::python

#endif // QUERN_PYTHON_TORCH_POOL_H
