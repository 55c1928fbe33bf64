// Input: products with epilogues. Checks that a product and its epilogue are one contraction, also for each entry of a
// batch and with transposed operands, and that a second product is a separate problem.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:matmul_bias_relu --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:matmul_bias_gelu --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:matmul_silu_gate --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:matmul_bias_gelu_bf16 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:matmul_row_scale_residual --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:matmul_dynamic_rows --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:batch_matmul_bias --target=avx2 | FileCheck %s --check-prefix=BATCH
// RUN: quern explain --mlir=%s:mlp --target=avx2 | FileCheck %s --check-prefix=TWO
// RUN: quern explain --mlir=%s:matmul_transposed_residual --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern dump --mlir=%s:matmul_bias_relu --target=avx2 --stage=emit | FileCheck %s --check-prefix=MEMORY --implicit-check-not=memref.copy --implicit-check-not=tensor --implicit-check-not=quern.program
// RUN: quern dump --mlir=%s:matmul_silu_gate --target=avx2 --stage=emit | FileCheck %s --check-prefix=MEMORY --implicit-check-not=memref.copy --implicit-check-not=tensor --implicit-check-not=quern.program
// MEMORY: func.func @function(
// BATCH: 3 times contraction: 20x48
// BATCH: {{^}}@function: 
// TWO: contraction: 
// TWO: {{^}}@function_0: {{.*}}; the next operation is not included: 
// TWO: {{^}}@function_1: {{[0-9]+}} operations{{$}}
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#cr = affine_map<(r, c) -> (c, r)>
#r = affine_map<(r, c) -> (r)>
#c = affine_map<(r, c) -> (c)>
#bmn = affine_map<(b, m, n) -> (b, m, n)>
#n = affine_map<(b, m, n) -> (n)>

func.func @matmul_bias_relu(%x: tensor<48x64xf32>, %w: tensor<64x80xf32>, %b: tensor<80xf32>) -> tensor<48x80xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x80xf32>) -> tensor<48x80xf32>
  %p = linalg.matmul ins(%x, %w : tensor<48x64xf32>, tensor<64x80xf32>) outs(%f : tensor<48x80xf32>) -> tensor<48x80xf32>
  %s = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<48x80xf32>, tensor<80xf32>) outs(%e : tensor<48x80xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %t = arith.addf %a, %v : f32
    linalg.yield %t : f32
  } -> tensor<48x80xf32>
  %y = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<48x80xf32>) outs(%e : tensor<48x80xf32>) {
  ^bb0(%a: f32, %o: f32):
    %g = arith.cmpf ugt, %a, %zero : f32
    %t = arith.select %g, %a, %zero : f32
    linalg.yield %t : f32
  } -> tensor<48x80xf32>
  return %y : tensor<48x80xf32>
}

// The bias is broadcast first and the product is added to it, like torch.addmm after lowering.
func.func @matmul_bias_gelu(%x: tensor<33x96xf32>, %w: tensor<96x72xf32>, %b: tensor<72xf32>) -> tensor<33x72xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %e = tensor.empty() : tensor<33x72xf32>
  %start = linalg.broadcast ins(%b : tensor<72xf32>) outs(%e : tensor<33x72xf32>) dimensions = [0]
  %p = linalg.matmul ins(%x, %w : tensor<33x96xf32>, tensor<96x72xf32>) outs(%start : tensor<33x72xf32>) -> tensor<33x72xf32>
  %y = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<33x72xf32>) outs(%e : tensor<33x72xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.mulf %a, %root : f32
    %f = math.erf %d : f32
    %g = arith.addf %f, %one : f32
    %h = arith.mulf %g, %half : f32
    %t = arith.mulf %a, %h : f32
    linalg.yield %t : f32
  } -> tensor<33x72xf32>
  return %y : tensor<33x72xf32>
}

