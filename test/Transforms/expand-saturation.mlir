// Checks that rounding and conversion are one instruction, without the clamp at the bound that the instruction returns
// anyway for values out of range. Bounds of a byte are left to the packing that follows. NaN becomes 0: it is masked
// out if the result would be another number.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-saturation{target=avx512_core}))' | FileCheck %s --check-prefixes=ALL,AVX512
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-saturation{target=avx2}))' | FileCheck %s --check-prefixes=ALL,AVX2
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-saturation{target=sse42}))' | FileCheck %s --check-prefixes=ALL,NONE
// RUN: not quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-saturation{target=mmx}))' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: quern-expand-saturation: target 'mmx' is unknown; known are native, sse42,

// Signed bytes: only the upper bound is clamped, because smaller values become INT32_MIN, which the packing saturates
// to -128.
// ALL-LABEL: func.func @bytes(
// AVX512-SAME: %[[X:[a-z0-9_]+]]: vector<16xf32>
// AVX512-NOT: arith.cmpf ogt
// AVX512: %[[HIGH:[a-z0-9_]+]] = arith.constant dense<1.270000e+02>
// AVX512: arith.cmpf olt, %[[X]], %[[HIGH]]
// AVX512: %[[CLAMPED:[a-z0-9_]+]] = arith.select %{{.*}}, %[[X]], %[[HIGH]]
// AVX512: %[[EVERY:[a-z0-9_]+]] = llvm.mlir.constant(-1 : i16)
// AVX512: %[[ROUNDING:[a-z0-9_]+]] = llvm.mlir.constant(4 : i32)
// AVX512: %[[WHOLE:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"(%[[CLAMPED]], %{{.*}}, %[[EVERY]], %[[ROUNDING]])
// AVX512: %[[NUMBER:[a-z0-9_]+]] = arith.cmpf ord, %[[X]], %[[X]]
// AVX512: %[[KNOWN:[a-z0-9_]+]] = arith.select %[[NUMBER]], %[[WHOLE]], %{{.*}} : vector<16xi1>, vector<16xi32>
// AVX512: %[[LEAST:[a-z0-9_]+]] = arith.constant dense<-128>
// AVX512: %[[ABOVE:[a-z0-9_]+]] = arith.maxsi %[[KNOWN]], %[[LEAST]]
// AVX512: %[[MOST:[a-z0-9_]+]] = arith.constant dense<127>
// AVX512: %[[PACKED:[a-z0-9_]+]] = arith.minsi %[[ABOVE]], %[[MOST]]
// AVX512: arith.trunci %[[PACKED]] : vector<16xi32> to vector<16xi8>
// AVX512-NOT: math.roundeven
// Vectors that do not fill a register of the instruction set are unchanged.
// AVX2: math.roundeven
// AVX2: arith.fptosi
// NONE: math.roundeven
// ALL: return
func.func @bytes(%x: vector<16xf32>) -> vector<16xi8> {
  %low = arith.constant dense<-128.0> : vector<16xf32>
  %high = arith.constant dense<127.0> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %isNumber = arith.cmpf ord, %x, %x : vector<16xf32>
  %number = arith.select %isNumber, %x, %zero : vector<16xi1>, vector<16xf32>
  %isAbove = arith.cmpf ogt, %number, %low : vector<16xf32>
  %above = arith.select %isAbove, %number, %low : vector<16xi1>, vector<16xf32>
  %isBelow = arith.cmpf olt, %above, %high : vector<16xf32>
  %clamped = arith.select %isBelow, %above, %high : vector<16xi1>, vector<16xf32>
  %rounded = math.roundeven %clamped : vector<16xf32>
  %whole = arith.fptosi %rounded : vector<16xf32> to vector<16xi32>
  %y = arith.trunci %whole : vector<16xi32> to vector<16xi8>
  return %y : vector<16xi8>
}

// Unsigned bytes: the lower bound turns NaN into 0, and larger values become 2^31, which the packing saturates to 255.
// ALL-LABEL: func.func @unsigned(
// AVX2-SAME: %[[X:[a-z0-9_]+]]: vector<8xf32>
// AVX2-NOT: arith.cmpf olt
// AVX2: arith.cmpf ogt, %[[X]], %[[LOW:[a-z0-9_]+]] :
// AVX2: %[[CLAMPED:[a-z0-9_]+]] = arith.select %{{.*}}, %[[X]], %[[LOW]]
// AVX2: %[[WHOLE:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx.cvt.ps2dq.256"(%[[CLAMPED]])
// AVX2-NOT: arith.cmpf
// AVX2: %[[MOST:[a-z0-9_]+]] = arith.constant dense<255>
// AVX2: %[[PACKED:[a-z0-9_]+]] = arith.minui %[[WHOLE]], %[[MOST]]
// AVX2: arith.trunci %[[PACKED]] : vector<8xi32> to vector<8xi8>
// NONE: math.roundeven
// ALL: return
func.func @unsigned(%x: vector<8xf32>) -> vector<8xi8> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %isAbove = arith.cmpf ogt, %x, %low : vector<8xf32>
  %above = arith.select %isAbove, %x, %low : vector<8xi1>, vector<8xf32>
  %isBelow = arith.cmpf olt, %above, %high : vector<8xf32>
  %clamped = arith.select %isBelow, %above, %high : vector<8xi1>, vector<8xf32>
  %rounded = math.roundeven %clamped : vector<8xf32>
  %whole = arith.fptosi %rounded : vector<8xf32> to vector<8xi32>
  %y = arith.trunci %whole : vector<8xi32> to vector<8xi8>
  return %y : vector<8xi8>
}

