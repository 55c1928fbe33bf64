//===- Replay.cpp - Runs a lowered kernel on generated data ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Data are multiples of 1/64 in [-4, 4), rounded to the type, drawn by splitmix64 from the seed and the argument's
// position; integers have 16 times, 32-bit ones 128 times as much.
//
//===----------------------------------------------------------------------===//
#include "Replay.h"

#include "Crash.h"
#include "Sizes.h"

#include "IR/Launch.h"
#include "IR/Polynomials.h"
#include "Support/Digest.h"
#include "Support/NarrowFloat.h"
#include "Targets/Cpu/Pipeline.h"
#include "quern/kernel_abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace quern {
namespace {

constexpr int64_t lineBytes = 64; ///< where scratch and regions begin

int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

/// Of a float narrower than f32; null for any other type.
const NarrowFormat *narrowFormatOf(Type element) {
  if (element.isBF16())
    return &bf16Format;
  if (element.isF16())
    return &f16Format;
  if (isa<Float8E5M2Type>(element))
    return &f8E5M2Format;
  return isa<Float8E4M3FNType>(element) ? &f8E4M3Format : nullptr;
}

bool isSupported(Type element) {
  return element.isF64() || element.isF32() || narrowFormatOf(element) || element.isInteger(8) ||
         element.isInteger(16) || element.isInteger(32);
}

uint64_t splitmix64(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <typename T> void put(char *at, T value) { std::memcpy(at, &value, sizeof(T)); }
template <typename T> T get(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

void store(Type element, char *at, double value) {
  if (element.isF64())
    put(at, value);
  else if (element.isF32())
    put(at, static_cast<float>(value));
  else if (const NarrowFormat *format = narrowFormatOf(element); format && bytesOf(element) == 2)
    put(at, static_cast<uint16_t>(encodeNarrow(value, *format)));
  else if (format)
    put(at, static_cast<uint8_t>(encodeNarrow(value, *format)));
  else if (element.isInteger(32))
    put(at, static_cast<int32_t>(value * 128));
  else if (element.isInteger(16))
    put(at, static_cast<int16_t>(value * 16));
  else
    put(at, static_cast<int8_t>(value * 16));
}

/// Elements from the buffer's start to the last one that the type reaches.
FailureOr<int64_t> extentOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset))
    return failure();
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    if (size == 0)
      return int64_t(0);
    last += (size - 1) * stride;
  }
  return last + 1;
}

Buffer makeBuffer(const KernelInfo::Argument &argument, uint64_t seed) {
  Type element = argument.element;
  Buffer buffer{
      argument.name, element, std::vector<char>(static_cast<size_t>(argument.elements * bytesOf(element))), {}};
  for (int64_t i = 0; i < argument.elements; ++i)
    store(element, buffer.bytes.data() + i * bytesOf(element),
          (static_cast<double>(splitmix64(seed) % 512) - 256) / 64);
  buffer.before = buffer.bytes;
  return buffer;
}

} // namespace

namespace {

/// Collects the arguments of a launch, and its steps one by one.
class LaunchUnroller {
public:
  LaunchUnroller(ModuleOp module, const Launch &launch, const RuntimeSizes &sizes, KernelInfo &info)
      : module(module), launch(launch), sizes(sizes), info(info) {}
  LogicalResult run();

private:
  static constexpr size_t maxSteps = 100000;
  LogicalResult unroll(uint32_t first, uint32_t end, size_t loop);
  LogicalResult addStep(const KernelCall &call);
  LogicalResult addBuffer(const KernelCall &call, const KernelCall::Buffer &passed, MemRefType type);
  FailureOr<int64_t> evaluate(const Polynomial &polynomial) {
    if (std::optional<int64_t> value = valueOf(polynomial, indices, sizes.values))
      return *value;
    return module.emitError("run: ") << polynomial.text()
                                     << " depends on more sizes than there are, or is beyond int64";
  }

