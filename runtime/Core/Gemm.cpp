//===- Gemm.cpp - Matrix products as functions ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If beta is 0, or ao and bo are 0, the kernel omits them. An integer kernel omits alpha if alpha is 1 and beta is 0. A
// float kernel always multiplies by alpha, because that costs nothing.
//
//===----------------------------------------------------------------------===//
#include "Core/Gemm.h"

#include "Core/Problem.h"
#include "Cpu/Execute.h"
#include "Engine/Overlap.h"

#include <array>
#include <mutex>

namespace quern {
namespace {

/// The properties of a call that select its kernel.
struct GemmKind {
  DataType srcType;
  bool transposesA, transposesB, scales, adds, hasOffsets;
  GemmOffset dstOffset;

  bool isFloat() const { return srcType == DataType::F32; }
  size_t index() const {
    const size_t type = srcType == DataType::F32 ? 0 : srcType == DataType::U8 ? 1 : 2;
    return (((((type * 2 + transposesA) * 2 + transposesB) * 2 + scales) * 2 + adds) * 2 + hasOffsets) * 4 +
           static_cast<size_t>(dstOffset);
  }
  static constexpr size_t count = 3 * 2 * 2 * 2 * 2 * 2 * 4;
};

bool isOneOf(char letter, const char *letters) { return letter == letters[0] || letter == letters[1]; }

/// A matrix as stored, and the name of the parameter for its row stride.
struct StoredMatrix {
  const char *name, *leadName;
  const void *data;
  int64_t rows, row, lead; ///< `row`: elements of a row
  DataType type;
};

/// Returns true if the matrix ends beyond the address space of a process. Its sizes must be positive.
bool isBeyondMemory(const StoredMatrix &matrix) {
  int64_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(matrix.rows - 1, matrix.lead, &bytes) ||
                         __builtin_add_overflow(bytes, matrix.row, &bytes) ||
                         __builtin_mul_overflow(bytes, bitsOf(matrix.type) / 8, &bytes);
  return overflows || bytes > INT64_MAX - static_cast<int64_t>(reinterpret_cast<uintptr_t>(matrix.data));
}

Result<void> check(const StoredMatrix &matrix) {
  if (!matrix.data)
    return invalidArguments(matrix.name, " is null");
  const int64_t least = std::max<int64_t>(matrix.row, 1);
  if (matrix.lead < least)
    return invalidArguments(matrix.leadName, " is ", matrix.lead, "; it must be at least ", least);
  if (matrix.rows > 0 && matrix.row > 0 && isBeyondMemory(matrix))
    return invalidArguments(matrix.leadName, " is ", matrix.lead, "; ", matrix.name, " of ", matrix.rows, " rows of ",
                            matrix.row, " elements then exceeds the address space");
  return {};
}

Result<void> check(const GemmCall &call) {
  for (auto [name, letter] : {std::pair("transa", call.transa), std::pair("transb", call.transb)})
    if (!isOneOf(letter, "Nn") && !isOneOf(letter, "Tt"))
      return invalidArguments(name, " is '", letter, "'; it must be N, n, T or t");
  for (auto [name, size] : {std::pair("M", call.m), std::pair("N", call.n), std::pair("K", call.k)})
    if (size < 0)
      return invalidArguments(name, " is ", size, "; it must be at least 0");
  const bool isFloat = call.srcType == DataType::F32;
  const bool transposesA = isOneOf(call.transa, "Tt"), transposesB = isOneOf(call.transb, "Tt");
  const StoredMatrix matrices[] = {
      {"A", "lda", call.a, transposesA ? call.k : call.m, transposesA ? call.m : call.k, call.lda, call.srcType},
      {"B", "ldb", call.b, transposesB ? call.n : call.k, transposesB ? call.k : call.n, call.ldb,
       isFloat ? DataType::F32 : DataType::S8},
      {"C", "ldc", call.c, call.m, call.n, call.ldc, isFloat ? DataType::F32 : DataType::S32}};
  for (const StoredMatrix &matrix : matrices)
    QUERN_RETURN_IF_ERROR(check(matrix));
  if (isFloat)
    return {};
  if (!isOneOf(call.offsetc, "Ff") && !isOneOf(call.offsetc, "Cc") && !isOneOf(call.offsetc, "Rr"))
    return invalidArguments("offsetc is '", call.offsetc, "'; it must be F, f, C, c, R or r");
  return call.co ? Result<void>() : Result<void>(invalidArguments("co is null"));
}

TensorDesc matrixOf(int64_t rows, int64_t columns, int64_t lead, bool isTransposed, DataType type) {
  TensorDesc desc;
  desc.ndims = 2;
  desc.dataType = type;
  desc.formatKind = FormatKind::Blocked;
  desc.dims[0] = desc.paddedDims[0] = rows;
  desc.dims[1] = desc.paddedDims[1] = columns;
  desc.strides[0] = isTransposed ? 1 : lead;
  desc.strides[1] = isTransposed ? lead : 1;
  return desc;
}

/// Checks that C shares no byte with A, B or co.
Result<void> checkApart(const GemmCall &call) {
  const bool isFloat = call.srcType == DataType::F32;
  const TensorDesc c = matrixOf(call.m, call.n, call.ldc, false, isFloat ? DataType::F32 : DataType::S32);
  const auto check = [&](const char *name, const TensorDesc &desc, const void *data) -> Result<void> {
    if (shareBytes({c, call.c}, {desc, data}))
      return invalidArguments("C overlaps ", name, "; they must not overlap");
    return {};
  };
  const bool transposesA = isOneOf(call.transa, "Tt"), transposesB = isOneOf(call.transb, "Tt");
  QUERN_RETURN_IF_ERROR(check("A", matrixOf(call.m, call.k, call.lda, transposesA, call.srcType), call.a));
  if (Result<void> ok =
          check("B", matrixOf(call.k, call.n, call.ldb, transposesB, isFloat ? DataType::F32 : DataType::S8), call.b);
      !ok)
    return ok;
  const int64_t offsets = isOneOf(call.offsetc, "Cc") ? call.m : isOneOf(call.offsetc, "Rr") ? call.n : 1;
  return isFloat ? Result<void>() : check("co", matrixOf(1, offsets, offsets, false, DataType::S32), call.co);
}

GemmKind sortOf(const GemmCall &call) {
  GemmKind kind{call.srcType,    isOneOf(call.transa, "Tt"), isOneOf(call.transb, "Tt"), true, call.beta != 0, false,
                GemmOffset::None};
  if (kind.isFloat())
    return kind;
  kind.scales = call.alpha != 1 || kind.adds;
  kind.hasOffsets = call.ao != 0 || call.bo != 0;
  kind.dstOffset = isOneOf(call.offsetc, "Cc")   ? GemmOffset::Column
                   : isOneOf(call.offsetc, "Rr") ? GemmOffset::Row
                                                 : GemmOffset::Fixed;
  return kind;
}

/// Returns a matrix with open sizes whose rows, or columns if `isTransposed`, are contiguous.
Result<TensorDesc> openMatrix(DataType type, bool isTransposed) {
  const int64_t dims[] = {runtimeDim, runtimeDim};
  const int64_t rows[] = {runtimeDim, 1}, columns[] = {1, runtimeDim};
  return TensorDesc::fromStrides(dims, type, isTransposed ? std::span(columns) : std::span(rows));
}

Result<PrimitiveDesc> describe(const GemmKind &kind) {
  Result<TensorDesc> src = openMatrix(kind.srcType, kind.transposesA);
  Result<TensorDesc> weights = openMatrix(kind.isFloat() ? DataType::F32 : DataType::S8, kind.transposesB);
  Result<TensorDesc> dst = openMatrix(kind.isFloat() ? DataType::F32 : DataType::S32, false);
  for (const Result<TensorDesc> *desc : {&src, &weights, &dst})
    if (!*desc)
      return desc->error();
  return PrimitiveDesc{GemmDesc{*src, *weights, *dst, kind.scales, kind.adds, kind.hasOffsets, kind.dstOffset}, {}};
}

/// The kernels of all kinds, and their engine.
class GemmKernels {
public:
  static GemmKernels &process() {
    return immortal([] { return new GemmKernels(); });
  }
  Result<std::shared_ptr<const Executable>> get(const GemmKind &kind) {
    {
      std::lock_guard lock(mutex);
      if (kernels[kind.index()])
        return kernels[kind.index()];
    }
    QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc, describe(kind));
    QUERN_ASSIGN_OR_RETURN(std::shared_ptr<const Problem> problem, Problem::create(engine.get(), desc, nullptr));
    QUERN_ASSIGN_OR_RETURN(AcquiredKernel acquired, problem->acquire());
    std::lock_guard lock(mutex);
    return kernels[kind.index()] = std::move(acquired.executable);
  }

private:
  GemmKernels() : engine(new Engine(EngineKind::Cpu)) {}

