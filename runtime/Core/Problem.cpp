//===- Problem.cpp - A verified problem on an engine ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creation, and the queries that need the kernel.
//
//===----------------------------------------------------------------------===//
#include "Core/Problem.h"

#include "Core/ProblemCache.h"
#include "Cpu/Threads.h"
#include "Engine/Overlap.h"
#include "Kernels/Functions.h"
#include "Kernels/Kernels.h"
#include "Launch/Scratch.h"

#include <cstdlib>

namespace quern {
namespace {

thread_local int concurrency = 0; ///< 0: the default threads

/// Visits the tensors of an operation with their names and positions, except lists of sources, which are never `any`.
template <typename Body> struct TensorVisitor {
  Body body;
  int position = 0;
  template <typename T> void operator()(const char *name, const T &value) {
    if constexpr (std::is_same_v<T, TensorDesc>)
      body(name, value, position++);
  }
};

template <typename Body> void visitTensors(const PrimitiveDesc &desc, Body body) {
  TensorVisitor<Body> visitor{body};
  std::visit([&]<typename Op>(const Op &op) { Op::visitFields(op, visitor); }, desc.op);
}

uint64_t anyFieldsOf(const PrimitiveDesc &desc) {
  uint64_t fields = 0;
  // The problem also chooses the layout of an absent tensor that it adds: the destination of a sum or concat.
  visitTensors(desc, [&](const char *, const TensorDesc &tensor, int position) {
    fields |= uint64_t{tensor.isAny() || tensor.isZero()} << position;
  });
  return fields;
}

/// Returns the argument of a field of an operation.
int32_t argumentOfField(std::string_view field) {
  struct Field {
    std::string_view name;
    int32_t argument;
  };
  constexpr Field fields[] = {{"src", QUERN_ARG_SRC},
                              {"src1", QUERN_ARG_SRC_1},
                              {"src2", QUERN_ARG_SRC_2},
                              {"dst", QUERN_ARG_DST},
                              {"src_layer", QUERN_ARG_SRC_LAYER},
                              {"src_iter", QUERN_ARG_SRC_ITER},
                              {"src_iter_c", QUERN_ARG_SRC_ITER_C},
                              {"attention", QUERN_ARG_AUGRU_ATTENTION},
                              {"weights_layer", QUERN_ARG_WEIGHTS_LAYER},
                              {"weights_iter", QUERN_ARG_WEIGHTS_ITER},
                              {"weights_peephole", QUERN_ARG_WEIGHTS_PEEPHOLE},
                              {"weights_projection", QUERN_ARG_WEIGHTS_PROJECTION},
                              {"bias", QUERN_ARG_BIAS},
                              {"dst_layer", QUERN_ARG_DST_LAYER},
                              {"dst_iter", QUERN_ARG_DST_ITER},
                              {"dst_iter_c", QUERN_ARG_DST_ITER_C}};
  constexpr std::string_view gradient = "diff_";
  const bool isGradient = field.starts_with(gradient);
  if (isGradient)
    field.remove_prefix(gradient.size());
  for (const Field &entry : fields)
    if (entry.name == field)
      return isGradient ? entry.argument - QUERN_ARG_SRC + QUERN_ARG_DIFF_SRC : entry.argument;
  return 0;
}

} // namespace

int maxConcurrency() { return concurrency ? concurrency : defaultThreadCount(); }

Result<void> setMaxConcurrency(int threads) {
  if (threads < 1 || threads > maxThreadCount)
    return invalidArguments("the concurrency is ", threads, "; it must be 1 to ", maxThreadCount);
  concurrency = threads;
  return {};
}

namespace {

/// Returns a CPU engine if the descriptor specifies the CPU for this side only, otherwise the problem's engine.
EngineRef sideOf(Engine *engine, EngineKind own, EngineKind other) {
  return EngineRef(own == EngineKind::Cpu && other != EngineKind::Cpu ? new Engine(EngineKind::Cpu) : engine);
}

/// Returns true for a reorder that copies every byte of src to the same offset of dst.
bool isByteCopy(const VerifiedProblem &problem) {
  const auto *reorder = std::get_if<ReorderDesc>(&problem.desc.op);
  Attributes neutral;
  neutral.scratchpadMode = problem.desc.attr.scratchpadMode;
  neutral.fpmathMode = problem.desc.attr.fpmathMode;
  return reorder && reorder->src == reorder->dst && !reorder->src.hasPadding() && isWithoutGaps(reorder->dst) &&
         problem.desc.attr == neutral;
}

/// Returns a key of everything that a problem depends on. Engines are identified by their address, which is not reused
/// because a problem in the cache keeps the engine alive.
KernelKey requestOf(const Engine *engine, const PrimitiveDesc &desc, const PrimitiveDesc *hint, ReorderSides sides) {
  ByteWriter out;
  out.bytes.reserve(640);
  out.put(reinterpret_cast<uintptr_t>(engine));
  out.put(reinterpret_cast<uintptr_t>(sides.src));
  out.put(reinterpret_cast<uintptr_t>(sides.dst));
  out.put(maxConcurrency());
  desc.write(out);
  if (hint)
    hint->write(out);
  KernelKey request;
  request.bytes = out.take();
  request.digest = digestOf(request.bytes);
  return request;
}

/// Creates the verified problems of one kind of primitive.
using VerifiedProblemFactory = Result<VerifiedProblem> (*)(const PrimitiveDesc &desc, const Target &target,
                                                           const PrimitiveDesc *hint);

Result<VerifiedProblem> verifyFunction(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *hint) {
  if (std::get<MlirDesc>(desc.op).isRead())
    return verify(desc, target, hint);
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc read, readFunction(desc, target));
  return verify(read, target, hint);
}

VerifiedProblemFactory factoryOf(PrimitiveKind kind) { return kind == PrimitiveKind::Mlir ? verifyFunction : verify; }

} // namespace

