// Input: integer weights and activations, with dequantization before products and quantization after them. Checks that
// the quantization is part of the problem that computes its input.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:quantize_rows --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:matmul_requantized --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:dequantize_u4 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:fake_quantize --target=avx2 | FileCheck %s --check-prefix=WHOLE
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>
#c = affine_map<(r, c) -> (c)>
#v = affine_map<(r) -> (r)>
#gkn = affine_map<(g, k, n) -> (g, k, n)>
#gn = affine_map<(g, k, n) -> (g, n)>

func.func @dequantize_s8_matmul(%x: tensor<20x64xf32>, %w: tensor<64x48xi8>, %scale: tensor<48xf32>) -> tensor<20x48xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<64x48xf32>
  %d = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%w, %scale : tensor<64x48xi8>, tensor<48xf32>) outs(%wide : tensor<64x48xf32>) {
  ^bb0(%q: i8, %s: f32, %o: f32):
    %f = arith.sitofp %q : i8 to f32
    %t = arith.mulf %f, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  %e = tensor.empty() : tensor<20x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x48xf32>) -> tensor<20x48xf32>
  %y = linalg.matmul ins(%x, %d : tensor<20x64xf32>, tensor<64x48xf32>) outs(%f : tensor<20x48xf32>) -> tensor<20x48xf32>
  return %y : tensor<20x48xf32>
}

// Unsigned bytes, with a zero point for each column.
func.func @dequantize_u8_matmul(%x: tensor<20x64xf32>, %w: tensor<64x48xi8>, %zeroPoint: tensor<48xi8>, %scale: tensor<48xf32>) -> tensor<20x48xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<64x48xf32>
  %d = linalg.generic {indexing_maps = [#rc, #c, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%w, %zeroPoint, %scale : tensor<64x48xi8>, tensor<48xi8>, tensor<48xf32>) outs(%wide : tensor<64x48xf32>) {
  ^bb0(%q: i8, %z: i8, %s: f32, %o: f32):
    %qw = arith.extui %q : i8 to i32
    %zw = arith.extui %z : i8 to i32
    %i = arith.subi %qw, %zw : i32
    %f = arith.sitofp %i : i32 to f32
    %t = arith.mulf %f, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  %e = tensor.empty() : tensor<20x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x48xf32>) -> tensor<20x48xf32>
  %y = linalg.matmul ins(%x, %d : tensor<20x64xf32>, tensor<64x48xf32>) outs(%f : tensor<20x48xf32>) -> tensor<20x48xf32>
  return %y : tensor<20x48xf32>
}

// Half bytes in groups of 32 along K, with a scale and a zero point for each group and column.
func.func @dequantize_s4_groups_matmul(%x: tensor<20x64xf32>, %w: tensor<2x32x48xi4>, %scale: tensor<2x48xf32>) -> tensor<20x48xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<2x32x48xf32>
  %d = linalg.generic {indexing_maps = [#gkn, #gn, #gkn], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w, %scale : tensor<2x32x48xi4>, tensor<2x48xf32>) outs(%wide : tensor<2x32x48xf32>) {
  ^bb0(%q: i4, %s: f32, %o: f32):
    %i = arith.extsi %q : i4 to i32
    %f = arith.sitofp %i : i32 to f32
    %t = arith.mulf %f, %s : f32
    linalg.yield %t : f32
  } -> tensor<2x32x48xf32>
  %flat = tensor.collapse_shape %d [[0, 1], [2]] : tensor<2x32x48xf32> into tensor<64x48xf32>
  %e = tensor.empty() : tensor<20x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x48xf32>) -> tensor<20x48xf32>
  %y = linalg.matmul ins(%x, %flat : tensor<20x64xf32>, tensor<64x48xf32>) outs(%f : tensor<20x48xf32>) -> tensor<20x48xf32>
  return %y : tensor<20x48xf32>
}

