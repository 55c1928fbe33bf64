// Checks that each kernel computes the same on every instruction set: a 16-bit masked move emulated if it is missing,
// f16 with and without F16C, and f64 rounding.
// REQUIRES: avx512_core
// RUN: quern-opt %s --run --target=sse42 > %t.sse42
// RUN: quern-opt %s --run --target=avx2 > %t.avx2
// RUN: quern-opt %s --run --target=avx512_core > %t.avx512
// RUN: diff %t.sse42 %t.avx2
// RUN: diff %t.sse42 %t.avx512
// RUN: FileCheck %s --input-file=%t.sse42
// CHECK: half: digest
// CHECK: brain: digest
// CHECK: wide: unchanged
// CHECK: single: digest
func.func @mix_kernel(%half: memref<64xf16> {quern.arg = "half"}, %brain: memref<64xbf16> {quern.arg = "brain"},
                      %wide: memref<64xf64> {quern.arg = "wide"}, %single: memref<64xf32> {quern.arg = "single"}, %begin: index, %end: index)
    attributes {quern.kernel = #quern.kernel<space = 4>} {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %lanes = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
  %zero16 = arith.constant dense<0.0> : vector<8xbf16>
  %third = arith.constant dense<0.3333333333333333> : vector<8xf64>
  scf.for %i = %begin to %end step %one {
    %at = arith.muli %i, %eight : index
    %count = arith.index_cast %i : index to i32
    %limit = vector.broadcast %count : i32 to vector<8xi32>
    %mask = arith.cmpi sle, %lanes, %limit : vector<8xi32>
    %b = vector.maskedload %brain[%at], %mask, %zero16 : memref<64xbf16>, vector<8xi1>, vector<8xbf16> into vector<8xbf16>
    %b32 = arith.extf %b : vector<8xbf16> to vector<8xf32>
    %h = vector.load %half[%at] : memref<64xf16>, vector<8xf16>
    %h32 = arith.extf %h : vector<8xf16> to vector<8xf32>
    %sum = arith.addf %b32, %h32 : vector<8xf32>
    vector.store %sum, %single[%at] : memref<64xf32>, vector<8xf32>
    %w = vector.load %wide[%at] : memref<64xf64>, vector<8xf64>
    %scaled = arith.mulf %w, %third : vector<8xf64>
    %w16 = arith.truncf %scaled : vector<8xf64> to vector<8xf16>
    vector.store %w16, %half[%at] : memref<64xf16>, vector<8xf16>
    %wb = arith.truncf %scaled : vector<8xf64> to vector<8xbf16>
    vector.maskedstore %brain[%at], %mask, %wb : memref<64xbf16>, vector<8xi1>, vector<8xbf16>
  }
  return
}
