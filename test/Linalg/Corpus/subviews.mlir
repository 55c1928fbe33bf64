// Input: parts whose offset, step or size is known at execution: an index argument, a size, or a sum or product of
// these. Checks that each call computes the offset of a part, not the kernel, and that nothing is copied.
// REQUIRES: compiler
// RUN: quern dump --stage=emit --target=avx2 --mlir=%s:extract | FileCheck %s --check-prefix=EXTRACT
// EXTRACT:      number "arg1"
// EXTRACT-NEXT: check "the offset of a part in dim 0 of arg0" value s0 low 0 high 48
// EXTRACT-NEXT: call @function("result0", "arg0"[s0 * 192])
// EXTRACT:      func.func @function(%{{.*}}: memref<16x48xf32> {{.*}}, %{{.*}}: memref<16x48xf32, strided<[48, 1]>>
// EXTRACT-NOT:  copy
// RUN: quern dump --stage=emit --target=avx2 --mlir=%s:left_columns | FileCheck %s --check-prefix=COLUMNS
// COLUMNS:      number "arg1"
// COLUMNS-NEXT: check "the size of a part in dim 1 of arg0" value s1 - s6 low s4 high s4
// COLUMNS:      call @function("result0", "arg0"[s6 * 4])

// An offset out of range is refused with its value and the limit, and so are contradictory sizes.
// RUN: not quern run --mlir=%s:extract --sizes=49 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: the offset of a part in dim 0 of arg0 is 49; 0 to 48 is possible
// RUN: not quern run --mlir=%s:insert --sizes=61 2>&1 | FileCheck %s --check-prefix=INSERTED
// INSERTED: the offset of a part in dim 0 of result0 is 61; 0 to 60 is possible
// RUN: not quern run --mlir=%s:open_buffer --sizes=5 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: the last index of a part in dim 0 of arg0 is 5; 0 to 4 is possible
// RUN: not quern run --mlir=%s:stepping --sizes=0 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: the step of a part in dim 0 of arg0 is 0; 1 to
// RUN: not quern run --mlir=%s:any_rows --sizes=4,2,5 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: the size of a part in dim 0 of arg0 is 5; the other sizes require 4
// RUN: not quern run --mlir=%s:any_rows --sizes=70,0,70 2>&1 | FileCheck %s --check-prefix=LONGER
// LONGER: the offset of a part in dim 0 of arg0 is 0; the other sizes allow no value
// RUN: not quern run --mlir=%s:extract 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the number arg1 is known only at execution; give it (--sizes)
#rc = affine_map<(r, c) -> (r, c)>

// sizes: 0 5 48 0
func.func @extract(%x: tensor<64x48xf32>, %at: index) -> tensor<16x48xf32> {
  %e = tensor.empty() : tensor<16x48xf32>
  %s = tensor.extract_slice %x[%at, 0] [16, 48] [1, 1] : tensor<64x48xf32> to tensor<16x48xf32>
  %y = linalg.exp ins(%s : tensor<16x48xf32>) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  return %y : tensor<16x48xf32>
}

// sizes: 0 7 60 0
func.func @insert(%x: tensor<4x48xf32>, %to: tensor<64x48xf32>, %at: index) -> tensor<64x48xf32> {
  %e = tensor.empty() : tensor<4x48xf32>
  %y = linalg.exp ins(%x : tensor<4x48xf32>) outs(%e : tensor<4x48xf32>) -> tensor<4x48xf32>
  %s = tensor.insert_slice %y into %to[%at, 0] [4, 48] [1, 1] : tensor<4x48xf32> into tensor<64x48xf32>
  return %s : tensor<64x48xf32>
}

// The keys of one step are written to the next free rows of a cache.
// sizes: 0 30 0
func.func @cache(%x: memref<2x8xf16>, %cache: memref<4x32x8xf16>, %at: index) {
  %p = memref.subview %cache[1, %at, 0] [1, 2, 8] [1, 1, 1] : memref<4x32x8xf16> to memref<2x8xf16, strided<[8, 1], offset: ?>>
  linalg.copy ins(%x : memref<2x8xf16>) outs(%p : memref<2x8xf16, strided<[8, 1], offset: ?>>)
  return
}

