// Checks that bf16 and f16 are represented as i16 in arguments, memory, pass-through values of masks and loops;
// conversions are integer arithmetic or F16C.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-narrow-floats{target=avx512_core}))' | FileCheck %s --check-prefixes=ALL,F16C --implicit-check-not=xbf16
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-narrow-floats{target=sse42}))' | FileCheck %s --check-prefixes=ALL,INT --implicit-check-not=bf16 --implicit-check-not=f16

// ALL-LABEL: func.func @memory(
// ALL-SAME: memref<64xi16>
// ALL: arith.constant dense<0> : vector<16xi16>
// ALL: vector.maskedload {{.*}} : memref<64xi16>, vector<16xi1>, vector<16xi16> into vector<16xi16>
// ALL: vector.maskedstore {{.*}} : memref<64xi16>
func.func @memory(%src: memref<64xbf16>, %mask: vector<16xi1>, %i: index) {
  %zero = arith.constant dense<0.0> : vector<16xbf16>
  %x = vector.maskedload %src[%i], %mask, %zero : memref<64xbf16>, vector<16xi1>, vector<16xbf16> into vector<16xbf16>
  vector.maskedstore %src[%i], %mask, %x : memref<64xbf16>, vector<16xi1>, vector<16xbf16>
  return
}

// ALL-LABEL: func.func @bf16(
// ALL: arith.extui {{.*}} : vector<8xi16> to vector<8xi32>
// ALL: arith.shli
// ALL: arith.cmpf uno
// ALL: arith.trunci {{.*}} : vector<8xi32> to vector<8xi16>
func.func @bf16(%x: vector<8xbf16>) -> vector<8xbf16> {
  %wide = arith.extf %x : vector<8xbf16> to vector<8xf32>
  %narrow = arith.truncf %wide : vector<8xf32> to vector<8xbf16>
  return %narrow : vector<8xbf16>
}

// ALL-LABEL: func.func @f16(
// F16C: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// F16C: arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
// INT: arith.mulf
// INT: arith.addf
// INT: arith.trunci
func.func @f16(%x: vector<8xf16>) -> vector<8xf16> {
  %wide = arith.extf %x : vector<8xf16> to vector<8xf32>
  %narrow = arith.truncf %wide : vector<8xf32> to vector<8xf16>
  return %narrow : vector<8xf16>
}

// f64 is converted through f32 rounded to odd, so only the second rounding has an effect.
// ALL-LABEL: func.func @double(
// ALL: arith.truncf {{.*}} : vector<8xf64> to vector<8xf32>
// ALL: arith.cmpf ogt
// ALL: arith.cmpf one
// ALL: arith.ori
func.func @double(%x: vector<8xf64>) -> vector<8xbf16> {
  %narrow = arith.truncf %x : vector<8xf64> to vector<8xbf16>
  return %narrow : vector<8xbf16>
}

// ALL-LABEL: func.func @carried(
// ALL: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args({{.*}}) -> (vector<8xi16>)
func.func @carried(%x: vector<8xbf16>, %n: index) -> vector<8xbf16> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (vector<8xbf16>) {
    %s = vector.shuffle %a, %a [1, 0, 3, 2, 5, 4, 7, 6] : vector<8xbf16>, vector<8xbf16>
    scf.yield %s : vector<8xbf16>
  }
  return %r : vector<8xbf16>
}

// Both types are narrow, as an upstream fold leaves it: the conversion goes through f32.
// ALL-LABEL: func.func @between(
// F16C: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// ALL: arith.trunci {{.*}} : vector<8xi32> to vector<8xi8>
func.func @between(%x: vector<8xf16>) -> vector<8xf8E5M2> {
  %narrow = arith.truncf %x : vector<8xf16> to vector<8xf8E5M2>
  return %narrow : vector<8xf8E5M2>
}