  const EngineRef engine;
  ForkMutex mutex; ///< guards the member below
  std::array<std::shared_ptr<const Executable>, GemmKind::count> kernels;
};

/// Runs a call of this kind. Passes the buffers in the order of the verifier's arguments, and their open sizes.
Result<void> execute(const Executable &kernel, const GemmKind &kind, GemmCall call, const ExecutionContext &onThreads) {
  void *buffers[8];
  size_t count = 0;
  const auto add = [&](const void *buffer) { buffers[count++] = const_cast<void *>(buffer); };
  int64_t sizes[10] = {call.m, call.k, call.lda, call.k, call.n, call.ldb};
  size_t sizeCount = 6;
  add(call.a);
  add(call.b);
  if (kind.scales)
    add(&call.alpha);
  if (kind.adds)
    add(&call.beta);
  if (kind.hasOffsets) {
    add(&call.ao);
    add(&call.bo);
  }
  if (kind.dstOffset != GemmOffset::None)
    add(call.co);
  if (kind.dstOffset == GemmOffset::Column || kind.dstOffset == GemmOffset::Row)
    sizes[sizeCount++] = kind.dstOffset == GemmOffset::Column ? call.m : call.n;
  add(call.c);
  for (int64_t size : {call.m, call.n, call.ldc})
    sizes[sizeCount++] = size;
  ExecutionContext context = onThreads;
  context.sizes = sizes;
  return runSteps(kernel, buffers, context);
}

} // namespace

Result<void> runGemm(const GemmCall &call, threadpool_interop::threadpool_iface *pool, bool ownThreads) {
  QUERN_RETURN_IF_ERROR(check(call));
  if (call.m == 0 || call.n == 0 || call.k == 0)
    return {};
  QUERN_RETURN_IF_ERROR(checkApart(call));
  const GemmKind kind = sortOf(call);
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> kernel, GemmKernels::process().get(kind));
  return execute(*kernel, kind, call, contextOn(pool, ownThreads));
}

} // namespace quern
