// Input: attention in parts and as a whole, and rotary embeddings. Checks that attention is two products with a problem
// between them, and that a rotation is one problem for both halves.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:attention_values --target=avx2 | FileCheck %s --check-prefix=PARTS
// RUN: quern explain --mlir=%s:projection_of_heads_open --target=avx2 | FileCheck %s --check-prefix=OPEN
// OPEN: ? times contraction: ?x40
// OPEN: {{^}}@function: 
// PARTS: rows: {{.*}} | 6 times contraction: 
#brc = affine_map<(b, r, c) -> (b, r, c)>
#r_c = affine_map<(b, r, c) -> (r, c)>
#bhmn = affine_map<(b, h, m, n) -> (b, h, m, n)>
#b___n = affine_map<(b, h, m, n) -> (b, 0, 0, n)>
#tc = affine_map<(b, t, c) -> (t, c)>

func.func @attention_scores(%q: tensor<6x25x32xf32>, %k: tensor<6x37x32xf32>, %mask: tensor<25x37xf32>) -> tensor<6x25x37xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.176776692 : f32
  %e = tensor.empty() : tensor<6x25x37xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x25x37xf32>) -> tensor<6x25x37xf32>
  %p = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%q, %k : tensor<6x25x32xf32>, tensor<6x37x32xf32>) outs(%f : tensor<6x25x37xf32>) -> tensor<6x25x37xf32>
  %y = linalg.generic {indexing_maps = [#brc, #r_c, #brc], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %mask : tensor<6x25x37xf32>, tensor<25x37xf32>) outs(%e : tensor<6x25x37xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.mulf %a, %scale : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<6x25x37xf32>
  return %y : tensor<6x25x37xf32>
}

func.func @attention_values(%s: tensor<6x25x37xf32>, %v: tensor<6x37x32xf32>) -> tensor<6x25x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x25x37xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<6x25x37xf32>) outs(%e : tensor<6x25x37xf32>) -> tensor<6x25x37xf32>
  %e2 = tensor.empty() : tensor<6x25x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x25x32xf32>) -> tensor<6x25x32xf32>
  %y = linalg.batch_matmul ins(%w, %v : tensor<6x25x37xf32>, tensor<6x37x32xf32>) outs(%f : tensor<6x25x32xf32>) -> tensor<6x25x32xf32>
  return %y : tensor<6x25x32xf32>
}

// Heads in separate dims; the mask of each sequence is broadcast over heads and rows.
func.func @attention_of_heads(%q: tensor<2x3x20x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x16xf32>, %mask: tensor<2x1x1x20xf32>) -> tensor<2x3x20x16xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x3x20x20xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x20x20xf32>) -> tensor<2x3x20x20xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, n, k)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x20x16xf32>, tensor<2x3x20x16xf32>) outs(%f : tensor<2x3x20x20xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x3x20x20xf32>
  %masked = linalg.generic {indexing_maps = [#bhmn, #b___n, #bhmn], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %mask : tensor<2x3x20x20xf32>, tensor<2x1x1x20xf32>) outs(%e : tensor<2x3x20x20xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.mulf %a, %scale : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x3x20x20xf32>
  %w = linalg.softmax dimension(3) ins(%masked : tensor<2x3x20x20xf32>) outs(%e : tensor<2x3x20x20xf32>) -> tensor<2x3x20x20xf32>
  %e2 = tensor.empty() : tensor<2x3x20x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x3x20x16xf32>) -> tensor<2x3x20x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<2x3x20x20xf32>, tensor<2x3x20x16xf32>) outs(%f2 : tensor<2x3x20x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x3x20x16xf32>
  return %y : tensor<2x3x20x16xf32>
}

// Half as many keys as query heads: the map of the keys has no division, because the groups have their own loop.
func.func @attention_scores_grouped_bf16(%q: tensor<2x2x18x32xbf16>, %k: tensor<2x22x32xbf16>) -> tensor<2x2x18x22xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x18x22xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x18x22xf32>) -> tensor<2x2x18x22xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(h, g, m, n, k) -> (h, g, m, k)>, affine_map<(h, g, m, n, k) -> (h, n, k)>, affine_map<(h, g, m, n, k) -> (h, g, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x2x18x32xbf16>, tensor<2x22x32xbf16>) outs(%f : tensor<2x2x18x22xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x2x18x22xf32>
  return %p : tensor<2x2x18x22xf32>
}

