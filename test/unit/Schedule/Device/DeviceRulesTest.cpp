//===- DeviceRulesTest.cpp - Detecting undefined behavior of devices ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests kernels with one mistake each, as a recipe might make it: the interpreter of work-items reports it. Also tests
// correct kernels, which run without a report.
//
//===----------------------------------------------------------------------===//
#include "ScheduledKernel.h"
#include "WorkItems.h"

#include "quern/kernel_abi.h"

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

using namespace quern;
using namespace quern::test;

namespace {

class DeviceRules : public testing::Test {
protected:
  /// Runs two groups of 32 in sub-groups of 8, on 64 f32 each and 32 f32 of group memory; returns the reported fault.
  std::string faultOf(const std::string &body) {
    const std::string text = R"(
      func.func @problem() { return }
      memref.global "private" @shared : memref<32xf32, #gpu.address_space<workgroup>> = uninitialized
      func.func @kernel(%in: memref<64xf32>, %out: memref<64xf32>)
          attributes {quern.kernel = #quern.kernel<group_size = 32, space = 2, sub_group_size = 8>} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c32 = arith.constant 32 : index
        %one = arith.constant 1 : i32
        %eight = arith.constant 8 : i32
        %group = gpu.block_id x
        %item = gpu.thread_id x
        %lane = gpu.lane_id
        %first = arith.muli %group, %c32 : index
        %at = arith.addi %first, %item : index
        %isFirst = arith.cmpi eq, %item, %c0 : index
        %isLane0 = arith.cmpi eq, %lane, %c0 : index
        %far = arith.constant 31 : index
        %other = arith.subi %far, %item : index
        %memory = memref.get_global @shared : memref<32xf32, #gpu.address_space<workgroup>>
        %x = memref.load %in[%at] : memref<64xf32>
        )" + body + R"(
        return
      })";
    ScheduledKernel kernel =
        compiler.compile(text, targetsOfMachine(wholeLevels).front(), [](mlir::func::FuncOp problem, std::string &) {
          for (auto function : problem->getParentOfType<mlir::ModuleOp>().getOps<mlir::func::FuncOp>())
            if (function != problem)
              makeWorkItem(function);
          return mlir::success();
        });
    const std::vector<ChainArgument> arguments{{Element::F32, 64}, {Element::F32, 64, true}};
    std::string said;
    for (kernel.orderSeed = 1; kernel.orderSeed <= 8; ++kernel.orderSeed) { // different orders of work-items
      Buffers buffers = makeBuffers(arguments, 1);
      testing::TestPartResultArray results;
      {
        testing::ScopedFakeTestPartResultReporter keep(
            testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
        run(kernel, arguments, buffers, /*aliased=*/false);
      }
      if (!results.size())
        return kernel.orderSeed == 1 ? "" : "not always: " + said;
      said = results.GetTestPartResult(0).message();
    }
    return said;
  }

  KernelCompiler compiler;
};

const char *const store = "memref.store %x, %memory[%item] : memref<32xf32, #gpu.address_space<workgroup>>\n";
const char *const load = "%y = memref.load %memory[%other] : memref<32xf32, #gpu.address_space<workgroup>>\n";
const char *const write = "memref.store %y, %out[%at] : memref<64xf32>\n";
const char *const exchange = "%y, %valid = gpu.shuffle xor %x, %one, %eight : f32\n";

TEST_F(DeviceRules, ExchangesAndBarriersWork) {
  EXPECT_EQ(faultOf(std::string(store) + "gpu.barrier\n" + load + write), "");
  EXPECT_EQ(faultOf(std::string(exchange) + write), "");
}

TEST_F(DeviceRules, MissingBarriersAreReported) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "without synchronization", faultOf(std::string(store) + load + write));
  // The same between a read and the next write.
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "without synchronization",
                      faultOf(std::string(store) + "gpu.barrier\n" + load + store + write));
}

TEST_F(DeviceRules, DivergentBarriersAreReported) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is at the barrier", faultOf("scf.if %isFirst {\n gpu.barrier\n}\n"));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is at the barrier",
                      faultOf("scf.if %isLane0 {\n gpu.barrier\n} else {\n gpu.barrier\n}\n"));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is at the exchange",
                      faultOf("scf.if %isLane0 {\n" + std::string(exchange) + write + "}\n"));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "reads the value of lane 8 of 8",
                      faultOf("%y, %valid = gpu.shuffle idx %x, %eight, %eight : f32\n" + std::string(write)));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "exchanges values in a sub-group of 1",
                      faultOf("%y, %valid = gpu.shuffle xor %x, %one, %one : f32\n" + std::string(write)));
}

TEST_F(DeviceRules, ConflictingAccessesAreReported) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "writes element 0, too",
                      faultOf("memref.store %x, %out[%c0] : memref<64xf32>\n"));
  // A barrier does not make a group's writes to a buffer visible to other work-items.
  EXPECT_PRED_FORMAT2(
      testing::IsSubstring, "without synchronization",
      faultOf("memref.store %x, %out[%at] : memref<64xf32>\n gpu.barrier\n %n = arith.addi %first, %other : index\n"
              "%y = memref.load %out[%n] : memref<64xf32>\n %z = arith.addf %y, %x : f32\n"
              "memref.store %z, %out[%at] : memref<64xf32>\n"));
  // Reads of one group are not ordered with writes of another.
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "without synchronization",
                      faultOf("%y = memref.load %out[%item] : memref<64xf32>\n" + std::string(write)));
}

TEST_F(DeviceRules, OutOfBoundsAndMisalignedAccessesAreReported) {
  EXPECT_PRED_FORMAT2(
      testing::IsSubstring, "which has 64",
      faultOf("%n = arith.addi %at, %c1 : index\n%y = memref.load %in[%n] : memref<64xf32>\n" + std::string(write)));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "which has 32",
                      faultOf("%n = arith.addi %item, %c1 : index\n"
                              "memref.store %x, %memory[%n] : memref<32xf32, #gpu.address_space<workgroup>>\n"));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "is not a multiple of 8 bytes",
                      faultOf("scf.if %isFirst {\n%n = arith.addi %first, %c1 : index\n"
                              "%v = vector.load %in[%n] {alignment = 8 : i64} : memref<64xf32>, vector<2xf32>\n"
                              "vector.store %v, %out[%first] : memref<64xf32>, vector<2xf32>\n}\n"));
}

} // namespace