// The range of s32: no lower clamp, NaN is masked out, nothing follows.
// ALL-LABEL: func.func @words(
// AVX512-SAME: %[[X:[a-z0-9_]+]]: vector<8xf64>
// AVX512-NOT: arith.cmpf ogt
// AVX512: arith.cmpf olt, %[[X]]
// AVX512: %[[WHOLE:[a-z0-9_]+]] = llvm.call_intrinsic "llvm.x86.avx512.mask.cvtpd2dq.512"
// AVX512: %[[NUMBER:[a-z0-9_]+]] = arith.cmpf ord, %[[X]], %[[X]]
// AVX512: %[[KNOWN:[a-z0-9_]+]] = arith.select %[[NUMBER]], %[[WHOLE]]
// AVX512-NEXT: return %[[KNOWN]]
func.func @words(%x: vector<8xf64>) -> vector<8xi32> {
  %low = arith.constant dense<-2147483648.0> : vector<8xf64>
  %high = arith.constant dense<2147483647.0> : vector<8xf64>
  %zero = arith.constant dense<0.0> : vector<8xf64>
  %isNumber = arith.cmpf ord, %x, %x : vector<8xf64>
  %number = arith.select %isNumber, %x, %zero : vector<8xi1>, vector<8xf64>
  %isAbove = arith.cmpf ogt, %number, %low : vector<8xf64>
  %above = arith.select %isAbove, %number, %low : vector<8xi1>, vector<8xf64>
  %isBelow = arith.cmpf olt, %above, %high : vector<8xf64>
  %clamped = arith.select %isBelow, %above, %high : vector<8xi1>, vector<8xf64>
  %rounded = math.roundeven %clamped : vector<8xf64>
  %y = arith.fptosi %rounded : vector<8xf64> to vector<8xi32>
  return %y : vector<8xi32>
}

// Another range keeps both clamps, because no packing applies them.
// ALL-LABEL: func.func @range(
// AVX512: arith.cmpf ogt
// AVX512: arith.cmpf olt
// AVX512: cvtps2dq.512
// AVX512: arith.cmpf ord
// AVX512-NOT: arith.m{{ax|in}}
// AVX512: return
func.func @range(%x: vector<16xf32>) -> vector<16xi8> {
  %low = arith.constant dense<-8.0> : vector<16xf32>
  %high = arith.constant dense<7.0> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %isNumber = arith.cmpf ord, %x, %x : vector<16xf32>
  %number = arith.select %isNumber, %x, %zero : vector<16xi1>, vector<16xf32>
  %isAbove = arith.cmpf ogt, %number, %low : vector<16xf32>
  %above = arith.select %isAbove, %number, %low : vector<16xi1>, vector<16xf32>
  %isBelow = arith.cmpf olt, %above, %high : vector<16xf32>
  %clamped = arith.select %isBelow, %above, %high : vector<16xi1>, vector<16xf32>
  %rounded = math.roundeven %clamped : vector<16xf32>
  %whole = arith.fptosi %rounded : vector<16xf32> to vector<16xi32>
  %y = arith.trunci %whole : vector<16xi32> to vector<16xi8>
  return %y : vector<16xi8>
}

// A reversed comparison gives another result for NaN: it is not a saturation and is kept.
// ALL-LABEL: func.func @other(
// ALL: arith.cmpf ugt
// ALL: math.roundeven
// ALL: arith.fptosi
// ALL: return
func.func @other(%x: vector<16xf32>) -> vector<16xi8> {
  %low = arith.constant dense<0.0> : vector<16xf32>
  %high = arith.constant dense<255.0> : vector<16xf32>
  %isAbove = arith.cmpf ugt, %x, %low : vector<16xf32>
  %above = arith.select %isAbove, %x, %low : vector<16xi1>, vector<16xf32>
  %isBelow = arith.cmpf olt, %above, %high : vector<16xf32>
  %clamped = arith.select %isBelow, %above, %high : vector<16xi1>, vector<16xf32>
  %rounded = math.roundeven %clamped : vector<16xf32>
  %whole = arith.fptosi %rounded : vector<16xf32> to vector<16xi32>
  %y = arith.trunci %whole : vector<16xi32> to vector<16xi8>
  return %y : vector<16xi8>
}
