// Input: fusions that compilers form. Checks each against its naive lowering, with guard pages around buffers.
// Attention is one launch of two products with a softmax between them. A norm that also returns the sum with its
// residual is split at most after that sum. Views of arguments are arguments, not copies.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s:attention --stage=emit | FileCheck %s --check-prefix=ATTENTION
// RUN: quern dump --mlir=%s:views --stage=emit | FileCheck %s --check-prefix=VIEWS --implicit-check-not=alloc
// RUN: quern run --mlir=%s:layer_norm --check --repeat=1
// RUN: quern run --mlir=%s:batch --check --repeat=1
// RUN: quern run --mlir=%s:attention --check --repeat=1
// RUN: quern run --mlir=%s:total --check --repeat=1
// RUN: quern run --mlir=%s:views --check --repeat=1
// RUN: quern run --mlir=%s:lse --check --repeat=1
// RUN: quern run --mlir=%s:same --check --repeat=1
// RUN: quern run --mlir=%s:forward --check --repeat=1
// RUN: quern run --mlir=%s:constant --check --repeat=1
// RUN: quern run --mlir=%s:accumulate --check --repeat=1
// RUN: quern run --mlir=%s:numbered --check --repeat=1
// ATTENTION-COUNT-2: region
// ATTENTION-COUNT-3: call @function_
// ATTENTION-NOT: call
// VIEWS: memref<4x60xf32, strided<[60, 1], offset: 120>> {quern.arg = "arg0"}
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#col = affine_map<(r, c) -> (c)>
func.func @layer_norm(%x: tensor<32x384xf32>, %res: tensor<32x384xf32>, %g: tensor<384xf32>, %b: tensor<384xf32>) -> (tensor<32x384xf32>, tensor<32x384xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 384.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<32x384xf32>
  %er = tensor.empty() : tensor<32xf32>
  %h = linalg.add ins(%x, %res : tensor<32x384xf32>, tensor<32x384xf32>) outs(%e : tensor<32x384xf32>) -> tensor<32x384xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
  %s = linalg.reduce ins(%h : tensor<32x384xf32>) outs(%f : tensor<32xf32>) dimensions = [1] (%a: f32, %acc: f32) { %t = arith.addf %a, %acc : f32  linalg.yield %t : f32 }
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %s : tensor<32x384xf32>, tensor<32xf32>) outs(%e : tensor<32x384xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %mean = arith.divf %m, %n : f32
    %v = arith.subf %a, %mean : f32
    linalg.yield %v : f32
  } -> tensor<32x384xf32>
  %q = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<32x384xf32>) outs(%f : tensor<32xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %v = arith.mulf %a, %a : f32
    %t = arith.addf %v, %acc : f32
    linalg.yield %t : f32
  } -> tensor<32xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #col, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%d, %q, %g, %b : tensor<32x384xf32>, tensor<32xf32>, tensor<384xf32>, tensor<384xf32>) outs(%e : tensor<32x384xf32>) {
  ^bb0(%a: f32, %sq: f32, %gg: f32, %bb: f32, %o: f32):
    %var = arith.divf %sq, %n : f32
    %ve = arith.addf %var, %eps : f32
    %r = math.rsqrt %ve : f32
    %t = arith.mulf %a, %r : f32
    %u = arith.mulf %t, %gg : f32
    %v = arith.addf %u, %bb : f32
    linalg.yield %v : f32
  } -> tensor<32x384xf32>
  return %y, %h : tensor<32x384xf32>, tensor<32x384xf32>
}
func.func @batch(%q: tensor<4x33x64xf32>, %k: tensor<4x65x64xf32>) -> tensor<4x33x65xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x33x65xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x33x65xf32>) -> tensor<4x33x65xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b,m,n,k)->(b,m,k)>, affine_map<(b,m,n,k)->(b,n,k)>, affine_map<(b,m,n,k)->(b,m,n)>], iterator_types = ["parallel","parallel","parallel","reduction"]} ins(%q, %k : tensor<4x33x64xf32>, tensor<4x65x64xf32>) outs(%f : tensor<4x33x65xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x33x65xf32>
  return %p : tensor<4x33x65xf32>
}
func.func @attention(%q: tensor<4x33x64xf32>, %k: tensor<4x64x65xf32>, %v: tensor<4x65x64xf32>, %mask: tensor<33x65xf32>) -> tensor<4x33x64xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<4x33x65xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x33x65xf32>) -> tensor<4x33x65xf32>
  %p = linalg.batch_matmul ins(%q, %k : tensor<4x33x64xf32>, tensor<4x64x65xf32>) outs(%f : tensor<4x33x65xf32>) -> tensor<4x33x65xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(b,r,c)->(b,r,c)>, affine_map<(b,r,c)->(r,c)>, affine_map<(b,r,c)->(b,r,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%p, %mask : tensor<4x33x65xf32>, tensor<33x65xf32>) outs(%e : tensor<4x33x65xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %scale : f32
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x33x65xf32>
  %w = linalg.softmax dimension(2) ins(%m : tensor<4x33x65xf32>) outs(%e : tensor<4x33x65xf32>) -> tensor<4x33x65xf32>
  %e2 = tensor.empty() : tensor<4x33x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x33x64xf32>) -> tensor<4x33x64xf32>
  %y = linalg.batch_matmul ins(%w, %v : tensor<4x33x65xf32>, tensor<4x65x64xf32>) outs(%f2 : tensor<4x33x64xf32>) -> tensor<4x33x64xf32>
  return %y : tensor<4x33x64xf32>
}
func.func @total(%x: tensor<500xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce ins(%x : tensor<500xf32>) outs(%f : tensor<f32>) dimensions = [0] (%a: f32, %acc: f32) { %t = arith.addf %a, %acc : f32  linalg.yield %t : f32 }
  return %s : tensor<f32>
}
func.func @views(%x: tensor<8x6x10xf32>, %b: tensor<60xf32>) -> tensor<4x60xf32> {
  %c = tensor.collapse_shape %x [[0], [1, 2]] : tensor<8x6x10xf32> into tensor<8x60xf32>
  %s = tensor.extract_slice %c[2, 0] [4, 60] [1, 1] : tensor<8x60xf32> to tensor<4x60xf32>
  %e = tensor.empty() : tensor<4x60xf32>
  %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %b : tensor<4x60xf32>, tensor<60xf32>) outs(%e : tensor<4x60xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %v = arith.mulf %a, %m : f32
    linalg.yield %v : f32
  } -> tensor<4x60xf32>
  return %y : tensor<4x60xf32>
}
func.func @lse(%x: tensor<16x100xbf16>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x100xbf16>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %t = arith.maximumf %w, %acc : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<16x100xbf16>, tensor<16xf32>) outs(%z : tensor<16xf32>) {
  ^bb0(%a: bf16, %mm: f32, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %d = arith.subf %w, %mm : f32
    %x1 = math.exp %d : f32
    %t = arith.addf %x1, %acc : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r)->(r)>, affine_map<(r)->(r)>, affine_map<(r)->(r)>], iterator_types = ["parallel"]} ins(%s, %m : tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %mm: f32, %o: f32):
    %l = math.log %a : f32
    %t = arith.addf %l, %mm : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  return %y : tensor<16xf32>
}
func.func @same(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %e = tensor.empty() : tensor<8x16xf32>
  %y = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %y : tensor<8x16xf32>, tensor<8x16xf32>
}
func.func @forward(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
func.func @constant(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c = arith.constant dense<2.0> : tensor<8x16xf32>
  return %c : tensor<8x16xf32>
}
func.func @accumulate(%x: memref<8x16xf32>, %w: memref<16x24xf32>, %y: memref<8x24xf32>) {
  linalg.matmul ins(%x, %w : memref<8x16xf32>, memref<16x24xf32>) outs(%y : memref<8x24xf32>)
  return
}
func.func @numbered(%y: memref<8x16xf32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    linalg.yield %f : f32
  }
  return
}