func.func @dequantize_u4(%w: tensor<24x64xi4>, %zeroPoint: tensor<24xi4>, %scale: tensor<24xf32>) -> tensor<24x64xf16> {
  %e = tensor.empty() : tensor<24x64xf16>
  %y = linalg.generic {indexing_maps = [#rc, #r, #r, #rc], iterator_types = ["parallel", "parallel"]} ins(%w, %zeroPoint, %scale : tensor<24x64xi4>, tensor<24xi4>, tensor<24xf32>) outs(%e : tensor<24x64xf16>) {
  ^bb0(%q: i4, %z: i4, %s: f32, %o: f16):
    %qw = arith.extui %q : i4 to i32
    %zw = arith.extui %z : i4 to i32
    %i = arith.subi %qw, %zw : i32
    %f = arith.sitofp %i : i32 to f32
    %m = arith.mulf %f, %s : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<24x64xf16>
  return %y : tensor<24x64xf16>
}

// Each row is scaled by its largest absolute value; values and scales are returned.
func.func @quantize_rows(%x: tensor<26x100xf32>) -> (tensor<26x100xi8>, tensor<26xf32>) {
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 127.0 : f32
  %least = arith.constant -127.0 : f32
  %tiny = arith.constant 1.0e-8 : f32
  %row = tensor.empty() : tensor<26xf32>
  %z = linalg.fill ins(%zero : f32) outs(%row : tensor<26xf32>) -> tensor<26xf32>
  %m = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<26x100xf32>) outs(%z : tensor<26xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %t = arith.maximumf %b, %o : f32
    linalg.yield %t : f32
  } -> tensor<26xf32>
  %s = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%m : tensor<26xf32>) outs(%row : tensor<26xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %a, %tiny : f32
    %t = arith.divf %b, %most : f32
    linalg.yield %t : f32
  } -> tensor<26xf32>
  %e = tensor.empty() : tensor<26x100xi8>
  %y = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<26x100xf32>, tensor<26xf32>) outs(%e : tensor<26x100xi8>) {
  ^bb0(%a: f32, %b: f32, %o: i8):
    %d = arith.divf %a, %b : f32
    %r = math.roundeven %d : f32
    %l = arith.maximumf %r, %least : f32
    %h = arith.minimumf %l, %most : f32
    %t = arith.fptosi %h : f32 to i8
    linalg.yield %t : i8
  } -> tensor<26x100xi8>
  return %y, %s : tensor<26x100xi8>, tensor<26xf32>
}

func.func @matmul_s8(%x: tensor<24x64xi8>, %w: tensor<64x48xi8>) -> tensor<24x48xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<24x48xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<24x48xi32>) -> tensor<24x48xi32>
  %y = linalg.matmul ins(%x, %w : tensor<24x64xi8>, tensor<64x48xi8>) outs(%f : tensor<24x48xi32>) -> tensor<24x48xi32>
  return %y : tensor<24x48xi32>
}

// Products of TOSA after lowering: byte operands and results.
func.func @matmul_requantized(%x: tensor<24x64xi8>, %w: tensor<64x48xi8>, %b: tensor<48xi32>, %scale: tensor<48xf32>) -> tensor<24x48xi8> {
  %zero = arith.constant 0 : i32
  %most = arith.constant 127.0 : f32
  %least = arith.constant -128.0 : f32
  %wide = tensor.empty() : tensor<24x48xi32>
  %e = tensor.empty() : tensor<24x48xi8>
  %f = linalg.fill ins(%zero : i32) outs(%wide : tensor<24x48xi32>) -> tensor<24x48xi32>
  %p = linalg.matmul ins(%x, %w : tensor<24x64xi8>, tensor<64x48xi8>) outs(%f : tensor<24x48xi32>) -> tensor<24x48xi32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b, %scale : tensor<24x48xi32>, tensor<48xi32>, tensor<48xf32>) outs(%e : tensor<24x48xi8>) {
  ^bb0(%a: i32, %v: i32, %s: f32, %o: i8):
    %i = arith.addi %a, %v : i32
    %g = arith.sitofp %i : i32 to f32
    %m = arith.mulf %g, %s : f32
    %r = math.roundeven %m : f32
    %l = arith.maximumf %r, %least : f32
    %h = arith.minimumf %l, %most : f32
    %t = arith.fptosi %h : f32 to i8
    linalg.yield %t : i8
  } -> tensor<24x48xi8>
  return %y : tensor<24x48xi8>
}

func.func @dequantize_bf16(%w: tensor<24x65xi8>, %scale: tensor<24xbf16>) -> tensor<24x65xbf16> {
  %e = tensor.empty() : tensor<24x65xbf16>
  %y = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]} ins(%w, %scale : tensor<24x65xi8>, tensor<24xbf16>) outs(%e : tensor<24x65xbf16>) {
  ^bb0(%q: i8, %s: bf16, %o: bf16):
    %f = arith.sitofp %q : i8 to bf16
    %t = arith.mulf %f, %s : bf16
    linalg.yield %t : bf16
  } -> tensor<24x65xbf16>
  return %y : tensor<24x65xbf16>
}

func.func @fake_quantize(%x: tensor<24x65xf32>) -> tensor<24x65xf32> {
  %scale = arith.constant 0.05 : f32
  %most = arith.constant 127.0 : f32
  %least = arith.constant -128.0 : f32
  %e = tensor.empty() : tensor<24x65xf32>
  %y = linalg.map ins(%x : tensor<24x65xf32>) outs(%e : tensor<24x65xf32>) (%a: f32, %o: f32) {
    %d = arith.divf %a, %scale : f32
    %r = math.roundeven %d : f32
    %l = arith.maximumf %r, %least : f32
    %h = arith.minimumf %l, %most : f32
    %t = arith.mulf %h, %scale : f32
    linalg.yield %t : f32
  }
  return %y : tensor<24x65xf32>
}
