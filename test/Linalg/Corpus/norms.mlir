// Input: norms as compilers write them: over the last axis with an addition before it, over two axes of groups, and
// with running statistics. Checks that each is one problem of rows and that nothing is copied.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:layer_norm_bf16 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:rms_norm_residual --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:group_norm_nhwc --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:running_statistics --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:normalize_length --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern dump --mlir=%s:rms_norm_residual --target=avx2 --stage=emit | FileCheck %s --check-prefix=MEMORY --implicit-check-not=memref.copy --implicit-check-not=tensor --implicit-check-not=quern.program
// MEMORY: func.func @function(
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#r0 = affine_map<(r, c) -> (r, 0)>
#r = affine_map<(r, c) -> (r)>
#c = affine_map<(r, c) -> (c)>
#v = affine_map<(r) -> (r)>
#ngcs = affine_map<(n, g, c, s) -> (n, g, c, s)>
#ng = affine_map<(n, g, c, s) -> (n, g)>
#gc = affine_map<(n, g, c, s) -> (g, c)>
#nsgc = affine_map<(n, s, g, c) -> (n, s, g, c)>
#n_g = affine_map<(n, s, g, c) -> (n, g)>
#g_c = affine_map<(n, s, g, c) -> (g, c)>
#nchw = affine_map<(n, c, h, w) -> (n, c, h, w)>
#onlyC = affine_map<(n, c, h, w) -> (c)>