Result<VerifiedProblem> verifiedProblemOf(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *hint) {
  return factoryOf(desc.kind())(desc, target, hint);
}

Result<std::shared_ptr<const Problem>> Problem::create(Engine *engine, const PrimitiveDesc &desc,
                                                       const PrimitiveDesc *hint, ReorderSides sides) {
  const KernelKey request = requestOf(engine, desc, hint, sides);
  if (std::shared_ptr<const Problem> known = ProblemCache::process().find(request))
    return known;
  QUERN_ASSIGN_OR_RETURN(VerifiedProblem verified, verifiedProblemOf(desc, engine->target, hint));
  EngineRef src(engine), dst(engine);
  if (const auto *reorder = std::get_if<ReorderDesc>(&verified.desc.op)) {
    src = sides.src ? EngineRef(sides.src) : sideOf(engine, reorder->srcEngine, reorder->dstEngine);
    dst = sides.dst ? EngineRef(sides.dst) : sideOf(engine, reorder->dstEngine, reorder->srcEngine);
  }
  std::shared_ptr<const Problem> problem(new Problem(engine, src, dst, std::move(verified), anyFieldsOf(desc)));
  ProblemCache::process().add(request, problem);
  return problem;
}

Problem::Problem(Engine *engine, const EngineRef &src, const EngineRef &dst, VerifiedProblem &&verified,
                 uint64_t anyFields)
    : device(engine), srcDevice(src), dstDevice(dst), problem(std::move(verified)),
      kernelKey(keyOf(problem.desc, engine->target)), anyFields(anyFields),
      copies(src->device != dst->device && isByteCopy(problem)), threads(maxConcurrency()) {}

bool Problem::choseLayout(int32_t argument) const {
  bool chosen = false;
  visitTensors(problem.desc, [&](const char *name, const TensorDesc &tensor, int position) {
    chosen |= argumentOfField(name) == argument && !tensor.isZero() && (anyFields >> position & 1);
  });
  return chosen;
}

