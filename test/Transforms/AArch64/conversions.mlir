// Checks that bytes are added in pairs as they widen, or by dots with ones; that a float becomes the nearest integer of
// a range by the conversion that saturates and turns NaN into 0, so the bounds are integers; and that bf16 is rounded
// by the instruction, which keeps denormals, or by integers.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-byte-sums{target=neon},quern-expand-saturation{target=neon},quern-expand-narrow-floats{target=neon}))' | FileCheck %s --check-prefixes=ALL,NEON
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-byte-sums{target=neon_bf16},quern-expand-saturation{target=neon_bf16},quern-expand-narrow-floats{target=neon_bf16}))' | FileCheck %s --check-prefixes=ALL,BF16

// ALL-LABEL: func.func @sums(
// NEON: %[[HALVES:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.aarch64.neon.uaddlp"(%{{.*}}) : (vector<16xi8>) -> vector<8xi16>
// NEON: %[[WORDS:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.aarch64.neon.uaddlp"(%[[HALVES]]) : (vector<8xi16>) -> vector<4xi32>
// NEON: arith.addi %{{.*}}, %[[WORDS]]
// BF16: %[[ONES:[a-z0-9_]+]] = arith.constant dense<1> : vector<16xi8>
// BF16: llvm.call_intrinsic "llvm.aarch64.neon.udot"(%{{.*}}, %{{.*}}, %[[ONES]])
// ALL: return
func.func @sums(%x: vector<16xi8>, %acc: vector<4xi32>) -> vector<4xi32> {
  %words = arith.extui %x : vector<16xi8> to vector<16xi32>
  %fours = vector.shape_cast %words : vector<16xi32> to vector<4x4xi32>
  %y = vector.multi_reduction <add>, %fours, %acc [1] : vector<4x4xi32> to vector<4xi32>
  return %y : vector<4xi32>
}

// ALL-LABEL: func.func @nearest(
// ALL-SAME: %[[X:[a-z0-9_]+]]: vector<4xf32>
// ALL: %[[WHOLE:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.aarch64.neon.fcvtns"(%[[X]])
// ALL: %[[ABOVE:[a-z0-9_]+]] = arith.maxsi %[[WHOLE]]
// ALL: arith.minsi %[[ABOVE]]
// ALL-NOT: math.roundeven
// ALL: return
func.func @nearest(%x: vector<4xf32>) -> vector<4xi32> {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %low = arith.constant dense<-128.0> : vector<4xf32>
  %high = arith.constant dense<127.0> : vector<4xf32>
  %isNumber = arith.cmpf ord, %x, %x : vector<4xf32>
  %number = arith.select %isNumber, %x, %zero : vector<4xi1>, vector<4xf32>
  %isAbove = arith.cmpf ogt, %number, %low : vector<4xf32>
  %above = arith.select %isAbove, %number, %low : vector<4xi1>, vector<4xf32>
  %isBelow = arith.cmpf olt, %above, %high : vector<4xf32>
  %clamped = arith.select %isBelow, %above, %high : vector<4xi1>, vector<4xf32>
  %rounded = math.roundeven %clamped : vector<4xf32>
  %y = arith.fptosi %rounded : vector<4xf32> to vector<4xi32>
  return %y : vector<4xi32>
}

// ALL-LABEL: func.func @brain(
// NEON-NOT: arith.truncf
// NEON: arith.shrui
// BF16: %[[NARROW:[a-z0-9_]+]] = arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
// BF16: arith.bitcast %[[NARROW]] : vector<4xbf16> to vector<4xi16>
// ALL: return
func.func @brain(%x: vector<4xf32>) -> vector<4xbf16> {
  %y = arith.truncf %x : vector<4xf32> to vector<4xbf16>
  return %y : vector<4xbf16>
}

// ALL-LABEL: func.func @half(
// ALL: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
func.func @half(%x: vector<4xf16>) -> vector<4xf32> {
  %y = arith.extf %x : vector<4xf16> to vector<4xf32>
  return %y : vector<4xf32>
}