func.func @matmul_silu_gate(%x: tensor<20x64xf32>, %w: tensor<64x96xf32>, %v: tensor<64x96xf32>) -> tensor<20x96xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<20x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x96xf32>) -> tensor<20x96xf32>
  %p = linalg.matmul ins(%x, %w : tensor<20x64xf32>, tensor<64x96xf32>) outs(%f : tensor<20x96xf32>) -> tensor<20x96xf32>
  %q = linalg.matmul ins(%x, %v : tensor<20x64xf32>, tensor<64x96xf32>) outs(%f : tensor<20x96xf32>) -> tensor<20x96xf32>
  %s = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<20x96xf32>) outs(%e : tensor<20x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    %x1 = math.exp %n : f32
    %d = arith.addf %x1, %one : f32
    %t = arith.divf %a, %d : f32
    linalg.yield %t : f32
  } -> tensor<20x96xf32>
  %y = linalg.mul ins(%s, %q : tensor<20x96xf32>, tensor<20x96xf32>) outs(%e : tensor<20x96xf32>) -> tensor<20x96xf32>
  return %y : tensor<20x96xf32>
}

func.func @matmul_bias_gelu_bf16(%x: tensor<32x128xbf16>, %w: tensor<128x64xbf16>, %b: tensor<64xbf16>) -> tensor<32x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %wide = tensor.empty() : tensor<32x64xf32>
  %out = tensor.empty() : tensor<32x64xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%wide : tensor<32x64xf32>) -> tensor<32x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<32x64xf32>, tensor<64xbf16>) outs(%out : tensor<32x64xbf16>) {
  ^bb0(%a: f32, %v: bf16, %o: bf16):
    %w1 = arith.extf %v : bf16 to f32
    %s = arith.addf %a, %w1 : f32
    %d = arith.mulf %s, %root : f32
    %f1 = math.erf %d : f32
    %g = arith.addf %f1, %one : f32
    %h = arith.mulf %g, %half : f32
    %t = arith.mulf %s, %h : f32
    %n = arith.truncf %t : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<32x64xbf16>
  return %y : tensor<32x64xbf16>
}

// Weights in the order of torch.nn.Linear, expressed by the maps of the operation.
func.func @matmul_transposed_weights(%x: tensor<30x64xf32>, %w: tensor<50x64xf32>, %b: tensor<50xf32>) -> tensor<30x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<30x50xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<30x50xf32>) -> tensor<30x50xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<30x64xf32>, tensor<50x64xf32>) outs(%f : tensor<30x50xf32>) -> tensor<30x50xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<30x50xf32>, tensor<50xf32>) outs(%e : tensor<30x50xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %t = arith.addf %a, %v : f32
    linalg.yield %t : f32
  } -> tensor<30x50xf32>
  return %y : tensor<30x50xf32>
}

// A separate transpose precedes the product, as in torch-mlir.
func.func @linear_of_torch(%x: tensor<30x64xf32>, %w: tensor<56x64xf32>, %b: tensor<56xf32>) -> tensor<30x56xf32> {
  %zero = arith.constant 0.0 : f32
  %turned = tensor.empty() : tensor<64x56xf32>
  %t = linalg.transpose ins(%w : tensor<56x64xf32>) outs(%turned : tensor<64x56xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<30x56xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<30x56xf32>) -> tensor<30x56xf32>
  %p = linalg.matmul ins(%x, %t : tensor<30x64xf32>, tensor<64x56xf32>) outs(%f : tensor<30x56xf32>) -> tensor<30x56xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<30x56xf32>, tensor<56xf32>) outs(%e : tensor<30x56xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<30x56xf32>
  return %y : tensor<30x56xf32>
}

func.func @matmul_transposed_left_f16(%x: tensor<64x24xf16>, %w: tensor<64x40xf16>) -> tensor<24x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x40xf32>) -> tensor<24x40xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<64x24xf16>, tensor<64x40xf16>) outs(%f : tensor<24x40xf32>) -> tensor<24x40xf32>
  return %p : tensor<24x40xf32>
}

