//===- ScheduledKernel.cpp - Running the kernels of a recipe --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ScheduledKernel.h"

#include "Desc/Machine.h"

#include "Device/WorkGroups.h"
#include "Device/WorkItems.h"
#include "EmptyAccesses.h"
#include "Transforms/Transforms.h"
#include "quern/kernel_abi.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <random>

using namespace quern;
using namespace quern::test;

static mlir::DialectRegistry registry() {
  mlir::DialectRegistry all;
  registerAllStageDialects(all);
  return all;
}

KernelCompiler::KernelCompiler()
    : context(registry(), mlir::MLIRContext::Threading::DISABLED),
      lowering((context.loadAllAvailableDialects(), context)) {}

ScheduledKernel KernelCompiler::compile(const std::string &text, const Target &target, const Recipe &recipe,
                                        bool trapsEmpty) {
  std::string whyNot;
  std::optional<ScheduledKernel> kernel = tryCompile(text, target, recipe, whyNot, trapsEmpty);
  EXPECT_TRUE(kernel) << "not scheduled: " << whyNot;
  return kernel ? std::move(*kernel) : ScheduledKernel();
}

std::optional<ScheduledKernel> KernelCompiler::tryCompile(const std::string &text, const Target &target,
                                                          const Recipe &recipe, std::string &whyNot, bool trapsEmpty) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  EXPECT_TRUE(module) << "the problem does not parse";
  if (!module)
    return {};
  auto problem = *module->getOps<mlir::func::FuncOp>().begin();
  if (failed(recipe(problem, whyNot)))
    return {};
  problem.erase();
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
  if (trapsEmpty)
    trapEmptyAccesses(*module);
  return build(*module, target);
}

std::vector<Target> quern::test::targetsOfMachine(std::span<const CpuIsa> levels) {
  std::vector<Target> targets;
  for (CpuIsa level : levels)
    if (includesIsa(detectedIsa(), level))
      targets.push_back(targetOfIsa(level, isSve(level) ? machine::detectVectorBits() : 0));
  return targets;
}

mlir::LogicalResult quern::test::emitPreferred(const MatchPtr &match, std::string &whyNot) {
  if (!match || match->isFallback()) {
    whyNot = match ? match->whyFallback : whyNot;
    return mlir::failure();
  }
  match->emit();
  return mlir::success();
}

ScheduledKernel KernelCompiler::compileNaively(const std::string &text, const Target &target, bool widen) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  bool isLowered = module && succeeded(lowerNaively(*module->getOps<mlir::func::FuncOp>().begin(), widen));
  EXPECT_TRUE(isLowered) << "the operations cannot be lowered to loops";
  return isLowered ? build(*module, target) : ScheduledKernel();
}

ScheduledKernel KernelCompiler::build(mlir::ModuleOp module, const Target &target) {
  ScheduledKernel kernel;
  std::vector<std::string> symbols;
  auto groupOf = [](mlir::func::FuncOp function) {
    GroupShape shape;
    auto kernel = attrOf<KernelAttr>(function);
    shape.items = kernel ? kernel.getGroupSize() : 0;
    shape.subGroup = kernel ? kernel.getSubGroupSize() : 0;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, groupMemoryArgument)) {
        auto type = mlir::cast<mlir::MemRefType>(function.getArgumentTypes()[i]);
        const int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
        shape.memories.push_back({type.getNumElements() * bytes, bytes});
      }
    return shape;
  };
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    auto attr = attrOf<KernelAttr>(function);
    if (!attr) {
      ADD_FAILURE() << "no kernel: " << function.getName().str();
      continue;
    }
    symbols.push_back(function.getName().str());
    kernel.groups.push_back(groupOf(function));
    kernel.spaces.push_back(attr.getSpace());
    kernel.factors.push_back(attr.getFactors() ? attr.getFactors().asArrayRef().vec() : std::vector<int64_t>());
    kernel.scratchBytes = std::max(kernel.scratchBytes, attr.getScratchBytes());
    kernel.sharedBytes = std::max(kernel.sharedBytes, attr.getSharedBytes());
    kernel.plan += attr.getPlan() ? attr.getPlan().text() : "";
  }
  if (failed(lowering.run(module, target, /*verifyIr=*/true))) {
    ADD_FAILURE() << "the kernel cannot be lowered";
    return kernel;
  }
  Result<std::string> object = codegen.run(module, target, CodeForm::Binary, /*verifyIr=*/false);
  EXPECT_TRUE(object) << object.error().message;
  if (!object)
    return kernel;
  auto linked = linkObject(*object, symbols);
  EXPECT_TRUE(linked) << linked.error().message;
  if (linked)
    kernel.code = std::move(*linked);
  return kernel;
}

