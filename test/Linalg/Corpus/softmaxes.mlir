// Input: softmaxes with operations before and after them, and losses. Checks that each is one problem, whatever form
// the softmax has.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:softmax_mask_scale --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:softmax_causal --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:softmax_decomposed_bf16 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:softmax_memref --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:log_softmax --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:log_sum_exp_bf16 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:cross_entropy_of_classes --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:softmax_dynamic --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern dump --mlir=%s:softmax_mask_scale --target=avx2 --stage=emit | FileCheck %s --check-prefix=MEMORY --implicit-check-not=memref.copy --implicit-check-not=tensor --implicit-check-not=quern.program
// RUN: quern dump --mlir=%s:log_softmax --target=avx2 --stage=emit | FileCheck %s --check-prefix=MEMORY --implicit-check-not=memref.copy --implicit-check-not=tensor --implicit-check-not=quern.program
// MEMORY: func.func @function(
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>
#c = affine_map<(r, c) -> (c)>
#v = affine_map<(r) -> (r)>
#none = affine_map<(r) -> ()>
#brc = affine_map<(b, r, c) -> (b, r, c)>
#b_c = affine_map<(b, r, c) -> (b, c)>
#br = affine_map<(b, r, c) -> (b, r)>

func.func @softmax_mask_scale(%x: tensor<6x21x77xf32>, %mask: tensor<6x77xf32>) -> tensor<6x21x77xf32> {
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<6x21x77xf32>
  %m = linalg.generic {indexing_maps = [#brc, #b_c, #brc], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mask : tensor<6x21x77xf32>, tensor<6x77xf32>) outs(%e : tensor<6x21x77xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %scale : f32
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  } -> tensor<6x21x77xf32>
  %y = linalg.softmax dimension(2) ins(%m : tensor<6x21x77xf32>) outs(%e : tensor<6x21x77xf32>) -> tensor<6x21x77xf32>
  return %y : tensor<6x21x77xf32>
}

// Elements above the diagonal are masked.
func.func @softmax_causal(%x: tensor<4x40x40xf32>) -> tensor<4x40x40xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x40x40xf32>
  %m = linalg.generic {indexing_maps = [#brc, #brc], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x40x40xf32>) outs(%e : tensor<4x40x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi ule, %j, %i : index
    %t = arith.select %seen, %a, %low : f32
    linalg.yield %t : f32
  } -> tensor<4x40x40xf32>
  %y = linalg.softmax dimension(2) ins(%m : tensor<4x40x40xf32>) outs(%e : tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  return %y : tensor<4x40x40xf32>
}

func.func @softmax_decomposed_bf16(%x: tensor<23x130xbf16>) -> tensor<23x130xbf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %wide = tensor.empty() : tensor<23x130xf32>
  %row = tensor.empty() : tensor<23xf32>
  %out = tensor.empty() : tensor<23x130xbf16>
  %up = linalg.map ins(%x : tensor<23x130xbf16>) outs(%wide : tensor<23x130xf32>) (%a: bf16, %o: f32) {
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  }
  %f = linalg.fill ins(%low : f32) outs(%row : tensor<23xf32>) -> tensor<23xf32>
  %z = linalg.fill ins(%zero : f32) outs(%row : tensor<23xf32>) -> tensor<23xf32>
  %m = linalg.reduce { arith.maximumf } ins(%up : tensor<23x130xf32>) outs(%f : tensor<23xf32>) dimensions = [1]
  %ms = linalg.broadcast ins(%m : tensor<23xf32>) outs(%wide : tensor<23x130xf32>) dimensions = [1]
  %d = linalg.sub ins(%up, %ms : tensor<23x130xf32>, tensor<23x130xf32>) outs(%wide : tensor<23x130xf32>) -> tensor<23x130xf32>
  %p = linalg.exp ins(%d : tensor<23x130xf32>) outs(%wide : tensor<23x130xf32>) -> tensor<23x130xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<23x130xf32>) outs(%z : tensor<23xf32>) dimensions = [1]
  %ss = linalg.broadcast ins(%s : tensor<23xf32>) outs(%wide : tensor<23x130xf32>) dimensions = [1]
  %q = linalg.div ins(%p, %ss : tensor<23x130xf32>, tensor<23x130xf32>) outs(%wide : tensor<23x130xf32>) -> tensor<23x130xf32>
  %y = linalg.map ins(%q : tensor<23x130xf32>) outs(%out : tensor<23x130xbf16>) (%a: f32, %o: bf16) {
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  }
  return %y : tensor<23x130xbf16>
}

// sizes: 9,77,9,77 1,5,1,5
func.func @softmax_dynamic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @softmax_memref(%x: memref<31x50xf32>, %y: memref<31x50xf32, strided<[64, 1], offset: 5>>) {
  linalg.softmax dimension(1) ins(%x : memref<31x50xf32>) outs(%y : memref<31x50xf32, strided<[64, 1], offset: 5>>)
  return
}

func.func @softmax_first_axis(%x: tensor<45x70xf16>) -> tensor<45x70xf16> {
  %e = tensor.empty() : tensor<45x70xf16>
  %y = linalg.softmax dimension(0) ins(%x : tensor<45x70xf16>) outs(%e : tensor<45x70xf16>) -> tensor<45x70xf16>
  return %y : tensor<45x70xf16>
}