// A factor for each row, and a residual.
func.func @matmul_row_scale_residual(%x: tensor<40x64xf32>, %w: tensor<64x48xf32>, %scale: tensor<40xf32>, %residual: tensor<40x48xf32>) -> tensor<40x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x48xf32>) -> tensor<40x48xf32>
  %p = linalg.matmul ins(%x, %w : tensor<40x64xf32>, tensor<64x48xf32>) outs(%f : tensor<40x48xf32>) -> tensor<40x48xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r, #rc, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%p, %scale, %residual : tensor<40x48xf32>, tensor<40xf32>, tensor<40x48xf32>) outs(%e : tensor<40x48xf32>) {
  ^bb0(%a: f32, %s: f32, %d: f32, %o: f32):
    %m = arith.mulf %a, %s : f32
    %t = arith.addf %m, %d : f32
    linalg.yield %t : f32
  } -> tensor<40x48xf32>
  return %y : tensor<40x48xf32>
}

// The residual is transposed.
func.func @matmul_transposed_residual(%x: tensor<40x64xf32>, %w: tensor<64x48xf32>, %residual: tensor<48x40xf32>) -> tensor<40x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x48xf32>) -> tensor<40x48xf32>
  %p = linalg.matmul ins(%x, %w : tensor<40x64xf32>, tensor<64x48xf32>) outs(%f : tensor<40x48xf32>) -> tensor<40x48xf32>
  %y = linalg.generic {indexing_maps = [#rc, #cr, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %residual : tensor<40x48xf32>, tensor<48x40xf32>) outs(%e : tensor<40x48xf32>) {
  ^bb0(%a: f32, %d: f32, %o: f32):
    %t = arith.addf %a, %d : f32
    linalg.yield %t : f32
  } -> tensor<40x48xf32>
  return %y : tensor<40x48xf32>
}

func.func @batch_matmul_bias(%x: tensor<3x20x32xf32>, %w: tensor<3x32x48xf32>, %b: tensor<48xf32>) -> tensor<3x20x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x20x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x20x48xf32>) -> tensor<3x20x48xf32>
  %p = linalg.batch_matmul ins(%x, %w : tensor<3x20x32xf32>, tensor<3x32x48xf32>) outs(%f : tensor<3x20x48xf32>) -> tensor<3x20x48xf32>
  %y = linalg.generic {indexing_maps = [#bmn, #n, #bmn], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %b : tensor<3x20x48xf32>, tensor<48xf32>) outs(%e : tensor<3x20x48xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %t = arith.addf %a, %v : f32
    linalg.yield %t : f32
  } -> tensor<3x20x48xf32>
  return %y : tensor<3x20x48xf32>
}

func.func @batch_matmul_transposed_bf16(%x: tensor<3x20x32xbf16>, %w: tensor<3x48x32xbf16>) -> tensor<3x20x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x20x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x20x48xf32>) -> tensor<3x20x48xf32>
  %p = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%x, %w : tensor<3x20x32xbf16>, tensor<3x48x32xbf16>) outs(%f : tensor<3x20x48xf32>) -> tensor<3x20x48xf32>
  return %p : tensor<3x20x48xf32>
}

// One matrix for the whole batch, as a contraction.
func.func @contract_shared(%x: tensor<3x20x32xf32>, %w: tensor<32x48xf32>) -> tensor<3x20x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x20x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x20x48xf32>) -> tensor<3x20x48xf32>
  %p = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%x, %w : tensor<3x20x32xf32>, tensor<32x48xf32>) outs(%f : tensor<3x20x48xf32>) -> tensor<3x20x48xf32>
  return %p : tensor<3x20x48xf32>
}