  ModuleOp module;
  const Launch &launch;
  const RuntimeSizes &sizes;
  KernelInfo &info;
  SmallVector<int64_t, 4> indices;
};

LogicalResult LaunchUnroller::addBuffer(const KernelCall &call, const KernelCall::Buffer &passed, MemRefType type) {
  if (auto known = sizes.types.find(passed.name); !type.hasStaticShape() && known != sizes.types.end())
    type = known->second;
  FailureOr<int64_t> elements = extentOf(type), offset = evaluate(passed.byteOffset);
  if (failed(offset))
    return failure();
  auto found = llvm::find_if(info.arguments,
                             [&](const KernelInfo::Argument &known) { return StringRef(known.name) == passed.name; });
  bool isRegion = found != info.arguments.end() && found->isRegion;
  int64_t size = bytesOf(type.getElementType());
  bool fits = found == info.arguments.end() || isRegion || found->element == type.getElementType();
  if (failed(elements) || !isSupported(type.getElementType()) || !fits || *offset < 0 || *offset % size)
    return call.kernel->emitError("run: no buffer for argument '") << passed.name << "' of type " << type;
  if (isRegion && *offset + *elements * size > found->elements)
    return call.kernel->emitError("run: region '")
           << passed.name << "' of " << found->elements << " bytes ends before " << type;
  if (found == info.arguments.end()) {
    info.arguments.push_back({passed.name.str(), type.getElementType()});
    found = info.arguments.end() - 1;
  }
  if (!isRegion)
    found->elements = std::max(found->elements, *offset / size + *elements);
  info.steps.back().buffers.push_back({static_cast<size_t>(found - info.arguments.begin()), *offset});
  return success();
}

LogicalResult LaunchUnroller::addStep(const KernelCall &call) {
  auto function = dyn_cast<LLVM::LLVMFuncOp>(call.kernel);
  auto lowered = attrOf<LoweredAttr>(call.kernel);
  if (!function || !lowered)
    return success();
  auto kernel = attrOf<KernelAttr>(call.kernel);
  DenseI64ArrayAttr factors = kernel.getFactors();
  int64_t repeated = 1;
  for (int64_t i = 0; factors && i + 1 < factors.size(); i += 2) {
    if (static_cast<size_t>(factors[i]) >= sizes.values.size())
      return function.emitError("run: @") << function.getName() << " depends on runtime sizes";
    repeated *= llvm::divideCeil(sizes.values[static_cast<size_t>(factors[i])], factors[i + 1]);
  }
  if (info.steps.size() == maxSteps)
    return module.emitError("run: more than ") << maxSteps << " steps";
  size_t symbol = static_cast<size_t>(llvm::find(info.symbols, function.getName()) - info.symbols.begin());
  if (symbol == info.symbols.size())
    info.symbols.push_back(function.getName());
  info.steps.push_back({symbol, kernel.getSpace() * repeated, {}});
  info.scratchBytes = std::max(info.scratchBytes, kernel.getScratchBytes());
  info.sharedBytes = std::max(info.sharedBytes, kernel.getSharedBytes());
  for (auto [passed, argument] : llvm::zip_equal(call.buffers, lowered.getArguments()))
    if (failed(addBuffer(call, passed, argument.getType())))
      return failure();
  return success();
}

/// The calls [first, end), of which loops from `loop` on may be around some.
LogicalResult LaunchUnroller::unroll(uint32_t first, uint32_t end, size_t loop) {
  while (first < end) {
    if (loop == launch.loops.size() || launch.loops[loop].first != first) {
      if (failed(addStep(launch.calls[first++])))
        return failure();
      continue;
    }
    const LaunchLoop &around = launch.loops[loop];
    FailureOr<int64_t> trips = evaluate(around.trips);
    if (failed(trips))
      return failure();
    for (int64_t trip = 0; trip < *trips; ++trip) {
      indices.push_back(trip);
      if (failed(unroll(around.first, around.end, loop + 1)))
        return failure();
      indices.pop_back();
    }
    first = around.end;
    while (loop < launch.loops.size() && launch.loops[loop].first < first)
      ++loop;
  }
  return success();
}

LogicalResult LaunchUnroller::run() {
  if (!launch.sizes.empty())
    return module.emitError("run: a size of '") << launch.sizes.front().argument << "' depends on an execution";
  for (const Launch::Region &region : launch.regions) {
    FailureOr<int64_t> bytes = evaluate(region.bytes);
    if (failed(bytes))
      return failure();
    if (*bytes < 0)
      return module.emitError("run: region '") << region.name << "' has " << *bytes << " bytes";
    info.arguments.push_back({region.name.str(), IntegerType::get(module.getContext(), 8), *bytes, true});
  }
  return unroll(0, static_cast<uint32_t>(launch.calls.size()), 0);
}

} // namespace