/// Requires the mutex. Returns the kernel's origin the first time, later quern_origin_memory.
AcquiredKernel Problem::takeKernel() const { return std::exchange(kernel, AcquiredKernel{kernel.executable}); }

Result<AcquiredKernel> Problem::acquire(Tiers tiers) const {
  if (!hasKernel())
    return AcquiredKernel{.origin = quern_origin_none};
  if (device->device || usesCallerScratchpad())
    tiers = Tiers::Specialized;
  if (tiers != Tiers::Family) {
    std::lock_guard lock(mutex);
    if (kernel.executable)
      return takeKernel();
  }
  return acquireKernel(request(), tiers);
}

static Result<Tiers> tiersOfEnvironment() {
  const char *variable = secure_getenv("QUERN_TIERS");
  const std::string_view choice = variable ? variable : "";
  if (choice == "family")
    return Tiers::Family;
  if (choice == "specialized")
    return Tiers::Specialized;
  if (!choice.empty() && choice != "both")
    return invalidArguments("QUERN_TIERS is '", choice, "'; it must be both, specialized or family");
  return Tiers::Both;
}

Result<Tiers> Problem::tiers(Tiers asked) const {
  Result<Tiers> wanted = asked == Tiers::Default ? tiersOfEnvironment() : Result<Tiers>(asked);
  if (wanted && *wanted == Tiers::Both && problem.desc.attr.deterministic)
    return Tiers::Specialized;
  return wanted;
}

Lookup<AcquiredKernel> Problem::acquireUnshared(const std::atomic<bool> *isCut) const {
  KernelRequest cancelable = request();
  cancelable.isCut = isCut;
  return acquireUnsharedKernel(cancelable);
}

Result<std::shared_ptr<const Executable>> Problem::keepKernel() const {
  if (!hasKernel())
    return std::shared_ptr<const Executable>();
  {
    std::lock_guard lock(mutex);
    if (kernel.executable)
      return kernel.executable;
  }
  QUERN_ASSIGN_OR_RETURN(AcquiredKernel acquired, acquireKernel(request()));
  std::lock_guard lock(mutex);
  if (!kernel.executable)
    kernel = std::move(acquired);
  return kernel.executable;
}

const std::string &Problem::text() const {
  const ForkSection section;
  std::call_once(textOnce, [this] { textForm = problem.desc.text(); });
  return textForm;
}

void Problem::adopt(std::shared_ptr<const Executable> executable) const {
  std::lock_guard lock(mutex);
  if (!kernel.executable && !adopted)
    adopted = std::move(executable);
}

Result<std::shared_ptr<const Executable>> Problem::kernelForScratchpad() const {
  {
    std::lock_guard lock(mutex);
    if (adopted)
      return adopted;
  }
  return keepKernel();
}

Result<int64_t> Problem::scratchpadBytes() const {
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, kernelForScratchpad());
  if (executable && executable->program().hasOpenRegions())
    return unimplemented(
        "the scratchpad depends on sizes that are known only at execution; its size, and scratchpad mode user, require "
        "them at creation");
  return executable ? quern::scratchpadBytes(executable->scratch(), threads) : 0;
}

Result<const TensorDesc *> Problem::scratchpadDesc() const {
  if (!usesCallerScratchpad())
    return &scratchpad;
  QUERN_ASSIGN_OR_RETURN(int64_t bytes, scratchpadBytes());
  if (bytes == 0)
    return &scratchpad;
  QUERN_ASSIGN_OR_RETURN(TensorDesc desc, TensorDesc::dense(std::span<const int64_t>(&bytes, 1), DataType::U8));
  const ForkSection section;
  std::call_once(scratchpadOnce, [&] { scratchpad = desc; });
  return &scratchpad;
}

Result<double> Problem::estimatedSeconds() const {
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, keepKernel());
  return executable ? executable->estimatedSeconds() : 0.0;
}

} // namespace quern