func.func @matvec_sigmoid(%w: tensor<70x96xf32>, %x: tensor<96xf32>) -> tensor<70xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %p = linalg.matvec ins(%w, %x : tensor<70x96xf32>, tensor<96xf32>) outs(%f : tensor<70xf32>) -> tensor<70xf32>
  %y = linalg.map ins(%p : tensor<70xf32>) outs(%e : tensor<70xf32>) (%a: f32, %o: f32) {
    %n = arith.negf %a : f32
    %x1 = math.exp %n : f32
    %d = arith.addf %x1, %one : f32
    %t = arith.divf %one, %d : f32
    linalg.yield %t : f32
  }
  return %y : tensor<70xf32>
}

func.func @vecmat(%x: tensor<96xf32>, %w: tensor<96x70xf32>) -> tensor<70xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %p = linalg.vecmat ins(%x, %w : tensor<96xf32>, tensor<96x70xf32>) outs(%f : tensor<70xf32>) -> tensor<70xf32>
  return %p : tensor<70xf32>
}

// sizes: 21,21 1,1
func.func @matmul_dynamic_rows(%x: tensor<?x64xf32>, %w: tensor<64x80xf32>, %b: tensor<80xf32>) -> tensor<?x80xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x80xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x80xf32>) -> tensor<?x80xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x80xf32>) outs(%f : tensor<?x80xf32>) -> tensor<?x80xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<?x80xf32>, tensor<80xf32>) outs(%e : tensor<?x80xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %v : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// sizes: 19,33,33,40,19,40
func.func @matmul_dynamic(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %w, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

func.func @mlp(%x: tensor<24x48xf32>, %w: tensor<48x96xf32>, %b: tensor<96xf32>, %v: tensor<96x48xf32>, %d: tensor<48xf32>) -> tensor<24x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x96xf32>) -> tensor<24x96xf32>
  %p = linalg.matmul ins(%x, %w : tensor<24x48xf32>, tensor<48x96xf32>) outs(%f : tensor<24x96xf32>) -> tensor<24x96xf32>
  %h = linalg.generic {indexing_maps = [#rc, #c, #rc], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<24x96xf32>, tensor<96xf32>) outs(%e : tensor<24x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<24x96xf32>
  %e2 = tensor.empty() : tensor<24x48xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<24x48xf32>) -> tensor<24x48xf32>
  %q = linalg.matmul ins(%h, %v : tensor<24x96xf32>, tensor<96x48xf32>) outs(%f2 : tensor<24x48xf32>) -> tensor<24x48xf32>
  %y = linalg.generic {indexing_maps = [#rc, #c, #rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%q, %d, %x : tensor<24x48xf32>, tensor<48xf32>, tensor<24x48xf32>) outs(%e2 : tensor<24x48xf32>) {
  ^bb0(%a: f32, %c: f32, %r: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = arith.addf %s, %r : f32
    linalg.yield %t : f32
  } -> tensor<24x48xf32>
  return %y : tensor<24x48xf32>
}

// Blocks of both factors are packed, multiplied and unpacked, like the outer tiling of compilers.
func.func @matmul_packed(%x: tensor<40x32xf32>, %w: tensor<32x48xf32>) -> tensor<40x48xf32> {
  %zero = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<5x32x8x1xf32>
  %b = tensor.empty() : tensor<3x32x16x1xf32>
  %c = tensor.empty() : tensor<5x3x8x16xf32>
  %e = tensor.empty() : tensor<40x48xf32>
  %xp = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 1] into %a : tensor<40x32xf32> -> tensor<5x32x8x1xf32>
  %wp = linalg.pack %w outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [16, 1] into %b : tensor<32x48xf32> -> tensor<3x32x16x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<5x3x8x16xf32>) -> tensor<5x3x8x16xf32>
  %p = linalg.mmt4d ins(%xp, %wp : tensor<5x32x8x1xf32>, tensor<3x32x16x1xf32>) outs(%f : tensor<5x3x8x16xf32>) -> tensor<5x3x8x16xf32>
  %y = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [8, 16] into %e : tensor<5x3x8x16xf32> -> tensor<40x48xf32>
  return %y : tensor<40x48xf32>
}