FailureOr<KernelInfo> kernelsOf(ModuleOp module, const RuntimeSizes &sizes) {
  KernelInfo info;
  FailureOr<Launch> launch = launchOf(module);
  if (failed(launch) || failed(LaunchUnroller(module, *launch, sizes, info).run()))
    return failure();
  if (info.steps.empty())
    return module.emitError("run: the module has no lowered kernel");
  return info;
}

int64_t Buffer::elements() const { return static_cast<int64_t>(bytes.size()) / bytesOf(element); }

double Buffer::at(int64_t index) const {
  const char *place = bytes.data() + index * bytesOf(element);
  if (element.isF64())
    return get<double>(place);
  if (element.isF32())
    return get<float>(place);
  if (const NarrowFormat *format = narrowFormatOf(element))
    return decodeNarrow(bytesOf(element) == 2 ? get<uint16_t>(place) : get<uint8_t>(place), *format);
  if (element.isInteger(8))
    return get<int8_t>(place);
  return element.isInteger(16) ? get<int16_t>(place) : get<int32_t>(place);
}

FailureOr<std::unique_ptr<Replay>> Replay::load(ModuleOp module, StringRef target, uint64_t seed,
                                                const RuntimeSizes &sizes, GuardedSide side) {
  FailureOr<KernelInfo> info = kernelsOf(module, sizes);
  if (failed(info))
    return failure();
  FailureOr<compiler::LoadedKernel> kernel = compiler::load(module, target, info->symbols);
  if (failed(kernel))
    return failure();
  std::unique_ptr<Replay> replay(new Replay(module, std::move(*info), std::move(*kernel), sizes.values, side));
  for (auto [i, argument] : llvm::enumerate(replay->info.arguments)) {
    replay->buffers.push_back(makeBuffer(argument, seed * 1000003 + i));
    const std::vector<char> &bytes = replay->buffers.back().bytes;
    const int64_t alignment = argument.isRegion ? lineBytes : bytesOf(argument.element);
    GuardedBuffer &arena = replay->arenas.emplace_back(static_cast<int64_t>(bytes.size()), Placement{side, alignment});
    std::memcpy(arena.data(), bytes.data(), bytes.size());
  }
  for (const KernelInfo::Step &step : replay->info.steps) {
    std::vector<void *> &pointers = replay->pointers.emplace_back();
    for (const KernelInfo::StepBuffer &buffer : step.buffers)
      pointers.push_back(replay->arenas[buffer.argument].data() + buffer.byteOffset);
  }
  return replay;
}

Replay::Replay(ModuleOp module, KernelInfo info, compiler::LoadedKernel kernel, std::vector<int64_t> sizes,
               GuardedSide side)
    : module(module), info(std::move(info)), kernel(std::move(kernel)),
      scratch(this->info.scratchBytes, {side, lineBytes}), shared(this->info.sharedBytes, {side, lineBytes}),
      sizes(std::move(sizes)) {}

void Replay::run() {
  for (auto [i, step] : llvm::enumerate(info.steps)) {
    nameRunningCase(info.symbols[step.symbol]);
    quern_kernel_args_t args{pointers[i].data(), scratch.data(), shared.data(), sizes.data()};
    reinterpret_cast<quern_kernel_fn>(kernel.entry(step.symbol))(&args, 0, step.iterations);
  }
  nameRunningCase({});
}

FailureOr<std::vector<Buffer>> Replay::results() {
  StringRef symbol = info.symbols.front();
  for (auto [buffer, arena] : llvm::zip_equal(buffers, arenas)) {
    if (!arena.guardsIntact())
      return module.emitError("run: @") << symbol << " wrote beside '" << buffer.name << "'";
    std::memcpy(buffer.bytes.data(), arena.data(), buffer.bytes.size());
  }
  if (!scratch.guardsIntact() || !shared.guardsIntact())
    return module.emitError("run: @") << symbol << " wrote beside its " << info.scratchBytes << " bytes of scratch or "
                                      << info.sharedBytes << " of shared scratch";
  std::vector<Buffer> arguments;
  for (auto [buffer, argument] : llvm::zip_equal(buffers, info.arguments))
    if (!argument.isRegion)
      arguments.push_back(buffer);
  return arguments;
}

