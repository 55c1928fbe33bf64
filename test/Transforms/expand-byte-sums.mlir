// Checks that four neighboring bytes are added by the two instructions that multiply bytes, then 16-bit integers, with
// ones: signed bytes are the second operand, unsigned ones the first. Each instruction set uses registers of its width;
// all other code is unchanged.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-byte-sums{target=avx512_core}))' | FileCheck %s --check-prefixes=ALL,AVX512,AVX2
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-byte-sums{target=avx2}))' | FileCheck %s --check-prefixes=ALL,AVX2,NOT512
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-byte-sums{target=sse42}))' | FileCheck %s --check-prefixes=ALL,NOT512,NOT2

// ALL-LABEL: func.func @signed(
// AVX512-SAME: %[[X:[a-z0-9_]+]]: vector<64xi8>, %[[ACC:[a-z0-9_]+]]: vector<16xi32>
// AVX512: %[[ONES:[a-z0-9_]+]] = arith.constant dense<1> : vector<64xi8>
// AVX512: %[[HALVES:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"(%[[ONES]], %[[X]])
// AVX512: %[[WIDE:[a-z0-9_]+]] = arith.constant dense<1> : vector<32xi16>
// AVX512: %[[LANES:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%[[HALVES]], %[[WIDE]])
// AVX512: %[[SUM:[a-z0-9_]+]] = arith.addi %[[LANES]], %[[ACC]]
// AVX512-NEXT: return %[[SUM]]
// NOT512: vector.multi_reduction
func.func @signed(%x: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %words = arith.extsi %x : vector<64xi8> to vector<64xi32>
  %fours = vector.shape_cast %words : vector<64xi32> to vector<16x4xi32>
  %y = vector.multi_reduction <add>, %fours, %acc [1] : vector<16x4xi32> to vector<16xi32>
  return %y : vector<16xi32>
}

// ALL-LABEL: func.func @unsigned(
// AVX512-SAME: %[[X:[a-z0-9_]+]]: vector<64xi8>
// AVX512: %[[ONES:[a-z0-9_]+]] = arith.constant dense<1> : vector<64xi8>
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"(%[[X]], %[[ONES]])
// ALL: return
func.func @unsigned(%x: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %words = arith.extui %x : vector<64xi8> to vector<64xi32>
  %fours = vector.shape_cast %words : vector<64xi32> to vector<16x4xi32>
  %y = vector.multi_reduction <add>, %fours, %acc [1] : vector<16x4xi32> to vector<16xi32>
  return %y : vector<16xi32>
}

// ALL-LABEL: func.func @half(
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%{{.*}}) : (vector<32xi8>, vector<32xi8>) -> vector<16xi16>
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// NOT2: vector.multi_reduction
// ALL: return
func.func @half(%x: vector<32xi8>, %acc: vector<8xi32>) -> vector<8xi32> {
  %words = arith.extsi %x : vector<32xi8> to vector<32xi32>
  %fours = vector.shape_cast %words : vector<32xi32> to vector<8x4xi32>
  %y = vector.multi_reduction <add>, %fours, %acc [1] : vector<8x4xi32> to vector<8xi32>
  return %y : vector<8xi32>
}

// ALL-LABEL: func.func @quarter(
// ALL: llvm.call_intrinsic "llvm.x86.ssse3.pmadd.ub.sw.128"
// ALL: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"
// ALL-NOT: vector.multi_reduction
// ALL: return
func.func @quarter(%x: vector<16xi8>, %acc: vector<4xi32>) -> vector<4xi32> {
  %words = arith.extsi %x : vector<16xi8> to vector<16xi32>
  %fours = vector.shape_cast %words : vector<16xi32> to vector<4x4xi32>
  %y = vector.multi_reduction <add>, %fours, %acc [1] : vector<4x4xi32> to vector<4xi32>
  return %y : vector<4xi32>
}

// Other reductions, and parts of a register, are kept.
// ALL-LABEL: func.func @greatest(
// ALL: vector.multi_reduction <maxsi>
// ALL: return
func.func @greatest(%x: vector<64xi8>, %acc: vector<16xi32>) -> vector<16xi32> {
  %words = arith.extsi %x : vector<64xi8> to vector<64xi32>
  %fours = vector.shape_cast %words : vector<64xi32> to vector<16x4xi32>
  %y = vector.multi_reduction <maxsi>, %fours, %acc [1] : vector<16x4xi32> to vector<16xi32>
  return %y : vector<16xi32>
}

// ALL-LABEL: func.func @short(
// ALL: vector.multi_reduction <add>
// ALL: return
func.func @short(%x: vector<24xi8>, %acc: vector<6xi32>) -> vector<6xi32> {
  %words = arith.extsi %x : vector<24xi8> to vector<24xi32>
  %fours = vector.shape_cast %words : vector<24xi32> to vector<6x4xi32>
  %y = vector.multi_reduction <add>, %fours, %acc [1] : vector<6x4xi32> to vector<6xi32>
  return %y : vector<6xi32>
}

// A sum over pairs is also kept.
// ALL-LABEL: func.func @pairs(
// ALL: vector.multi_reduction <add>
// ALL: return
func.func @pairs(%x: vector<64xi8>, %acc: vector<32xi32>) -> vector<32xi32> {
  %words = arith.extsi %x : vector<64xi8> to vector<64xi32>
  %twos = vector.shape_cast %words : vector<64xi32> to vector<32x2xi32>
  %y = vector.multi_reduction <add>, %twos, %acc [1] : vector<32x2xi32> to vector<32xi32>
  return %y : vector<32xi32>
}
