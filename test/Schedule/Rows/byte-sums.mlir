// Checks that bytes that are only summed are added four per lane: across rows in a layout whose innermost block has
// four row positions (whole registers, four of them added before they are added to the sum), and along the row if it is
// contiguous, with the usual code for the remainder. If lanes are contiguous instead, two registers are summed in 16
// bits, 256 steps at a time. Each instruction set adds the neighbors with instructions on bytes. If the row has another
// use, none of this applies.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=quern.scratch
// RUN: quern-opt %s --expand-math --target=avx512_core | FileCheck %s --check-prefix=AVX512 --implicit-check-not=multi_reduction
// RUN: quern-opt %s --expand-math --target=avx2 | FileCheck %s --check-prefix=AVX2 --implicit-check-not=multi_reduction
// RUN: quern-opt %s --expand-math --target=sse42 | FileCheck %s --check-prefix=SSE --implicit-check-not=multi_reduction
// RUN: quern-opt %s --check --target=avx512_core --tolerance=1e-30
// RUN: quern-opt %s --check --target=avx2 --tolerance=1e-30
// RUN: quern-opt %s --check --target=sse42 --tolerance=1e-30

// CHECK-LABEL: func.func @blocks_kernel(
// CHECK-SAME: space = 4, across_rows = 1, lanes = 16, neighbors = 4
// CHECK: scf.for %{{.*}} = %arg2 to %arg3 step %c1 {
// CHECK: scf.for %{{.*}} = %c0 to %c48 step %c16 iter_args
// CHECK: %[[BYTES:.*]] = vector.load {{.*}} vector<64xi8>
// CHECK: %[[WORDS:.*]] = arith.extsi %[[BYTES]] : vector<64xi8> to vector<64xi32>
// CHECK: %[[FOURS:.*]] = vector.shape_cast %[[WORDS]] : vector<64xi32> to vector<16x4xi32>
// CHECK: %[[FIRST:.*]] = vector.multi_reduction <add>, %[[FOURS]], %{{.*}} [1]
// CHECK: vector.multi_reduction <add>, %{{.*}}, %[[FIRST]] [1]
// CHECK: arith.addi {{.*}} : vector<16xi32>
// AVX512-LABEL: func.func @blocks_kernel(
// AVX512: %[[PAIRS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"(%{{.*}}, %[[BYTES:.*]]) : (vector<64xi8>, vector<64xi8>)
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%[[PAIRS]], %{{.*}})
// AVX2-LABEL: func.func @blocks_kernel(
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// SSE-LABEL: func.func @blocks_kernel(
// SSE: llvm.call_intrinsic "llvm.x86.ssse3.pmadd.ub.sw.128"
// SSE: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"
#kept = affine_map<(o, k) -> (o)>
#blocks = affine_map<(o, k) -> (o floordiv 32, k floordiv 4, o mod 32, k mod 4)>
#pin = affine_map<(o, k) -> (o, k)>
func.func @blocks(%src: memref<2x12x32x4xi8> {quern.arg = "src"}, %dst: memref<64xi32> {quern.arg = "dst"}) {
  %zero = arith.constant 0 : i32
  %pin = memref.alloc() : memref<64x48xi8>
  linalg.fill ins(%zero : i32) outs(%dst : memref<64xi32>)
  linalg.generic {indexing_maps = [#pin, #blocks, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %src : memref<64x48xi8>, memref<2x12x32x4xi8>) outs(%dst : memref<64xi32>) {
  ^bb0(%unread: i8, %x: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %r = arith.addi %w, %s : i32
    linalg.yield %r : i32
  }
  return
}

// Blocks of eight lanes are half of an AVX-512 vector. Three steps of four positions are unrolled, because two times
// four would leave a remainder.
// CHECK-LABEL: func.func @half_kernel(
// CHECK-SAME: lanes = 8, neighbors = 4
// CHECK-COUNT-3: vector.multi_reduction {{.*}} vector<8x4xi32>
// CHECK-NOT: vector.multi_reduction
// CHECK: return
// AVX512-LABEL: func.func @half_kernel(
// AVX512: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
#eights = affine_map<(o, k) -> (o floordiv 8, k floordiv 4, o mod 8, k mod 4)>
func.func @half(%src: memref<3x9x8x4xi8> {quern.arg = "src"}, %dst: memref<24xi32> {quern.arg = "dst"}) {
  %zero = arith.constant 0 : i32
  %pin = memref.alloc() : memref<24x36xi8>
  linalg.fill ins(%zero : i32) outs(%dst : memref<24xi32>)
  linalg.generic {indexing_maps = [#pin, #eights, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%pin, %src : memref<24x36xi8>, memref<3x9x8x4xi8>) outs(%dst : memref<24xi32>) {
  ^bb0(%unread: i8, %x: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %r = arith.addi %w, %s : i32
    linalg.yield %r : i32
  }
  return
}

// 500 = (2 · 3 + 1) · 64 + 3 · 16 + 4, unsigned.
// CHECK-LABEL: func.func @rows_kernel(
// CHECK-SAME: along_row, unroll = "3", lanes = 16, neighbors = 4
// CHECK-COUNT-3: arith.extui {{.*}} : vector<64xi8> to vector<64xi32>
// CHECK: scf.yield
// CHECK: arith.extui {{.*}} : vector<64xi8> to vector<64xi32>
// CHECK-COUNT-4: arith.extui {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: vector.reduction <add>
// AVX512-LABEL: func.func @rows_kernel(
// AVX512: %[[BYTES:.*]] = vector.load {{.*}} vector<64xi8>
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"(%[[BYTES]], %{{.*}}) : (vector<64xi8>, vector<64xi8>)
func.func @rows(%src: memref<5x500xi8> {quern.arg = "src"}, %dst: memref<5xi32> {quern.arg = "dst"}) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%dst : memref<5xi32>)
  linalg.generic {indexing_maps = [#pin, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<5x500xi8>) outs(%dst : memref<5xi32>) {
  ^bb0(%x: i8, %s: i32):
    %w = arith.extui %x : i8 to i32
    %r = arith.addi %s, %w : i32
    linalg.yield %r : i32
  }
  return
}

// CHECK-LABEL: func.func @columns_kernel(
// CHECK-SAME: across_rows = 2, lanes = 32, in_halves
// CHECK: %[[NONE:.*]] = arith.constant dense<0> : vector<32xi16>
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c600 step %c256 iter_args({{.*}}) -> (vector<32xi32>, vector<32xi32>)
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %c1 iter_args(%[[SUM:.*]] = %[[NONE]], %{{.*}} = %[[NONE]]) -> (vector<32xi16>, vector<32xi16>)
// CHECK: %[[HALVES:.*]] = arith.extsi %{{.*}} : vector<32xi8> to vector<32xi16>
// CHECK: arith.addi %[[SUM]], %[[HALVES]] : vector<32xi16>
// CHECK: scf.yield
// CHECK: arith.extsi {{.*}} : vector<32xi16> to vector<32xi32>
#columns = affine_map<(o, k) -> (k, o)>
func.func @columns(%src: memref<600x64xi8> {quern.arg = "src"}, %dst: memref<64xi32> {quern.arg = "dst"}) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%dst : memref<64xi32>)
  linalg.generic {indexing_maps = [#columns, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<600x64xi8>) outs(%dst : memref<64xi32>) {
  ^bb0(%x: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %r = arith.addi %w, %s : i32
    linalg.yield %r : i32
  }
  return
}

// CHECK-LABEL: func.func @squares_kernel(
// CHECK-NOT: neighbors
// CHECK-NOT: 16 bits
// CHECK-NOT: multi_reduction
func.func @squares(%src: memref<5x512xi8> {quern.arg = "src"}, %dst: memref<5xi32> {quern.arg = "dst"}) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%dst : memref<5xi32>)
  linalg.generic {indexing_maps = [#pin, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<5x512xi8>) outs(%dst : memref<5xi32>) {
  ^bb0(%x: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %q = arith.muli %w, %w : i32
    %r = arith.addi %q, %s : i32
    linalg.yield %r : i32
  }
  return
}