Buffers quern::test::makeBuffers(const std::vector<ChainArgument> &arguments, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> distribution(-2, 2);
  Buffers buffers;
  for (const ChainArgument &argument : arguments) {
    Bytes buffer(argument.count * bytesOf(argument.element));
    for (int64_t i = 0; i < argument.count; ++i)
      storeElement(buffer.data(), i, argument.element, distribution(random));
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

namespace {

sigjmp_buf beforeKernel;
const void *volatile faultAddress;

void leaveKernel(int, siginfo_t *fault, void *) {
  faultAddress = fault->si_addr;
  siglongjmp(beforeKernel, 1);
}

/// Returns false if the kernel accessed an inaccessible page. Kernels own nothing that unwinding would free.
bool survives(const std::function<void()> &kernel) {
  struct sigaction action = {}, previous;
  action.sa_sigaction = leaveKernel;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous);
  bool hasFaulted = sigsetjmp(beforeKernel, 1) != 0;
  if (!hasFaulted)
    kernel();
  sigaction(SIGSEGV, &previous, nullptr);
  return !hasFaulted;
}

/// Describes the address relative to the nearest buffer.
std::string placeOf(const void *address, const std::vector<std::pair<std::string, const GuardedBuffer *>> &buffers) {
  std::string nearest;
  int64_t minDistance = INT64_MAX;
  for (const auto &[name, buffer] : buffers) {
    int64_t before = buffer->data() - static_cast<const char *>(address), after = -before - buffer->size();
    if (std::max(before, after) >= minDistance)
      continue;
    minDistance = std::max(before, after);
    nearest = before > 0 ? std::to_string(before) + " bytes before " + name
                         : std::to_string(after) + " bytes after the end of " + name;
  }
  return nearest;
}

constexpr int64_t groupMemoryAlignment = 16; // alignment of each variable on a device, in bytes

/// One execution of a host kernel, or of a device kernel whose work-items are emulated on the host.
class Execution {
public:
  Execution(const ScheduledKernel &kernel, size_t entry, const std::vector<ChainArgument> &arguments,
            quern_kernel_args_t args, GuardedSide side)
      : entry(reinterpret_cast<quern_kernel_fn>(kernel.code->entries[entry])), shape(kernel.groups[entry]), args(args),
        pointers(args.buffers, args.buffers + arguments.size()) {
    if (!shape.items)
      return;
    for (size_t i = 0; i < arguments.size(); ++i)
      watch.add("argument " + std::to_string(i), static_cast<char *>(pointers[i]),
                arguments[i].count * bytesOf(arguments[i].element), bytesOf(arguments[i].element), /*isOfGroup=*/false);
    for (const GroupShape::Memory &variable : shape.memories) {
      memory.emplace_back(variable.bytes, Placement{side, groupMemoryAlignment});
      pointers.push_back(memory.back().data());
      watch.add("variable " + std::to_string(memory.size() - 1) + " of the group memory", memory.back().data(),
                variable.bytes, variable.elementBytes,
                /*isOfGroup=*/true);
    }
    this->args.buffers = pointers.data();
    groups.emplace(shape.items, shape.subGroup, kernel.orderSeed, watch);
  }
  /// Returns false if the kernel accessed an inaccessible page.
  bool run(int64_t begin, int64_t end) {
    if (!groups)
      return survives([&] { entry(&args, begin, end); });
    for (int64_t group = begin; group < end && groups->fault().empty(); ++group)
      if (!runGroup(group))
        return false;
    return true;
  }
  void checkRules() const {
    if (!groups)
      return;
    EXPECT_TRUE(groups->fault().empty()) << groups->fault();
    for (const GuardedBuffer &buffer : memory)
      EXPECT_TRUE(buffer.guardsIntact()) << "writes outside of the group memory";
  }

private:
  /// Runs a group. First sets all bits of its memory, which makes each f16, bf16, f32 or f64 a NaN.
  bool runGroup(int64_t group) {
    for (GuardedBuffer &buffer : memory)
      buffer.fillAll(0xFF);
    return survives([&] { (void)groups->run(group, [&](int64_t item) { entry(&args, group, item); }); });
  }

  quern_kernel_fn entry;
  const GroupShape &shape;
  quern_kernel_args_t args;
  std::vector<void *> pointers;
  std::vector<GuardedBuffer> memory;
  MemoryWatch watch;
  std::optional<WorkGroups> groups;
};

} // namespace

int64_t GroupShape::bytes() const {
  int64_t sum = 0;
  for (const Memory &memory : memories)
    sum = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(sum), groupMemoryAlignment)) + memory.bytes;
  return sum;
}

