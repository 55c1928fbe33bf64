// Checks that the loop along which the halves of a byte are neighbors becomes half as long, that every operand that is
// contiguous along it is accessed as integers of twice the width, and that the body is computed for both elements, with
// common parts once. If the halves are not neighbors in every written operand, nothing changes.
// RUN: split-file %s %t
// RUN: quern-opt %t/pairs.mlir --pass-pipeline='builtin.module(quern-pair-elements)' | FileCheck %t/pairs.mlir
// RUN: quern-opt %t/apart.mlir --pass-pipeline='builtin.module(quern-pair-elements)' | FileCheck %t/apart.mlir
// RUN: quern-opt %t/odd.mlir --pass-pipeline='builtin.module(quern-pair-elements)' | FileCheck %t/odd.mlir
// RUN: quern-opt %t/alone.mlir --pass-pipeline='builtin.module(quern-pair-elements)' | FileCheck %t/alone.mlir

//--- pairs.mlir
// CHECK-LABEL: func.func @widen(
// CHECK-SAME: %[[SRC:[a-z0-9_]+]]: memref<6x4xi8> {quern.arg = "src"}, %[[SCALE:[a-z0-9_]+]]: memref<6xf32> {quern.arg = "scale"}, %[[DST:[a-z0-9_]+]]: memref<6x4xi64> {quern.arg = "dst"}
// CHECK: ins(%[[SRC]], %[[SCALE]] : memref<6x4xi8>, memref<6xf32>) outs(%[[DST]] : memref<6x4xi64>)
// CHECK: ^bb0(%[[PAIR:[a-z0-9_]+]]: i8, %[[S:[a-z0-9_]+]]: f32, %{{.*}}: i64):
// CHECK: %[[LOW:[a-z0-9_]+]] = arith.trunci %[[PAIR]] : i8 to i4
// CHECK: %[[FOUR:[a-z0-9_]+]] = arith.constant 4 : i8
// CHECK: %[[UPPER:[a-z0-9_]+]] = arith.shrui %[[PAIR]], %[[FOUR]] : i8
// CHECK: %[[HIGH:[a-z0-9_]+]] = arith.trunci %[[UPPER]] : i8 to i4
// CHECK: %[[F0:[a-z0-9_]+]] = arith.sitofp %[[LOW]]
// CHECK: %[[COMMON:[a-z0-9_]+]] = arith.negf %[[S]]
// CHECK: %[[Y0:[a-z0-9_]+]] = arith.mulf %[[F0]], %[[COMMON]]
// CHECK: %[[F1:[a-z0-9_]+]] = arith.sitofp %[[HIGH]]
// CHECK-NOT: arith.negf
// CHECK: %[[Y1:[a-z0-9_]+]] = arith.mulf %[[F1]], %[[COMMON]]
// CHECK: %[[B0:[a-z0-9_]+]] = arith.bitcast %[[Y0]] : f32 to i32
// CHECK: %[[W0:[a-z0-9_]+]] = arith.extui %[[B0]]
// CHECK: %[[B1:[a-z0-9_]+]] = arith.bitcast %[[Y1]] : f32 to i32
// CHECK: %[[W1:[a-z0-9_]+]] = arith.extui %[[B1]]
// CHECK: %[[THIRTYTWO:[a-z0-9_]+]] = arith.constant 32 : i64
// CHECK: %[[MOVED:[a-z0-9_]+]] = arith.shli %[[W1]], %[[THIRTYTWO]]
// CHECK: %[[BOTH:[a-z0-9_]+]] = arith.ori %[[W0]], %[[MOVED]]
// CHECK: linalg.yield %[[BOTH]]
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @widen(%src: memref<6x8xi4> {quern.arg = "src"}, %scale: memref<6xf32> {quern.arg = "scale"}, %dst: memref<6x8xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src, %scale : memref<6x8xi4>, memref<6xf32>) outs(%dst : memref<6x8xf32>) {
  ^bb0(%x: i4, %s: f32, %out: f32):
    %f = arith.sitofp %x : i4 to f32
    %n = arith.negf %s : f32
    %y = arith.mulf %f, %n : f32
    linalg.yield %y : f32
  }
  return
}