// The form of torch-mlir: reduced axes remain with size 1 and are read at index 0.
func.func @layer_norm_residual(%x: tensor<37x192xf32>, %residual: tensor<37x192xf32>, %weight: tensor<192xf32>, %bias: tensor<192xf32>)
    -> (tensor<37x192xf32>, tensor<37x192xf32>) {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 192.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %whole = tensor.empty() : tensor<37x192xf32>
  %h = linalg.generic {indexing_maps = [#rc, #rc, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%x, %residual : tensor<37x192xf32>, tensor<37x192xf32>) outs(%whole : tensor<37x192xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<37x192xf32>
  %column = tensor.empty() : tensor<37x1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%column : tensor<37x1xf32>) -> tensor<37x1xf32>
  %sum = linalg.generic {indexing_maps = [#rc, #r0], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<37x192xf32>) outs(%start : tensor<37x1xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<37x1xf32>
  %mean = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<37x1xf32>) outs(%column : tensor<37x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.divf %a, %count : f32
    linalg.yield %m : f32
  } -> tensor<37x1xf32>
  %centered = linalg.generic {indexing_maps = [#rc, #r0, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%h, %mean : tensor<37x192xf32>, tensor<37x1xf32>) outs(%whole : tensor<37x192xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<37x192xf32>
  %squared = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%centered : tensor<37x192xf32>) outs(%whole : tensor<37x192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<37x192xf32>
  %squares = linalg.generic {indexing_maps = [#rc, #r0], iterator_types = ["parallel", "reduction"]} ins(%squared : tensor<37x192xf32>) outs(%start : tensor<37x1xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<37x1xf32>
  %root = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%squares : tensor<37x1xf32>) outs(%column : tensor<37x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %variance = arith.divf %a, %count : f32
    %more = arith.addf %variance, %epsilon : f32
    %s = math.rsqrt %more : f32
    linalg.yield %s : f32
  } -> tensor<37x1xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r0, #c, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%centered, %root, %weight, %bias : tensor<37x192xf32>, tensor<37x1xf32>, tensor<192xf32>, tensor<192xf32>) outs(%whole : tensor<37x192xf32>) {
  ^bb0(%a: f32, %s: f32, %w: f32, %b: f32, %o: f32):
    %n = arith.mulf %a, %s : f32
    %m = arith.mulf %n, %w : f32
    %z = arith.addf %m, %b : f32
    linalg.yield %z : f32
  } -> tensor<37x192xf32>
  return %y, %h : tensor<37x192xf32>, tensor<37x192xf32>
}

// The form that StableHLO is lowered to: named operations, and broadcasts of reduced values.
func.func @layer_norm_bf16(%x: tensor<33x128xbf16>, %weight: tensor<128xbf16>, %bias: tensor<128xbf16>) -> tensor<33x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant dense<128.0> : tensor<33xf32>
  %epsilon = arith.constant dense<1.0e-5> : tensor<33xf32>
  %wide = tensor.empty() : tensor<33x128xf32>
  %row = tensor.empty() : tensor<33xf32>
  %up = linalg.map ins(%x : tensor<33x128xbf16>) outs(%wide : tensor<33x128xf32>) (%a: bf16, %o: f32) {
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  }
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<33xf32>) -> tensor<33xf32>
  %sum = linalg.reduce { arith.addf } ins(%up : tensor<33x128xf32>) outs(%start : tensor<33xf32>) dimensions = [1]
  %mean = linalg.div ins(%sum, %count : tensor<33xf32>, tensor<33xf32>) outs(%row : tensor<33xf32>) -> tensor<33xf32>
  %means = linalg.broadcast ins(%mean : tensor<33xf32>) outs(%wide : tensor<33x128xf32>) dimensions = [1]
  %d = linalg.sub ins(%up, %means : tensor<33x128xf32>, tensor<33x128xf32>) outs(%wide : tensor<33x128xf32>) -> tensor<33x128xf32>
  %q = linalg.square ins(%d : tensor<33x128xf32>) outs(%wide : tensor<33x128xf32>) -> tensor<33x128xf32>
  %squares = linalg.reduce { arith.addf } ins(%q : tensor<33x128xf32>) outs(%start : tensor<33xf32>) dimensions = [1]
  %variance = linalg.div ins(%squares, %count : tensor<33xf32>, tensor<33xf32>) outs(%row : tensor<33xf32>) -> tensor<33xf32>
  %more = linalg.add ins(%variance, %epsilon : tensor<33xf32>, tensor<33xf32>) outs(%row : tensor<33xf32>) -> tensor<33xf32>
  %root = linalg.rsqrt ins(%more : tensor<33xf32>) outs(%row : tensor<33xf32>) -> tensor<33xf32>
  %roots = linalg.broadcast ins(%root : tensor<33xf32>) outs(%wide : tensor<33x128xf32>) dimensions = [1]
  %n = linalg.mul ins(%d, %roots : tensor<33x128xf32>, tensor<33x128xf32>) outs(%wide : tensor<33x128xf32>) -> tensor<33x128xf32>
  %out = tensor.empty() : tensor<33x128xbf16>
  %y = linalg.generic {indexing_maps = [#rc, #c, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%n, %weight, %bias : tensor<33x128xf32>, tensor<128xbf16>, tensor<128xbf16>) outs(%out : tensor<33x128xbf16>) {
  ^bb0(%a: f32, %w: bf16, %b: bf16, %o: bf16):
    %ww = arith.extf %w : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %a, %ww : f32
    %z = arith.addf %m, %bw : f32
    %t = arith.truncf %z : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<33x128xbf16>
  return %y : tensor<33x128xbf16>
}

func.func @rms_norm_residual(%x: tensor<29x256xf32>, %residual: tensor<29x256xf32>, %weight: tensor<256xf32>) -> (tensor<29x256xf32>, tensor<29x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 256.0 : f32
  %epsilon = arith.constant 1.0e-6 : f32
  %whole = tensor.empty() : tensor<29x256xf32>
  %row = tensor.empty() : tensor<29xf32>
  %h = linalg.add ins(%x, %residual : tensor<29x256xf32>, tensor<29x256xf32>) outs(%whole : tensor<29x256xf32>) -> tensor<29x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<29xf32>) -> tensor<29xf32>
  %squares = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<29x256xf32>) outs(%start : tensor<29xf32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %q, %s : f32
    linalg.yield %t : f32
  } -> tensor<29xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%h, %squares, %weight : tensor<29x256xf32>, tensor<29xf32>, tensor<256xf32>) outs(%whole : tensor<29x256xf32>) {
  ^bb0(%a: f32, %s: f32, %w: f32, %o: f32):
    %mean = arith.divf %s, %count : f32
    %more = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %more : f32
    %n = arith.mulf %a, %root : f32
    %m = arith.mulf %n, %w : f32
    linalg.yield %m : f32
  } -> tensor<29x256xf32>
  return %y, %h : tensor<29x256xf32>, tensor<29x256xf32>
}

func.func @rms_norm_f16(%x: tensor<2x17x96xf16>, %weight: tensor<96xf16>) -> tensor<2x17x96xf16> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 96.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x17x96xf16> into tensor<34x96xf16>
  %row = tensor.empty() : tensor<34xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<34xf32>) -> tensor<34xf32>
  %squares = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%rows : tensor<34x96xf16>) outs(%start : tensor<34xf32>) {
  ^bb0(%a: f16, %s: f32):
    %w = arith.extf %a : f16 to f32
    %q = arith.mulf %w, %w : f32
    %t = arith.addf %q, %s : f32
    linalg.yield %t : f32
  } -> tensor<34xf32>
  %out = tensor.empty() : tensor<34x96xf16>
  %y = linalg.generic {indexing_maps = [#rc, #r, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %squares, %weight : tensor<34x96xf16>, tensor<34xf32>, tensor<96xf16>) outs(%out : tensor<34x96xf16>) {
  ^bb0(%a: f16, %s: f32, %w: f16, %o: f16):
    %wide = arith.extf %a : f16 to f32
    %mean = arith.divf %s, %count : f32
    %more = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %more : f32
    %n = arith.mulf %wide, %root : f32
    %half = arith.truncf %n : f32 to f16
    %m = arith.mulf %half, %w : f16
    linalg.yield %m : f16
  } -> tensor<34x96xf16>
  %back = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 17, 96] : tensor<34x96xf16> into tensor<2x17x96xf16>
  return %back : tensor<2x17x96xf16>
}

