// Input: integers: divisions by any value, half-byte types in every order, and chains of operations. Checks that a
// chain is one problem.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:chain --target=avx2 | FileCheck %s --check-prefix=WHOLE
// WHOLE: {{^}}@function: 
#v = affine_map<(i) -> (i)>
#rc = affine_map<(r, c) -> (r, c)>
#cr = affine_map<(r, c) -> (c, r)>
#c = affine_map<(r, c) -> (c)>
#r = affine_map<(r, c) -> (r)>

func.func @quotients(%x: tensor<67xi32>, %y: tensor<67xi32>) -> (tensor<67xi32>, tensor<67xi32>, tensor<67xi32>, tensor<67xi32>) {
  %e = tensor.empty() : tensor<67xi32>
  %r:4 = linalg.generic {indexing_maps = [#v, #v, #v, #v, #v, #v], iterator_types = ["parallel"]} ins(%x, %y : tensor<67xi32>, tensor<67xi32>) outs(%e, %e, %e, %e : tensor<67xi32>, tensor<67xi32>, tensor<67xi32>, tensor<67xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32, %p: i32, %q: i32, %s: i32):
    %0 = arith.divsi %a, %b : i32
    %1 = arith.remui %a, %b : i32
    %2 = arith.floordivsi %a, %b : i32
    %3 = arith.ceildivui %a, %b : i32
    linalg.yield %0, %1, %2, %3 : i32, i32, i32, i32
  } -> (tensor<67xi32>, tensor<67xi32>, tensor<67xi32>, tensor<67xi32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<67xi32>, tensor<67xi32>, tensor<67xi32>, tensor<67xi32>
}

// The computed divisor is also 0 in masked lanes, which have no element.
func.func @computed_divisor(%x: tensor<19xi8>, %y: tensor<19xi8>) -> tensor<19xi8> {
  %e = tensor.empty() : tensor<19xi8>
  %r = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%x, %y : tensor<19xi8>, tensor<19xi8>) outs(%e : tensor<19xi8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %one = arith.constant 1 : i8
    %d = arith.subi %b, %one overflow<nsw> : i8
    %q = arith.remsi %a, %d : i8
    %s = arith.shli %q, %b : i8
    linalg.yield %s : i8
  } -> tensor<19xi8>
  return %r : tensor<19xi8>
}

func.func @pack_weights(%x: tensor<33x17xi8>) -> (tensor<33x17xi4>, tensor<17x33xi4>) {
  %e = tensor.empty() : tensor<33x17xi4>
  %t = tensor.empty() : tensor<17x33xi4>
  %r = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<33x17xi8>) outs(%e : tensor<33x17xi4>) {
  ^bb0(%a: i8, %o: i4):
    %q = arith.trunci %a : i8 to i4
    linalg.yield %q : i4
  } -> tensor<33x17xi4>
  %s = linalg.generic {indexing_maps = [#cr, #rc], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<33x17xi8>) outs(%t : tensor<17x33xi4>) {
  ^bb0(%a: i8, %o: i4):
    %q = arith.trunci %a : i8 to i4
    linalg.yield %q : i4
  } -> tensor<17x33xi4>
  return %r, %s : tensor<33x17xi4>, tensor<17x33xi4>
}

// Weights are [N, K], as in checkpoints of language models.
func.func @dequantize_nk(%x: tensor<5x34xf32>, %w: tensor<18x34xi4>, %scale: tensor<18xf32>) -> tensor<5x18xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<34x18xf32>
  %d = linalg.generic {indexing_maps = [#cr, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%w, %scale : tensor<18x34xi4>, tensor<18xf32>) outs(%e : tensor<34x18xf32>) {
  ^bb0(%q: i4, %s: f32, %o: f32):
    %f = arith.sitofp %q : i4 to f32
    %m = arith.mulf %f, %s : f32
    linalg.yield %m : f32
  } -> tensor<34x18xf32>
  %n = tensor.empty() : tensor<5x18xf32>
  %f = linalg.fill ins(%zero : f32) outs(%n : tensor<5x18xf32>) -> tensor<5x18xf32>
  %y = linalg.matmul ins(%x, %d : tensor<5x34xf32>, tensor<34x18xf32>) outs(%f : tensor<5x18xf32>) -> tensor<5x18xf32>
  return %y : tensor<5x18xf32>
}

func.func @dequantize_odd(%x: tensor<5x33xf32>, %w: tensor<33x17xi4>, %zeroPoint: tensor<17xi4>) -> tensor<5x17xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x17xf32>
  %d = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%w, %zeroPoint : tensor<33x17xi4>, tensor<17xi4>) outs(%e : tensor<33x17xf32>) {
  ^bb0(%q: i4, %z: i4, %o: f32):
    %i = arith.subi %q, %z : i4
    %f = arith.uitofp %i : i4 to f32
    linalg.yield %f : f32
  } -> tensor<33x17xf32>
  %n = tensor.empty() : tensor<5x17xf32>
  %f = linalg.fill ins(%zero : f32) outs(%n : tensor<5x17xf32>) -> tensor<5x17xf32>
  %y = linalg.matmul ins(%x, %d : tensor<5x33xf32>, tensor<33x17xf32>) outs(%f : tensor<5x17xf32>) -> tensor<5x17xf32>
  return %y : tensor<5x17xf32>
}

