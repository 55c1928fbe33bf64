// Input: moves and conversions: transposes, slices, padding, packing, concatenation, embeddings without a gather.
// Checks that conversions are part of the move and that parts are written directly to the result.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:transpose_bf16 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:nchw_to_nhwc_f16 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:transpose_dequantized --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:scatter_transposed --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:concatenate --target=avx2 | FileCheck %s --check-prefix=PARTS
// PARTS: {{^}}@function_0: 1 operations
// PARTS: {{^}}@function_1: 1 operations{{$}}
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#cr = affine_map<(r, c) -> (c, r)>
#r = affine_map<(r, c) -> (r)>
#c = affine_map<(r, c) -> (c)>

func.func @transpose_bf16(%x: tensor<50x70xf32>) -> tensor<70x50xbf16> {
  %e = tensor.empty() : tensor<70x50xbf16>
  %y = linalg.generic {indexing_maps = [#cr, #rc], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<50x70xf32>) outs(%e : tensor<70x50xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<70x50xbf16>
  return %y : tensor<70x50xbf16>
}

func.func @nchw_to_nhwc_f16(%x: tensor<2x24x5x7xf16>) -> tensor<2x5x7x24xf32> {
  %e = tensor.empty() : tensor<2x5x7x24xf16>
  %w = tensor.empty() : tensor<2x5x7x24xf32>
  %t = linalg.transpose ins(%x : tensor<2x24x5x7xf16>) outs(%e : tensor<2x5x7x24xf16>) permutation = [0, 2, 3, 1]
  %y = linalg.map ins(%t : tensor<2x5x7x24xf16>) outs(%w : tensor<2x5x7x24xf32>) (%a: f16, %o: f32) {
    %u = arith.extf %a : f16 to f32
    linalg.yield %u : f32
  }
  return %y : tensor<2x5x7x24xf32>
}

func.func @transpose_dequantized(%x: tensor<3x40x36xi8>, %scale: tensor<36xf32>) -> tensor<3x36x40xf32> {
  %e = tensor.empty() : tensor<3x36x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, c, b)>, affine_map<(a, b, c) -> (b)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %scale : tensor<3x40x36xi8>, tensor<36xf32>) outs(%e : tensor<3x36x40xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %f = arith.sitofp %q : i8 to f32
    %t = arith.mulf %f, %s : f32
    linalg.yield %t : f32
  } -> tensor<3x36x40xf32>
  return %y : tensor<3x36x40xf32>
}

// The transposition is in the destination's map instead of the source's.
func.func @scatter_transposed(%x: tensor<50x70xf32>) -> tensor<70x50xf32> {
  %e = tensor.empty() : tensor<70x50xf32>
  %y = linalg.generic {indexing_maps = [#rc, #cr], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<50x70xf32>) outs(%e : tensor<70x50xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<70x50xf32>
  return %y : tensor<70x50xf32>
}

func.func @pad(%x: tensor<2x6x7x8xf32>) -> tensor<2x8x9x8xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<2x6x7x8xf32> to tensor<2x8x9x8xf32>
  return %y : tensor<2x8x9x8xf32>
}

func.func @pad_relu(%x: tensor<20x30xf32>) -> tensor<24x32xf32> {
  %low = arith.constant -1.0 : f32
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0] high[4, 2] {
  ^bb0(%a: index, %b: index):
    tensor.yield %low : f32
  } : tensor<20x30xf32> to tensor<24x32xf32>
  %e = tensor.empty() : tensor<24x32xf32>
  %y = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<24x32xf32>) outs(%e : tensor<24x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.subf %a, %low : f32
    %u = arith.maximumf %t, %zero : f32
    linalg.yield %u : f32
  } -> tensor<24x32xf32>
  return %y : tensor<24x32xf32>
}

func.func @pack_columns(%x: tensor<40x50xf32>) -> tensor<4x40x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x40x16xf32>
  %y = linalg.pack %x padding_value(%zero : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<40x50xf32> -> tensor<4x40x16xf32>
  return %y : tensor<4x40x16xf32>
}

func.func @unpack_columns(%x: tensor<4x40x16xf32>) -> tensor<40x50xf32> {
  %e = tensor.empty() : tensor<40x50xf32>
  %y = linalg.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %e : tensor<4x40x16xf32> -> tensor<40x50xf32>
  return %y : tensor<40x50xf32>
}