// sizes: 13,13 1,1
func.func @rms_norm_dynamic(%x: tensor<?x160xf32>, %weight: tensor<160xf32>) -> tensor<?x160xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 160.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %n = tensor.dim %x, %c0 : tensor<?x160xf32>
  %row = tensor.empty(%n) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<?xf32>) -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x160xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %q, %s : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %out = tensor.empty(%n) : tensor<?x160xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r, #c, #rc], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares, %weight : tensor<?x160xf32>, tensor<?xf32>, tensor<160xf32>) outs(%out : tensor<?x160xf32>) {
  ^bb0(%a: f32, %s: f32, %w: f32, %o: f32):
    %mean = arith.divf %s, %count : f32
    %more = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %more : f32
    %m = arith.mulf %a, %root : f32
    %z = arith.mulf %m, %w : f32
    linalg.yield %z : f32
  } -> tensor<?x160xf32>
  return %y : tensor<?x160xf32>
}

// Each group of channels is reduced together with all positions: two axes.
func.func @group_norm_nchw(%x: tensor<2x24x5x6xf32>, %weight: tensor<24xf32>, %bias: tensor<24xf32>) -> tensor<2x24x5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 120.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %flat = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<2x24x5x6xf32> into tensor<2x24x30xf32>
  %g = tensor.expand_shape %flat [[0], [1, 2], [3]] output_shape [2, 6, 4, 30] : tensor<2x24x30xf32> into tensor<2x6x4x30xf32>
  %w = tensor.expand_shape %weight [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %b = tensor.expand_shape %bias [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %row = tensor.empty() : tensor<2x6xf32>
  %whole = tensor.empty() : tensor<2x6x4x30xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<2x6xf32>) -> tensor<2x6xf32>
  %sum = linalg.generic {indexing_maps = [#ngcs, #ng], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%g : tensor<2x6x4x30xf32>) outs(%start : tensor<2x6xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<2x6xf32>
  %d = linalg.generic {indexing_maps = [#ngcs, #ng, #ngcs], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%g, %sum : tensor<2x6x4x30xf32>, tensor<2x6xf32>) outs(%whole : tensor<2x6x4x30xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %m = arith.divf %s, %count : f32
    %t = arith.subf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x6x4x30xf32>
  %squares = linalg.generic {indexing_maps = [#ngcs, #ng], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%d : tensor<2x6x4x30xf32>) outs(%start : tensor<2x6xf32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %q, %s : f32
    linalg.yield %t : f32
  } -> tensor<2x6xf32>
  %y = linalg.generic {indexing_maps = [#ngcs, #ng, #gc, #gc, #ngcs], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%d, %squares, %w, %b : tensor<2x6x4x30xf32>, tensor<2x6xf32>, tensor<6x4xf32>, tensor<6x4xf32>) outs(%whole : tensor<2x6x4x30xf32>) {
  ^bb0(%a: f32, %s: f32, %ww: f32, %bb: f32, %o: f32):
    %v = arith.divf %s, %count : f32
    %more = arith.addf %v, %epsilon : f32
    %root = math.rsqrt %more : f32
    %n = arith.mulf %a, %root : f32
    %m = arith.mulf %n, %ww : f32
    %z = arith.addf %m, %bb : f32
    linalg.yield %z : f32
  } -> tensor<2x6x4x30xf32>
  %channels = tensor.collapse_shape %y [[0], [1, 2], [3]] : tensor<2x6x4x30xf32> into tensor<2x24x30xf32>
  %back = tensor.expand_shape %channels [[0], [1], [2, 3]] output_shape [2, 24, 5, 6] : tensor<2x24x30xf32> into tensor<2x24x5x6xf32>
  return %back : tensor<2x24x5x6xf32>
}

// The same with channels innermost: the two axes are not adjacent.
func.func @group_norm_nhwc(%x: tensor<2x5x6x24xf32>, %weight: tensor<24xf32>, %bias: tensor<24xf32>) -> tensor<2x5x6x24xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 120.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %flat = tensor.collapse_shape %x [[0], [1, 2], [3]] : tensor<2x5x6x24xf32> into tensor<2x30x24xf32>
  %g = tensor.expand_shape %flat [[0], [1], [2, 3]] output_shape [2, 30, 6, 4] : tensor<2x30x24xf32> into tensor<2x30x6x4xf32>
  %w = tensor.expand_shape %weight [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %b = tensor.expand_shape %bias [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %row = tensor.empty() : tensor<2x6xf32>
  %whole = tensor.empty() : tensor<2x30x6x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<2x6xf32>) -> tensor<2x6xf32>
  %sums:2 = linalg.generic {indexing_maps = [#nsgc, #n_g, #n_g], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
      ins(%g : tensor<2x30x6x4xf32>) outs(%start, %start : tensor<2x6xf32>, tensor<2x6xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %t = arith.addf %a, %s : f32
    %aa = arith.mulf %a, %a : f32
    %u = arith.addf %aa, %q : f32
    linalg.yield %t, %u : f32, f32
  } -> (tensor<2x6xf32>, tensor<2x6xf32>)
  %y = linalg.generic {indexing_maps = [#nsgc, #n_g, #n_g, #g_c, #g_c, #nsgc], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%g, %sums#0, %sums#1, %w, %b : tensor<2x30x6x4xf32>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<6x4xf32>, tensor<6x4xf32>) outs(%whole : tensor<2x30x6x4xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %ww: f32, %bb: f32, %o: f32):
    %m = arith.divf %s, %count : f32
    %mq = arith.divf %q, %count : f32
    %mm = arith.mulf %m, %m : f32
    %v = arith.subf %mq, %mm : f32
    %more = arith.addf %v, %epsilon : f32
    %root = math.rsqrt %more : f32
    %d = arith.subf %a, %m : f32
    %n = arith.mulf %d, %root : f32
    %nn = arith.mulf %n, %ww : f32
    %z = arith.addf %nn, %bb : f32
    linalg.yield %z : f32
  } -> tensor<2x30x6x4xf32>
  %channels = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<2x30x6x4xf32> into tensor<2x30x24xf32>
  %back = tensor.expand_shape %channels [[0], [1, 2], [3]] output_shape [2, 5, 6, 24] : tensor<2x30x24xf32> into tensor<2x5x6x24xf32>
  return %back : tensor<2x5x6x24xf32>
}

func.func @batch_norm_inference(%x: tensor<2x20x7x9xf32>, %mean: tensor<20xf32>, %variance: tensor<20xf32>, %weight: tensor<20xf32>, %bias: tensor<20xf32>) -> tensor<2x20x7x9xf32> {
  %epsilon = arith.constant 1.0e-3 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x20x7x9xf32>
  %n = linalg.generic {indexing_maps = [#nchw, #onlyC, #onlyC, #onlyC, #onlyC, #nchw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %weight, %bias, %mean, %variance : tensor<2x20x7x9xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) outs(%e : tensor<2x20x7x9xf32>) {
  ^bb0(%a: f32, %w: f32, %b: f32, %m: f32, %v: f32, %o: f32):
    %vv = math.absf %v : f32
    %more = arith.addf %vv, %epsilon : f32
    %root = math.rsqrt %more : f32
    %d = arith.subf %a, %m : f32
    %s = arith.mulf %d, %root : f32
    %t = arith.mulf %s, %w : f32
    %z = arith.addf %t, %b : f32
    linalg.yield %z : f32
  } -> tensor<2x20x7x9xf32>
  %y = linalg.map ins(%n : tensor<2x20x7x9xf32>) outs(%e : tensor<2x20x7x9xf32>) (%a: f32, %o: f32) {
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  }
  return %y : tensor<2x20x7x9xf32>
}

// Mean and variance of each channel over all other dims, and running statistics.
func.func @running_statistics(%x: tensor<4x12x5x6xf32>, %oldMean: tensor<12xf32>, %oldVariance: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 120.0 : f32
  %momentum = arith.constant 0.1 : f32
  %keep = arith.constant 0.9 : f32
  %row = tensor.empty() : tensor<12xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<12xf32>) -> tensor<12xf32>
  %sum = linalg.generic {indexing_maps = [#nchw, #onlyC], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%x : tensor<4x12x5x6xf32>) outs(%start : tensor<12xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<12xf32>
  %squares = linalg.generic {indexing_maps = [#nchw, #onlyC, #onlyC], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
      ins(%x, %sum : tensor<4x12x5x6xf32>, tensor<12xf32>) outs(%start : tensor<12xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32):
    %m = arith.divf %s, %count : f32
    %d = arith.subf %a, %m : f32
    %dd = arith.mulf %d, %d : f32
    %t = arith.addf %dd, %q : f32
    linalg.yield %t : f32
  } -> tensor<12xf32>
  %new:2 = linalg.generic {indexing_maps = [#v, #v, #v, #v, #v, #v], iterator_types = ["parallel"]}
      ins(%sum, %squares, %oldMean, %oldVariance : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) outs(%row, %row : tensor<12xf32>, tensor<12xf32>) {
  ^bb0(%s: f32, %q: f32, %om: f32, %ov: f32, %o: f32, %p: f32):
    %m = arith.divf %s, %count : f32
    %v = arith.divf %q, %count : f32
    %ma = arith.mulf %om, %keep : f32
    %mb = arith.mulf %m, %momentum : f32
    %mc = arith.addf %ma, %mb : f32
    %va = arith.mulf %ov, %keep : f32
    %vb = arith.mulf %v, %momentum : f32
    %vc = arith.addf %va, %vb : f32
    linalg.yield %mc, %vc : f32, f32
  } -> (tensor<12xf32>, tensor<12xf32>)
  return %new#0, %new#1 : tensor<12xf32>, tensor<12xf32>
}

func.func @normalize_length(%x: tensor<19x100xf32>) -> tensor<19x100xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 1.0e-12 : f32
  %row = tensor.empty() : tensor<19xf32>
  %whole = tensor.empty() : tensor<19x100xf32>
  %start = linalg.fill ins(%zero : f32) outs(%row : tensor<19xf32>) -> tensor<19xf32>
  %q = linalg.square ins(%x : tensor<19x100xf32>) outs(%whole : tensor<19x100xf32>) -> tensor<19x100xf32>
  %s = linalg.reduce { arith.addf } ins(%q : tensor<19x100xf32>) outs(%start : tensor<19xf32>) dimensions = [1]
  %root = linalg.sqrt ins(%s : tensor<19xf32>) outs(%row : tensor<19xf32>) -> tensor<19xf32>
  %y = linalg.generic {indexing_maps = [#rc, #r, #rc], iterator_types = ["parallel", "parallel"]} ins(%x, %root : tensor<19x100xf32>, tensor<19xf32>) outs(%whole : tensor<19x100xf32>) {
  ^bb0(%a: f32, %l: f32, %o: f32):
    %m = arith.maximumf %l, %least : f32
    %z = arith.divf %a, %m : f32
    linalg.yield %z : f32
  } -> tensor<19x100xf32>
  return %y : tensor<19x100xf32>
}