// A block of columns and rows, selected by its number.
// sizes: 0,0 3,5 2,1 0,0 0,1 0,5
func.func @block(%x: tensor<64x48xbf16>, %i: index, %j: index) -> tensor<16x8xf32> {
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %at = arith.muli %i, %c16 : index
  %to = arith.muli %j, %c8 : index
  %e = tensor.empty() : tensor<16x8xf32>
  %s = tensor.extract_slice %x[%at, %to] [16, 8] [1, 1] : tensor<64x48xbf16> to tensor<16x8xbf16>
  %y = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<16x8xbf16>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %t = arith.extf %a : bf16 to f32
    linalg.yield %t : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// sizes: 10,5,10 1,63,1 64,0,64 0,0,0 0,5,0 0,63,0
func.func @any_rows(%x: tensor<64x48xf32>, %at: index, %n: index) -> tensor<?x48xf32> {
  %e = tensor.empty(%n) : tensor<?x48xf32>
  %s = tensor.extract_slice %x[%at, 0] [%n, 48] [1, 1] : tensor<64x48xf32> to tensor<?x48xf32>
  %y = linalg.exp ins(%s : tensor<?x48xf32>) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// The remaining columns after an open number, of a matrix with open sizes.
// sizes: 9,17,9,12,5 1,2,1,1,1 0,0,0,0,0 0,17,0,12,5 0,2,0,0,0
func.func @left_columns(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = tensor.dim %x, %c0 : tensor<?x?xf32>
  %c = tensor.dim %x, %c1 : tensor<?x?xf32>
  %left = arith.subi %c, %n : index
  %e = tensor.empty(%r, %left) : tensor<?x?xf32>
  %s = tensor.extract_slice %x[0, %n] [%r, %left] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %y = linalg.exp ins(%s : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// The keys computed so far.
// sizes: 33,33 1,1 64,64 0,0
func.func @softmax_of_part(%x: tensor<8x64xf32>, %n: index) -> tensor<8x?xf32> {
  %e = tensor.empty(%n) : tensor<8x?xf32>
  %s = tensor.extract_slice %x[0, 0] [8, %n] [1, 1] : tensor<8x64xf32> to tensor<8x?xf32>
  %y = linalg.softmax dimension(1) ins(%s : tensor<8x?xf32>) outs(%e : tensor<8x?xf32>) -> tensor<8x?xf32>
  return %y : tensor<8x?xf32>
}

// A part of known size of a buffer of open size, and parts that depend on the buffer's size.
// sizes: 6 9
func.func @open_buffer(%x: tensor<?x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %s = tensor.extract_slice %x[2, 0] [4, 8] [1, 1] : tensor<?x8xf32> to tensor<4x8xf32>
  %y = linalg.exp ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// sizes: 12,6 24,12 0,0 12,0 24,0
func.func @without_first(%x: memref<?x2x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x2x8xf32>
  %m = memref.dim %y, %c0 : memref<?x8xf32>
  %at = arith.subi %n, %m : index
  %s = memref.subview %x[%at, 1, 0] [%m, 1, 8] [1, 1, 1] : memref<?x2x8xf32> to memref<?x8xf32, strided<[16, 1], offset: ?>>
  linalg.tanh ins(%s : memref<?x8xf32, strided<[16, 1], offset: ?>>) outs(%y : memref<?x8xf32>)
  return
}

// sizes: 1 7 20
func.func @stepping(%x: tensor<64x8xf32>, %by: index) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %s = tensor.extract_slice %x[1, 0] [4, 8] [%by, 1] : tensor<64x8xf32> to tensor<4x8xf32>
  %y = linalg.exp ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// The weights of one of several experts.
// sizes: 0 2 0
func.func @expert(%x: tensor<22x32xf32>, %w: tensor<3x32x48xf32>, %which: index) -> tensor<22x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<22x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<22x48xf32>) -> tensor<22x48xf32>
  %s = tensor.extract_slice %w[%which, 0, 0] [1, 32, 48] [1, 1, 1] : tensor<3x32x48xf32> to tensor<32x48xf32>
  %p = linalg.matmul ins(%x, %s : tensor<22x32xf32>, tensor<32x48xf32>) outs(%f : tensor<22x48xf32>) -> tensor<22x48xf32>
  %y = linalg.abs ins(%p : tensor<22x48xf32>) outs(%e : tensor<22x48xf32>) -> tensor<22x48xf32>
  return %y : tensor<22x48xf32>
}

// Dims are collapsed and expanded, one of them by a number.
// sizes: 6,4,24 1,1,1 3,5,15 0,0,0 3,5,0 6,4,0
func.func @together(%x: tensor<?x?x8xf32>) -> tensor<?x8xf32> {
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %flat, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.exp ins(%flat : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// sizes: 24,6,6,4,4 6,6,6,1,1 0,0,0,0,0 0,0,0,1,1 24,0,0,4,4
func.func @apart(%x: tensor<?x8xf32>, %b: tensor<?x8xf32>, %k: index) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?x8xf32>
  %three = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, %k, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  %e = tensor.empty(%n, %k) : tensor<?x?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, c) -> (i, j, c)>, affine_map<(i, j, c) -> (i, c)>, affine_map<(i, j, c) -> (i, j, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%three, %b : tensor<?x?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %t = arith.addf %a, %v : f32
    linalg.yield %t : f32
  } -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