// One head for sequences of any length: the matrix between the kernels has two open sizes.
// sizes: 17,22,22,17 1,3,3,1
func.func @attention_dynamic(%q: tensor<?x32xf32>, %k: tensor<?x32xf32>, %v: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %q, %c0 : tensor<?x32xf32>
  %n = tensor.dim %k, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q, %k : tensor<?x32xf32>, tensor<?x32xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.softmax dimension(1) ins(%p : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e2 = tensor.empty(%m) : tensor<?x32xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %y = linalg.matmul ins(%w, %v : tensor<?x?xf32>, tensor<?x32xf32>) outs(%f2 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

func.func @merge_heads(%x: tensor<2x3x20x16xf32>) -> tensor<2x20x48xf32> {
  %e = tensor.empty() : tensor<2x20x3x16xf32>
  %t = linalg.transpose ins(%x : tensor<2x3x20x16xf32>) outs(%e : tensor<2x20x3x16xf32>) permutation = [0, 2, 1, 3]
  %y = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<2x20x3x16xf32> into tensor<2x20x48xf32>
  return %y : tensor<2x20x48xf32>
}

// The halves of each head are rotated against each other and joined by insertions.
func.func @rotary_halves(%x: tensor<6x21x32xf32>, %cosine: tensor<21x16xf32>, %sine: tensor<21x16xf32>) -> tensor<6x21x32xf32> {
  %h = tensor.empty() : tensor<6x21x16xf32>
  %e = tensor.empty() : tensor<6x21x32xf32>
  %a = tensor.extract_slice %x[0, 0, 0] [6, 21, 16] [1, 1, 1] : tensor<6x21x32xf32> to tensor<6x21x16xf32>
  %b = tensor.extract_slice %x[0, 0, 16] [6, 21, 16] [1, 1, 1] : tensor<6x21x32xf32> to tensor<6x21x16xf32>
  %low = linalg.generic {indexing_maps = [#brc, #brc, #tc, #tc, #brc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b, %cosine, %sine : tensor<6x21x16xf32>, tensor<6x21x16xf32>, tensor<21x16xf32>, tensor<21x16xf32>) outs(%h : tensor<6x21x16xf32>) {
  ^bb0(%p: f32, %q: f32, %c: f32, %s: f32, %o: f32):
    %m = arith.mulf %p, %c : f32
    %n = arith.mulf %q, %s : f32
    %t = arith.subf %m, %n : f32
    linalg.yield %t : f32
  } -> tensor<6x21x16xf32>
  %high = linalg.generic {indexing_maps = [#brc, #brc, #tc, #tc, #brc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b, %cosine, %sine : tensor<6x21x16xf32>, tensor<6x21x16xf32>, tensor<21x16xf32>, tensor<21x16xf32>) outs(%h : tensor<6x21x16xf32>) {
  ^bb0(%p: f32, %q: f32, %c: f32, %s: f32, %o: f32):
    %m = arith.mulf %q, %c : f32
    %n = arith.mulf %p, %s : f32
    %t = arith.addf %m, %n : f32
    linalg.yield %t : f32
  } -> tensor<6x21x16xf32>
  %i = tensor.insert_slice %low into %e[0, 0, 0] [6, 21, 16] [1, 1, 1] : tensor<6x21x16xf32> into tensor<6x21x32xf32>
  %y = tensor.insert_slice %high into %i[0, 0, 16] [6, 21, 16] [1, 1, 1] : tensor<6x21x16xf32> into tensor<6x21x32xf32>
  return %y : tensor<6x21x32xf32>
}

// Adjacent elements are rotated against each other, in bf16.
func.func @rotary_pairs_bf16(%x: tensor<4x19x32xbf16>, %cosine: tensor<19x16xf32>, %sine: tensor<19x16xf32>) -> tensor<4x19x32xbf16> {
  %pairs = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [4, 19, 16, 2] : tensor<4x19x32xbf16> into tensor<4x19x16x2xbf16>
  %a = tensor.extract_slice %pairs[0, 0, 0, 0] [4, 19, 16, 1] [1, 1, 1, 1] : tensor<4x19x16x2xbf16> to tensor<4x19x16xbf16>
  %b = tensor.extract_slice %pairs[0, 0, 0, 1] [4, 19, 16, 1] [1, 1, 1, 1] : tensor<4x19x16x2xbf16> to tensor<4x19x16xbf16>
  %e = tensor.empty() : tensor<4x19x16xbf16>
  %turned:2 = linalg.generic {indexing_maps = [#brc, #brc, #tc, #tc, #brc, #brc], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b, %cosine, %sine : tensor<4x19x16xbf16>, tensor<4x19x16xbf16>, tensor<19x16xf32>, tensor<19x16xf32>) outs(%e, %e : tensor<4x19x16xbf16>, tensor<4x19x16xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %c: f32, %s: f32, %o: bf16, %o2: bf16):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %m = arith.mulf %pw, %c : f32
    %n = arith.mulf %qw, %s : f32
    %t = arith.subf %m, %n : f32
    %m2 = arith.mulf %qw, %c : f32
    %n2 = arith.mulf %pw, %s : f32
    %t2 = arith.addf %m2, %n2 : f32
    %u = arith.truncf %t : f32 to bf16
    %u2 = arith.truncf %t2 : f32 to bf16
    linalg.yield %u, %u2 : bf16, bf16
  } -> (tensor<4x19x16xbf16>, tensor<4x19x16xbf16>)
  %whole = tensor.empty() : tensor<4x19x16x2xbf16>
  %i = tensor.insert_slice %turned#0 into %whole[0, 0, 0, 0] [4, 19, 16, 1] [1, 1, 1, 1] : tensor<4x19x16xbf16> into tensor<4x19x16x2xbf16>
  %j = tensor.insert_slice %turned#1 into %i[0, 0, 0, 1] [4, 19, 16, 1] [1, 1, 1, 1] : tensor<4x19x16xbf16> into tensor<4x19x16x2xbf16>
  %y = tensor.collapse_shape %j [[0], [1], [2, 3]] : tensor<4x19x16x2xbf16> into tensor<4x19x32xbf16>
  return %y : tensor<4x19x32xbf16>
}

// Decoding: open numbers of sequences, queries and keys.
// sizes: 6,25,6,37,6,25,37
func.func @attention_scores_open(%q: tensor<?x?x32xf32>, %k: tensor<?x?x32xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.176776692 : f32
  %b = tensor.dim %q, %c0 : tensor<?x?x32xf32>
  %m = tensor.dim %q, %c1 : tensor<?x?x32xf32>
  %n = tensor.dim %k, %c1 : tensor<?x?x32xf32>
  %e = tensor.empty(%b, %m, %n) : tensor<?x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %p = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%q, %k : tensor<?x?x32xf32>, tensor<?x?x32xf32>) outs(%f : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %y = linalg.generic {indexing_maps = [#brc, #brc], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %scale : f32
    linalg.yield %s : f32
  } -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// sizes: 6,25,37,6,37,6,25
func.func @attention_values_open(%s: tensor<?x?x?xf32>, %v: tensor<?x?x32xf32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %s, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %s, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %s, %c2 : tensor<?x?x?xf32>
  %e = tensor.empty(%b, %m, %n) : tensor<?x?x?xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %e2 = tensor.empty(%b, %m) : tensor<?x?x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %y = linalg.batch_matmul ins(%w, %v : tensor<?x?x?xf32>, tensor<?x?x32xf32>) outs(%f : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  return %y : tensor<?x?x32xf32>
}

// Projections of the heads: open batch and length.
// sizes: 6,25,6,6,25
func.func @projection_of_heads_open(%x: tensor<?x?x32xf32>, %w: tensor<?x32x40xf32>, %bias: tensor<40xf32>) -> tensor<?x?x40xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %e = tensor.empty(%b, %m) : tensor<?x?x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x40xf32>) -> tensor<?x?x40xf32>
  %p = linalg.batch_matmul ins(%x, %w : tensor<?x?x32xf32>, tensor<?x32x40xf32>) outs(%f : tensor<?x?x40xf32>) -> tensor<?x?x40xf32>
  %y = linalg.generic {indexing_maps = [#brc, affine_map<(b, r, c) -> (c)>, #brc], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %bias : tensor<?x?x40xf32>, tensor<40xf32>) outs(%e : tensor<?x?x40xf32>) {
  ^bb0(%a: f32, %v: f32, %o: f32):
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?x40xf32>
  return %y : tensor<?x?x40xf32>
}