func.func @tiles(%w: tensor<13x7xi4>, %x: tensor<13x7xf32>) -> (tensor<4x4x4x2xi4>, tensor<5x3xi4>, tensor<13x7xi4>) {
  %pad = arith.constant -1 : i4
  %e = tensor.empty() : tensor<4x4x4x2xi4>
  %p = linalg.pack %w padding_value(%pad : i4) inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<13x7xi4> -> tensor<4x4x4x2xi4>
  %s = tensor.extract_slice %w[3, 1] [5, 3] [2, 1] : tensor<13x7xi4> to tensor<5x3xi4>
  %n = tensor.empty() : tensor<13x7xi4>
  %q = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<13x7xf32>) outs(%n : tensor<13x7xi4>) {
  ^bb0(%a: f32, %o: i4):
    %r = math.roundeven %a : f32
    %i = arith.fptosi %r : f32 to i4
    linalg.yield %i : i4
  } -> tensor<13x7xi4>
  return %p, %s, %q : tensor<4x4x4x2xi4>, tensor<5x3xi4>, tensor<13x7xi4>
}

// A part of a tensor of half bytes is overwritten; the other elements of its bytes are kept.
func.func @parts(%x: tensor<9x5xi4>, %y: tensor<3x3xi4>) -> tensor<9x5xi4> {
  %r = tensor.insert_slice %y into %x[3, 1] [3, 3] [1, 1] : tensor<3x3xi4> into tensor<9x5xi4>
  return %r : tensor<9x5xi4>
}

func.func @chain(%a0: tensor<8x12xf32>, %a1: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %e = tensor.empty() : tensor<8x12xf32>
  %a2 = linalg.add ins(%a0, %a1 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a3 = linalg.sub ins(%a1, %a2 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a4 = linalg.add ins(%a2, %a3 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a5 = linalg.sub ins(%a3, %a4 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a6 = linalg.add ins(%a4, %a5 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a7 = linalg.sub ins(%a5, %a6 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a8 = linalg.add ins(%a6, %a7 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a9 = linalg.sub ins(%a7, %a8 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a10 = linalg.add ins(%a8, %a9 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a11 = linalg.sub ins(%a9, %a10 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a12 = linalg.add ins(%a10, %a11 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %a13 = linalg.sub ins(%a11, %a12 : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %a13 : tensor<8x12xf32>
}

func.func @table(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xi4>) {
  %c = arith.constant dense<[[1, 2, -3, 4, 5], [-8, 7, 0, 1, 2], [3, -4, 5, 6, -7]]> : tensor<3x5xi4>
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%c, %x : tensor<3x5xi4>, tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%q: i4, %a: f32, %o: f32):
    %f = arith.sitofp %q : i4 to f32
    %m = arith.mulf %f, %a : f32
    linalg.yield %m : f32
  } -> tensor<3x5xf32>
  %t = tensor.empty() : tensor<5x3xi4>
  %s = linalg.transpose ins(%c : tensor<3x5xi4>) outs(%t : tensor<5x3xi4>) permutation = [1, 0]
  return %r, %s : tensor<3x5xf32>, tensor<5x3xi4>
}

func.func @part_in_memory(%x: memref<2x3xi8>, %y: memref<5x5xi4>) {
  %s = memref.subview %y[1, 1] [2, 3] [1, 1] : memref<5x5xi4> to memref<2x3xi4, strided<[5, 1], offset: 6>>
  linalg.map ins(%x : memref<2x3xi8>) outs(%s : memref<2x3xi4, strided<[5, 1], offset: 6>>) (%a: i8, %o: i4) {
    %t = arith.trunci %a : i8 to i4
    linalg.yield %t : i4
  }
  return
}

func.func @strided_memory(%x: memref<4x3xi4, strided<[7, 2], offset: 3>>, %y: memref<4x3xi8>) {
  linalg.map ins(%x : memref<4x3xi4, strided<[7, 2], offset: 3>>) outs(%y : memref<4x3xi8>) (%a: i4, %o: i8) {
    %t = arith.extsi %a : i4 to i8
    linalg.yield %t : i8
  }
  return
}