func.func @log_softmax(%x: tensor<27x90xf32>) -> tensor<27x90xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %whole = tensor.empty() : tensor<27x90xf32>
  %row = tensor.empty() : tensor<27xf32>
  %f = linalg.fill ins(%low : f32) outs(%row : tensor<27xf32>) -> tensor<27xf32>
  %z = linalg.fill ins(%zero : f32) outs(%row : tensor<27xf32>) -> tensor<27xf32>
  %m = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<27x90xf32>) outs(%f : tensor<27xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.maximumf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<27xf32>
  %d = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<27x90xf32>, tensor<27xf32>) outs(%whole : tensor<27x90xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<27x90xf32>
  %s = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<27x90xf32>) outs(%z : tensor<27xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = math.exp %a : f32
    %t = arith.addf %p, %b : f32
    linalg.yield %t : f32
  } -> tensor<27xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<27x90xf32>, tensor<27xf32>) outs(%whole : tensor<27x90xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %b : f32
    %t = arith.subf %a, %l : f32
    linalg.yield %t : f32
  } -> tensor<27x90xf32>
  return %y : tensor<27x90xf32>
}

func.func @log_sum_exp_bf16(%x: tensor<16x100xbf16>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %row = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%low : f32) outs(%row : tensor<16xf32>) -> tensor<16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%row : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x100xbf16>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %w = arith.extf %a : bf16 to f32
    %t = arith.maximumf %w, %b : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  %s = linalg.generic {indexing_maps = [#rc, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<16x100xbf16>, tensor<16xf32>) outs(%z : tensor<16xf32>) {
  ^bb0(%a: bf16, %b: f32, %s: f32):
    %w = arith.extf %a : bf16 to f32
    %d = arith.subf %w, %b : f32
    %p = math.exp %d : f32
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%s, %m : tensor<16xf32>, tensor<16xf32>) outs(%row : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %l = math.log %a : f32
    %t = arith.addf %l, %b : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// For probabilities, the mean over rows: a result of rank 0.
func.func @cross_entropy(%x: tensor<24x60xf32>, %wanted: tensor<24x60xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %rows = arith.constant 24.0 : f32
  %row = tensor.empty() : tensor<24xf32>
  %one = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%low : f32) outs(%row : tensor<24xf32>) -> tensor<24xf32>
  %z = linalg.fill ins(%zero : f32) outs(%row : tensor<24xf32>) -> tensor<24xf32>
  %n = linalg.fill ins(%zero : f32) outs(%one : tensor<f32>) -> tensor<f32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<24x60xf32>) outs(%f : tensor<24xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#rc, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<24x60xf32>, tensor<24xf32>) outs(%z : tensor<24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<24xf32>
  %l = linalg.generic {indexing_maps = [#rc, #rc, #r, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x, %wanted, %m, %s : tensor<24x60xf32>, tensor<24x60xf32>, tensor<24xf32>, tensor<24xf32>) outs(%z : tensor<24xf32>) {
  ^bb0(%a: f32, %w: f32, %b: f32, %e: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %g = math.log %e : f32
    %h = arith.subf %g, %d : f32
    %q = arith.mulf %h, %w : f32
    %t = arith.addf %q, %o : f32
    linalg.yield %t : f32
  } -> tensor<24xf32>
  %total = linalg.generic {indexing_maps = [#v, #none], iterator_types = ["reduction"]} ins(%l : tensor<24xf32>) outs(%n : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %rows : f32
    %t = arith.addf %q, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %total : tensor<f32>
}

// For class numbers: the class is found by comparing indices, without a gather.
func.func @cross_entropy_of_classes(%x: tensor<24x60xf32>, %class: tensor<24xi32>) -> tensor<24xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %row = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%low : f32) outs(%row : tensor<24xf32>) -> tensor<24xf32>
  %z = linalg.fill ins(%zero : f32) outs(%row : tensor<24xf32>) -> tensor<24xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<24x60xf32>) outs(%f : tensor<24xf32>) dimensions = [1]
  %s:2 = linalg.generic {indexing_maps = [#rc, #r, #r, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x, %class, %m : tensor<24x60xf32>, tensor<24xi32>, tensor<24xf32>) outs(%z, %z : tensor<24xf32>, tensor<24xf32>) {
  ^bb0(%a: f32, %k: i32, %b: f32, %o: f32, %p: f32):
    %i = linalg.index 1 : index
    %number = arith.index_cast %i : index to i32
    %wanted = arith.cmpi eq, %number, %k : i32
    %d = arith.subf %a, %b : f32
    %x1 = math.exp %d : f32
    %t = arith.addf %x1, %o : f32
    %h = arith.select %wanted, %d, %zero : f32
    %u = arith.addf %h, %p : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<24xf32>, tensor<24xf32>)
  %y = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%s#0, %s#1 : tensor<24xf32>, tensor<24xf32>) outs(%row : tensor<24xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %g = math.log %a : f32
    %t = arith.subf %g, %b : f32
    linalg.yield %t : f32
  } -> tensor<24xf32>
  return %y : tensor<24xf32>
}

// The mean of the elements that a numeric mask selects, along the middle axis.
func.func @masked_mean(%x: tensor<5x33x48xf32>, %mask: tensor<5x33xf32>) -> tensor<5x48xf32> {
  %zero = arith.constant 0.0 : f32
  %tiny = arith.constant 1.0e-9 : f32
  %e = tensor.empty() : tensor<5x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x48xf32>) -> tensor<5x48xf32>
  %s:2 = linalg.generic {indexing_maps = [#brc, #br, #b_c, #b_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %mask : tensor<5x33x48xf32>, tensor<5x33xf32>) outs(%z, %z : tensor<5x48xf32>, tensor<5x48xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32, %p: f32):
    %w = math.absf %m : f32
    %q = arith.mulf %a, %w : f32
    %t = arith.addf %q, %o : f32
    %u = arith.addf %w, %p : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<5x48xf32>, tensor<5x48xf32>)
  %y = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%s#0, %s#1 : tensor<5x48xf32>, tensor<5x48xf32>) outs(%e : tensor<5x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %b, %tiny : f32
    %t = arith.divf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<5x48xf32>
  return %y : tensor<5x48xf32>
}