func.func @concatenate(%x: tensor<12x20xf32>, %y: tensor<12x28xf32>) -> tensor<12x48xf32> {
  %z = tensor.concat dim(1) %x, %y : (tensor<12x20xf32>, tensor<12x28xf32>) -> tensor<12x48xf32>
  return %z : tensor<12x48xf32>
}

// Every other row, and the columns of a window.
func.func @strided_slice(%x: tensor<40x64xbf16>) -> tensor<20x24xbf16> {
  %s = tensor.extract_slice %x[1, 8] [20, 24] [2, 1] : tensor<40x64xbf16> to tensor<20x24xbf16>
  %e = tensor.empty() : tensor<20x24xbf16>
  %y = linalg.exp ins(%s : tensor<20x24xbf16>) outs(%e : tensor<20x24xbf16>) -> tensor<20x24xbf16>
  return %y : tensor<20x24xbf16>
}

func.func @depth_to_space(%x: tensor<2x5x6x12xf32>) -> tensor<2x10x12x3xf32> {
  %s = tensor.expand_shape %x [[0], [1], [2], [3, 4, 5]] output_shape [2, 5, 6, 2, 2, 3] : tensor<2x5x6x12xf32> into tensor<2x5x6x2x2x3xf32>
  %e = tensor.empty() : tensor<2x5x2x6x2x3xf32>
  %t = linalg.transpose ins(%s : tensor<2x5x6x2x2x3xf32>) outs(%e : tensor<2x5x2x6x2x3xf32>) permutation = [0, 1, 3, 2, 4, 5]
  %y = tensor.collapse_shape %t [[0], [1, 2], [3, 4], [5]] : tensor<2x5x2x6x2x3xf32> into tensor<2x10x12x3xf32>
  return %y : tensor<2x10x12x3xf32>
}

func.func @reshape(%x: tensor<6x20xf32>, %b: tensor<24xf32>) -> tensor<5x24xf32> {
  %shape = arith.constant dense<[5, 24]> : tensor<2xi32>
  %s = tensor.reshape %x(%shape) : (tensor<6x20xf32>, tensor<2xi32>) -> tensor<5x24xf32>
  %e = tensor.empty() : tensor<5x24xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%s, %b : tensor<5x24xf32>, tensor<24xf32>) outs(%e : tensor<5x24xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %t = arith.addf %a, %v : f32
    linalg.yield %t : f32
  } -> tensor<5x24xf32>
  return %y : tensor<5x24xf32>
}

// Looks up a table row for each number, by a product with a matrix that is 1 where the numbers are equal.
func.func @embedding(%ids: tensor<14xi32>, %table: tensor<40x32xf32>) -> tensor<14x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<14x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<14x32xf32>) -> tensor<14x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, d, v) -> (t)>, affine_map<(t, d, v) -> (v, d)>, affine_map<(t, d, v) -> (t, d)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ids, %table : tensor<14xi32>, tensor<40x32xf32>) outs(%f : tensor<14x32xf32>) {
  ^bb0(%id: i32, %w: f32, %s: f32):
    %i = linalg.index 2 : index
    %number = arith.index_cast %i : index to i32
    %same = arith.cmpi eq, %number, %id : i32
    %t = arith.select %same, %w, %zero : f32
    %u = arith.addf %t, %s : f32
    linalg.yield %u : f32
  } -> tensor<14x32xf32>
  return %y : tensor<14x32xf32>
}

// One-hot vectors as numbers, multiplied by a table.
func.func @embedding_one_hot(%ids: tensor<14xi32>, %table: tensor<40x32xbf16>) -> tensor<14x32xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : bf16
  %none = arith.constant 0.0 : bf16
  %h = tensor.empty() : tensor<14x40xbf16>
  %hot = linalg.generic {indexing_maps = [#r, #rc], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<14xi32>) outs(%h : tensor<14x40xbf16>) {
  ^bb0(%id: i32, %o: bf16):
    %i = linalg.index 1 : index
    %number = arith.index_cast %i : index to i32
    %same = arith.cmpi eq, %number, %id : i32
    %t = arith.select %same, %one, %none : bf16
    linalg.yield %t : bf16
  } -> tensor<14x40xbf16>
  %e = tensor.empty() : tensor<14x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<14x32xf32>) -> tensor<14x32xf32>
  %y = linalg.matmul ins(%hot, %table : tensor<14x40xbf16>, tensor<40x32xbf16>) outs(%f : tensor<14x32xf32>) -> tensor<14x32xf32>
  return %y : tensor<14x32xf32>
}