void quern::test::run(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments, Buffers &buffers,
                      bool aliased, GuardedSide side) {
  constexpr int64_t line = 64; // alignment of the runtime's scratch, in bytes
  std::vector<GuardedBuffer> memory;
  std::vector<std::pair<std::string, const GuardedBuffer *>> named;
  for (const Bytes &bytes : buffers) {
    memory.emplace_back(static_cast<int64_t>(bytes.size()), Placement{side});
    std::copy(bytes.begin(), bytes.end(), memory.back().data());
  }
  std::vector<void *> pointers;
  std::vector<size_t> usedBy;
  std::vector<bool> isOverwritten(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    int other = aliased ? arguments[i].aliasOf : -1;
    bool shares = other >= 0 && !isOverwritten[other];
    if (shares)
      isOverwritten[other] = true;
    usedBy.push_back(shares ? other : i);
    pointers.push_back(memory[usedBy[i]].data());
    named.emplace_back("argument " + std::to_string(i), &memory[i]);
  }
  GuardedBuffer scratch(kernel.scratchBytes, Placement{side, line}), shared(kernel.sharedBytes, Placement{side, line});
  named.emplace_back("scratch", &scratch), named.emplace_back("shared scratch", &shared);
  quern_kernel_args_t args{pointers.data(), scratch.data(), shared.data(), kernel.sizes.data()};
  for (size_t entry = 0; entry < kernel.spaces.size(); ++entry) {
    int64_t space = kernel.spaces[entry];
    const std::vector<int64_t> &factors = kernel.factors[entry];
    for (size_t i = 0; i < factors.size(); i += 2)
      space *= (kernel.sizes[factors[i]] + factors[i + 1] - 1) / factors[i + 1];
    Execution execution(kernel, entry, arguments, args, side);
    bool isOver = execution.run(space / 3, space) && execution.run(0, space / 3);
    EXPECT_TRUE(isOver) << "accesses memory " << placeOf(faultAddress, named);
    execution.checkRules();
  }
  for (const auto &[name, buffer] : named)
    EXPECT_TRUE(buffer->guardsIntact()) << "writes outside of " << name;
  for (size_t i = 0; i < buffers.size(); ++i) // the contents of each output, for the comparison
    buffers[i].assign(memory[usedBy[i]].data(), memory[usedBy[i]].data() + memory[usedBy[i]].size());
}

namespace {

struct Output {
  const Bytes &want, &wantStart, &got, &gotStart;
};

void compareOutput(const ChainArgument &argument, double tolerance, const Output &output) {
  auto [want, wantStart, got, gotStart] = output;
  int64_t size = bytesOf(argument.element);
  for (int64_t i = 0; i < argument.count; ++i) {
    int64_t byte = i * size;
    auto same = [&](const Bytes &a, const Bytes &b) {
      return std::equal(a.begin() + byte, a.begin() + byte + size, b.begin() + byte);
    };
    bool isLeftAlone = same(want, wantStart);
    if (same(want, got) || (isLeftAlone && same(got, gotStart)))
      continue;
    double exact = loadElement(want.data(), i, argument.element), value = loadElement(got.data(), i, argument.element);
    ASSERT_TRUE(tolerance > 0) << "element " << i << " is " << value << ", expected " << exact
                               << (isLeftAlone ? ", which must not change" : "");
    ASSERT_NEAR(value, exact, tolerance) << "element " << i << (isLeftAlone ? " must not change" : "");
  }
}

/// Compares the outputs in `got`, which was `start` before, with `want`. Inputs must be unchanged.
void compare(const std::vector<ChainArgument> &arguments, double tolerance, const Buffers &start, const Buffers &want,
             const Buffers &got, bool aliased) {
  std::vector<bool> isOverwritten(start.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isOutput)
      continue;
    int other = aliased ? arguments[i].aliasOf : -1;
    bool shares = other >= 0 && !isOverwritten[other];
    if (shares)
      isOverwritten[other] = true;
    SCOPED_TRACE("argument " + std::to_string(i) + (aliased ? ", aliased" : ""));
    compareOutput(arguments[i], tolerance, {want[i], start[i], got[i], start[shares ? other : i]});
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].isOutput && !isOverwritten[i]) {
      EXPECT_EQ(got[i], start[i]) << "input " << i << " was changed";
    }
}

} // namespace

void quern::test::checkKernel(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments,
                              double tolerance, const Buffers &start, const Buffers &want, bool aliased) {
  for (GuardedSide side : {GuardedSide::End, GuardedSide::Beginning}) {
    SCOPED_TRACE("guarded at the " + std::string(nameOf(side)));
    Buffers got = start;
    run(kernel, arguments, got, aliased, side);
    compare(arguments, tolerance, start, want, got, aliased);
  }
}

uint64_t quern::test::fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}