FailureOr<std::vector<Buffer>> replay(ModuleOp module, StringRef target, uint64_t seed, const RuntimeSizes &sizes) {
  reportCrashes();
  const auto runAt = [&](GuardedSide side) -> FailureOr<std::vector<Buffer>> {
    FailureOr<std::unique_ptr<Replay>> loaded = Replay::load(module, target, seed, sizes, side);
    if (failed(loaded))
      return failure();
    (*loaded)->run();
    return (*loaded)->results();
  };
  // There stores behind an end meet canaries, and not the page.
  FailureOr<std::vector<Buffer>> first = runAt(GuardedSide::Beginning);
  FailureOr<std::vector<Buffer>> second =
      failed(first) ? FailureOr<std::vector<Buffer>>(failure()) : runAt(GuardedSide::End);
  if (failed(second))
    return failure();
  for (auto [buffer, other] : llvm::zip_equal(*first, *second))
    if (buffer.bytes != other.bytes)
      return module.emitError("run: '") << buffer.name << "' depends on where buffers lie";
  return second;
}

std::string describe(const Buffer &buffer, int64_t values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << buffer.name << ": ";
  if (!buffer.changed()) {
    os << "unchanged";
    return text;
  }
  os << "digest " << digestOf({buffer.bytes.data(), buffer.bytes.size()}).hex();
  if (int64_t count = std::min(values, buffer.elements()); count > 0) {
    os << ", first " << count << ':';
    for (int64_t i = 0; i < count; ++i)
      os << ' ' << llvm::format("%.9g", buffer.at(i));
  }
  return text;
}

/// Relative: 32 spacings of the type's values at 1; one of a type that sums in f32 are rounded
/// to. Integers agree exactly.
static double toleranceOf(Type element) {
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return 0;
  return std::ldexp(type.getWidth() < 32 ? 1.001 : 32.0, 1 - static_cast<int>(type.getFPMantissaWidth()));
}

/// The root of the mean square of a buffer's finite values.
static double magnitudeOf(const Buffer &buffer) {
  double sum = 0;
  for (int64_t i = 0; i < buffer.elements(); ++i)
    if (double value = buffer.at(i); std::isfinite(value))
      sum += value * value;
  return std::sqrt(sum / static_cast<double>(std::max<int64_t>(1, buffer.elements())));
}

bool agree(const std::vector<Buffer> &results, const std::vector<Buffer> &oracle, double tolerance,
           std::string &report) {
  llvm::raw_string_ostream os(report);
  if (results.size() != oracle.size()) {
    os << "the kernels take " << results.size() << " and " << oracle.size() << " arguments\n";
    return false;
  }
  bool all = true;
  for (auto [result, expected] : llvm::zip_equal(results, oracle)) {
    double allowed = tolerance > 0 ? tolerance : toleranceOf(result.element), worst = 0,
           magnitude = magnitudeOf(expected);
    bool same = result.element == expected.element && result.elements() == expected.elements();
    int64_t wrong = 0;
    for (int64_t i = 0; same && i < result.elements(); ++i) {
      double a = result.at(i), b = expected.at(i);
      if (a == b || (std::isnan(a) && std::isnan(b)))
        continue;
      double error = std::fabs(a - b) / std::max(std::fabs(b), magnitude);
      worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
      wrong += !(error <= allowed);
    }
    bool ok = same && wrong == 0;
    os << result.name << ": " << (ok ? "agrees" : same ? "differs" : "has another type or size");
    if (same && !ok)
      os << " in " << wrong << " of " << result.elements() << " elements";
    if (same && worst > 0)
      os << llvm::format(", largest error %.2g of %.2g", worst, allowed);
    os << '\n';
    all &= ok;
  }
  return all;
}

} // namespace quern