// A block of 8 columns becomes one of 4 pairs; strides and the offset count pairs, and zeros are filled in whole bytes.
// CHECK-LABEL: func.func @blocked(
// CHECK-SAME: memref<3x2x4xi16, strided<[20, 10, 1], offset: 3>> {quern.arg = "src"}, %[[DST:[a-z0-9_]+]]: memref<3x8xi8> {quern.arg = "dst"}
// CHECK: %[[ZERO:[a-z0-9_]+]] = arith.constant 0 : i8
// CHECK: linalg.fill ins(%[[ZERO]] : i8) outs(%[[DST]] : memref<3x8xi8>)
// CHECK: linalg.generic {indexing_maps = [#[[BLOCKS:[a-z0-9_]+]], #{{.*}}], iterator_types
#blocks = affine_map<(r, c) -> (r, c floordiv 8, c mod 8)>
func.func @blocked(%src: memref<3x2x8xi8, strided<[40, 20, 1], offset: 6>> {quern.arg = "src"}, %dst: memref<3x16xi4> {quern.arg = "dst"}) {
  %zero = arith.constant 0 : i4
  linalg.fill ins(%zero : i4) outs(%dst : memref<3x16xi4>)
  linalg.generic {indexing_maps = [#blocks, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<3x2x8xi8, strided<[40, 20, 1], offset: 6>>) outs(%dst : memref<3x16xi4>) {
  ^bb0(%x: i8, %out: i4):
    %y = arith.trunci %x : i8 to i4
    linalg.yield %y : i4
  }
  return
}

//--- apart.mlir
// The halves of a byte of the result come from two rows of the source.
// CHECK: func.func @apart(%{{.*}}: memref<4x6xi4> {quern.arg = "src"}, %{{.*}}: memref<6x4xi4> {quern.arg = "dst"})
// CHECK: memref<4x6xi4>) outs(%{{.*}} : memref<6x4xi4>)
#id = affine_map<(r, c) -> (r, c)>
#t = affine_map<(r, c) -> (c, r)>
func.func @apart(%src: memref<4x6xi4> {quern.arg = "src"}, %dst: memref<6x4xi4> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%src : memref<4x6xi4>) outs(%dst : memref<6x4xi4>) {
  ^bb0(%x: i4, %out: i4):
    linalg.yield %x : i4
  }
  return
}

//--- odd.mlir
// Rows of 7 start in the middle of a byte.
// CHECK: func.func @odd(%{{.*}}: memref<4x7xi8> {quern.arg = "src"}, %{{.*}}: memref<4x7xi4> {quern.arg = "dst"})
#id = affine_map<(r, c) -> (r, c)>
func.func @odd(%src: memref<4x7xi8> {quern.arg = "src"}, %dst: memref<4x7xi4> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%src : memref<4x7xi8>) outs(%dst : memref<4x7xi4>) {
  ^bb0(%x: i8, %out: i4):
    %y = arith.trunci %x : i8 to i4
    linalg.yield %y : i4
  }
  return
}

//--- alone.mlir
// An input that is common to a pair is unchanged while the others are paired.
// CHECK: func.func @alone(%{{.*}}: memref<6x4xi8> {quern.arg = "src"}, %{{.*}}: memref<6xi4> {quern.arg = "zero"}, %{{.*}}: memref<6x4xi64> {quern.arg = "dst"})
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @alone(%src: memref<6x8xi4> {quern.arg = "src"}, %zero: memref<6xi4> {quern.arg = "zero"}, %dst: memref<6x8xf32> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src, %zero : memref<6x8xi4>, memref<6xi4>) outs(%dst : memref<6x8xf32>) {
  ^bb0(%x: i4, %z: i4, %out: f32):
    %d = arith.subi %x, %z : i4
    %y = arith.sitofp %d : i4 to f32
    linalg.yield %y : f32
  }
  return
}
