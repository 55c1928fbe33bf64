// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of a transformer encoder in TOSA: 16 tokens of 32 elements, 4 heads, a feed-forward network of width 64.
func.func private @layer(%x: tensor<1x16x32xf32>, %mask: tensor<1x16x16xf32>, %wq: tensor<1x32x32xf32>,
    %bq: tensor<1x1x32xf32>, %wk: tensor<1x32x32xf32>, %bk: tensor<1x1x32xf32>, %wv: tensor<1x32x32xf32>,
    %bv: tensor<1x1x32xf32>, %wo: tensor<1x32x32xf32>, %bo: tensor<1x1x32xf32>, %g1: tensor<1x1x32xf32>,
    %n1: tensor<1x1x32xf32>, %w1: tensor<1x32x64xf32>, %b1: tensor<1x1x64xf32>, %w2: tensor<1x64x32xf32>,
    %b2: tensor<1x1x32xf32>, %g2: tensor<1x1x32xf32>, %n2: tensor<1x1x32xf32>) -> tensor<1x16x32xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %scale = "tosa.const"() <{values = dense<0.353553391> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %per_d = "tosa.const"() <{values = dense<0.03125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %root = "tosa.const"() <{values = dense<0.707106781> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %split = tosa.const_shape {values = dense<[16, 4, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %join = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  // Queries, keys and values of each head.
  %v1 = tosa.matmul %x, %wq, %zp, %zp : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %v2 = tosa.add %v1, %bq : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  %v3 = tosa.reshape %v2, %split : (tensor<1x16x32xf32>, !tosa.shape<3>) -> tensor<16x4x8xf32>
  %v4 = tosa.transpose %v3 {perms = array<i32: 1, 0, 2>} : (tensor<16x4x8xf32>) -> tensor<4x16x8xf32>
  %v5 = tosa.matmul %x, %wk, %zp, %zp : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %v6 = tosa.add %v5, %bk : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  %v7 = tosa.reshape %v6, %split : (tensor<1x16x32xf32>, !tosa.shape<3>) -> tensor<16x4x8xf32>
  %v8 = tosa.transpose %v7 {perms = array<i32: 1, 2, 0>} : (tensor<16x4x8xf32>) -> tensor<4x8x16xf32>
  %v9 = tosa.matmul %x, %wv, %zp, %zp : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %v10 = tosa.add %v9, %bv : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  %v11 = tosa.reshape %v10, %split : (tensor<1x16x32xf32>, !tosa.shape<3>) -> tensor<16x4x8xf32>
  %v12 = tosa.transpose %v11 {perms = array<i32: 1, 0, 2>} : (tensor<16x4x8xf32>) -> tensor<4x16x8xf32>
  // Scores with an additive mask, as probabilities.
  %v13 = tosa.matmul %v4, %v8, %zp, %zp : (tensor<4x16x8xf32>, tensor<4x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x16x16xf32>
  %v14 = tosa.mul %v13, %scale, %shift : (tensor<4x16x16xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<4x16x16xf32>
  %v15 = tosa.add %v14, %mask : (tensor<4x16x16xf32>, tensor<1x16x16xf32>) -> tensor<4x16x16xf32>
  %v16 = tosa.reduce_max %v15 {axis = 2 : i32} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
  %v17 = tosa.sub %v15, %v16 : (tensor<4x16x16xf32>, tensor<4x16x1xf32>) -> tensor<4x16x16xf32>
  %v18 = tosa.exp %v17 : (tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %v19 = tosa.reduce_sum %v18 {axis = 2 : i32} : (tensor<4x16x16xf32>) -> tensor<4x16x1xf32>
  %v20 = tosa.reciprocal %v19 : (tensor<4x16x1xf32>) -> tensor<4x16x1xf32>
  %v21 = tosa.mul %v18, %v20, %shift : (tensor<4x16x16xf32>, tensor<4x16x1xf32>, tensor<1xi8>) -> tensor<4x16x16xf32>
  // Joins the heads, projects them and adds the residual.
  %v22 = tosa.matmul %v21, %v12, %zp, %zp : (tensor<4x16x16xf32>, tensor<4x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x16x8xf32>
  %v23 = tosa.transpose %v22 {perms = array<i32: 1, 0, 2>} : (tensor<4x16x8xf32>) -> tensor<16x4x8xf32>
  %v24 = tosa.reshape %v23, %join : (tensor<16x4x8xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %v25 = tosa.matmul %v24, %wo, %zp, %zp : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %v26 = tosa.add %v25, %bo : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  %v27 = tosa.add %x, %v26 : (tensor<1x16x32xf32>, tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
  %v28 = tosa.reduce_sum %v27 {axis = 2 : i32} : (tensor<1x16x32xf32>) -> tensor<1x16x1xf32>
  %v29 = tosa.mul %v28, %per_d, %shift : (tensor<1x16x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x16x1xf32>
  %v30 = tosa.sub %v27, %v29 : (tensor<1x16x32xf32>, tensor<1x16x1xf32>) -> tensor<1x16x32xf32>
  %v31 = tosa.mul %v30, %v30, %shift : (tensor<1x16x32xf32>, tensor<1x16x32xf32>, tensor<1xi8>) -> tensor<1x16x32xf32>
  %v32 = tosa.reduce_sum %v31 {axis = 2 : i32} : (tensor<1x16x32xf32>) -> tensor<1x16x1xf32>
  %v33 = tosa.mul %v32, %per_d, %shift : (tensor<1x16x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x16x1xf32>
  %v34 = tosa.add %v33, %eps : (tensor<1x16x1xf32>, tensor<1x1x1xf32>) -> tensor<1x16x1xf32>
  %v35 = tosa.rsqrt %v34 : (tensor<1x16x1xf32>) -> tensor<1x16x1xf32>
  %v36 = tosa.mul %v30, %v35, %shift : (tensor<1x16x32xf32>, tensor<1x16x1xf32>, tensor<1xi8>) -> tensor<1x16x32xf32>
  %v37 = tosa.mul %v36, %g1, %shift : (tensor<1x16x32xf32>, tensor<1x1x32xf32>, tensor<1xi8>) -> tensor<1x16x32xf32>
  %v38 = tosa.add %v37, %n1 : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  // The feed-forward network with gelu.
  %v39 = tosa.matmul %v38, %w1, %zp, %zp : (tensor<1x16x32xf32>, tensor<1x32x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x64xf32>
  %v40 = tosa.add %v39, %b1 : (tensor<1x16x64xf32>, tensor<1x1x64xf32>) -> tensor<1x16x64xf32>
  %v41 = tosa.mul %v40, %root, %shift : (tensor<1x16x64xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x16x64xf32>
  %v42 = tosa.erf %v41 : (tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
  %v43 = tosa.mul %v40, %half, %shift : (tensor<1x16x64xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x16x64xf32>
  %v44 = tosa.add %v42, %one : (tensor<1x16x64xf32>, tensor<1x1x1xf32>) -> tensor<1x16x64xf32>
  %v45 = tosa.mul %v43, %v44, %shift : (tensor<1x16x64xf32>, tensor<1x16x64xf32>, tensor<1xi8>) -> tensor<1x16x64xf32>
  %v46 = tosa.matmul %v45, %w2, %zp, %zp : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %v47 = tosa.add %v46, %b2 : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  %v48 = tosa.add %v38, %v47 : (tensor<1x16x32xf32>, tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
  %v49 = tosa.reduce_sum %v48 {axis = 2 : i32} : (tensor<1x16x32xf32>) -> tensor<1x16x1xf32>
  %v50 = tosa.mul %v49, %per_d, %shift : (tensor<1x16x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x16x1xf32>
  %v51 = tosa.sub %v48, %v50 : (tensor<1x16x32xf32>, tensor<1x16x1xf32>) -> tensor<1x16x32xf32>
  %v52 = tosa.mul %v51, %v51, %shift : (tensor<1x16x32xf32>, tensor<1x16x32xf32>, tensor<1xi8>) -> tensor<1x16x32xf32>
  %v53 = tosa.reduce_sum %v52 {axis = 2 : i32} : (tensor<1x16x32xf32>) -> tensor<1x16x1xf32>
  %v54 = tosa.mul %v53, %per_d, %shift : (tensor<1x16x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x16x1xf32>
  %v55 = tosa.add %v54, %eps : (tensor<1x16x1xf32>, tensor<1x1x1xf32>) -> tensor<1x16x1xf32>
  %v56 = tosa.rsqrt %v55 : (tensor<1x16x1xf32>) -> tensor<1x16x1xf32>
  %v57 = tosa.mul %v51, %v56, %shift : (tensor<1x16x32xf32>, tensor<1x16x1xf32>, tensor<1xi8>) -> tensor<1x16x32xf32>
  %v58 = tosa.mul %v57, %g2, %shift : (tensor<1x16x32xf32>, tensor<1x1x32xf32>, tensor<1xi8>) -> tensor<1x16x32xf32>
  %v59 = tosa.add %v58, %n2 : (tensor<1x16x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  return %v59 : tensor<1x16x32xf32>
}

func.func @main() {
  %low = arith.constant -0.5 : f64
  %high = arith.constant 0.5 : f64
  %s0 = arith.constant 1 : i32
  %e0 = tensor.empty() : tensor<16x32xf32>
  %r0 = linalg.fill_rng_2d ins(%low, %high, %s0 : f64, f64, i32) outs(%e0 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %x = tensor.expand_shape %r0 [[0, 1], [2]] output_shape [1, 16, 32] : tensor<16x32xf32> into tensor<1x16x32xf32>
  %s1 = arith.constant 2 : i32
  %e1 = tensor.empty() : tensor<16x16xf32>
  %r1 = linalg.fill_rng_2d ins(%low, %high, %s1 : f64, f64, i32) outs(%e1 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %mask = tensor.expand_shape %r1 [[0, 1], [2]] output_shape [1, 16, 16] : tensor<16x16xf32> into tensor<1x16x16xf32>
  %s2 = arith.constant 3 : i32
  %e2 = tensor.empty() : tensor<32x32xf32>
  %r2 = linalg.fill_rng_2d ins(%low, %high, %s2 : f64, f64, i32) outs(%e2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %wq = tensor.expand_shape %r2 [[0, 1], [2]] output_shape [1, 32, 32] : tensor<32x32xf32> into tensor<1x32x32xf32>
  %s3 = arith.constant 4 : i32
  %e3 = tensor.empty() : tensor<1x32xf32>
  %r3 = linalg.fill_rng_2d ins(%low, %high, %s3 : f64, f64, i32) outs(%e3 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %bq = tensor.expand_shape %r3 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s4 = arith.constant 5 : i32
  %e4 = tensor.empty() : tensor<32x32xf32>
  %r4 = linalg.fill_rng_2d ins(%low, %high, %s4 : f64, f64, i32) outs(%e4 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %wk = tensor.expand_shape %r4 [[0, 1], [2]] output_shape [1, 32, 32] : tensor<32x32xf32> into tensor<1x32x32xf32>
  %s5 = arith.constant 6 : i32
  %e5 = tensor.empty() : tensor<1x32xf32>
  %r5 = linalg.fill_rng_2d ins(%low, %high, %s5 : f64, f64, i32) outs(%e5 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %bk = tensor.expand_shape %r5 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s6 = arith.constant 7 : i32
  %e6 = tensor.empty() : tensor<32x32xf32>
  %r6 = linalg.fill_rng_2d ins(%low, %high, %s6 : f64, f64, i32) outs(%e6 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %wv = tensor.expand_shape %r6 [[0, 1], [2]] output_shape [1, 32, 32] : tensor<32x32xf32> into tensor<1x32x32xf32>
  %s7 = arith.constant 8 : i32
  %e7 = tensor.empty() : tensor<1x32xf32>
  %r7 = linalg.fill_rng_2d ins(%low, %high, %s7 : f64, f64, i32) outs(%e7 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %bv = tensor.expand_shape %r7 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s8 = arith.constant 9 : i32
  %e8 = tensor.empty() : tensor<32x32xf32>
  %r8 = linalg.fill_rng_2d ins(%low, %high, %s8 : f64, f64, i32) outs(%e8 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %wo = tensor.expand_shape %r8 [[0, 1], [2]] output_shape [1, 32, 32] : tensor<32x32xf32> into tensor<1x32x32xf32>
  %s9 = arith.constant 10 : i32
  %e9 = tensor.empty() : tensor<1x32xf32>
  %r9 = linalg.fill_rng_2d ins(%low, %high, %s9 : f64, f64, i32) outs(%e9 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %bo = tensor.expand_shape %r9 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s10 = arith.constant 11 : i32
  %e10 = tensor.empty() : tensor<1x32xf32>
  %r10 = linalg.fill_rng_2d ins(%low, %high, %s10 : f64, f64, i32) outs(%e10 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %g1 = tensor.expand_shape %r10 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s11 = arith.constant 12 : i32
  %e11 = tensor.empty() : tensor<1x32xf32>
  %r11 = linalg.fill_rng_2d ins(%low, %high, %s11 : f64, f64, i32) outs(%e11 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %n1 = tensor.expand_shape %r11 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s12 = arith.constant 13 : i32
  %e12 = tensor.empty() : tensor<32x64xf32>
  %r12 = linalg.fill_rng_2d ins(%low, %high, %s12 : f64, f64, i32) outs(%e12 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %w1 = tensor.expand_shape %r12 [[0, 1], [2]] output_shape [1, 32, 64] : tensor<32x64xf32> into tensor<1x32x64xf32>
  %s13 = arith.constant 14 : i32
  %e13 = tensor.empty() : tensor<1x64xf32>
  %r13 = linalg.fill_rng_2d ins(%low, %high, %s13 : f64, f64, i32) outs(%e13 : tensor<1x64xf32>) -> tensor<1x64xf32>
  %b1 = tensor.expand_shape %r13 [[0, 1], [2]] output_shape [1, 1, 64] : tensor<1x64xf32> into tensor<1x1x64xf32>
  %s14 = arith.constant 15 : i32
  %e14 = tensor.empty() : tensor<64x32xf32>
  %r14 = linalg.fill_rng_2d ins(%low, %high, %s14 : f64, f64, i32) outs(%e14 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %w2 = tensor.expand_shape %r14 [[0, 1], [2]] output_shape [1, 64, 32] : tensor<64x32xf32> into tensor<1x64x32xf32>
  %s15 = arith.constant 16 : i32
  %e15 = tensor.empty() : tensor<1x32xf32>
  %r15 = linalg.fill_rng_2d ins(%low, %high, %s15 : f64, f64, i32) outs(%e15 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %b2 = tensor.expand_shape %r15 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s16 = arith.constant 17 : i32
  %e16 = tensor.empty() : tensor<1x32xf32>
  %r16 = linalg.fill_rng_2d ins(%low, %high, %s16 : f64, f64, i32) outs(%e16 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %g2 = tensor.expand_shape %r16 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %s17 = arith.constant 18 : i32
  %e17 = tensor.empty() : tensor<1x32xf32>
  %r17 = linalg.fill_rng_2d ins(%low, %high, %s17 : f64, f64, i32) outs(%e17 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %n2 = tensor.expand_shape %r17 [[0, 1], [2]] output_shape [1, 1, 32] : tensor<1x32xf32> into tensor<1x1x32xf32>
  %result = call @layer(%x, %mask, %wq, %bq, %wk, %bk, %wv, %bv, %wo, %bo, %g1, %n1, %w1, %b1, %w2, %b2, %g2, %n2)
      : (tensor<1x16x32xf32>, tensor<1x16x16xf32>, tensor<1x32x32xf32>, tensor<1x1x32xf32>, tensor<1x32x32xf32>,
         tensor<1x1x32xf32>, tensor<1x32x32xf32>, tensor<1x1x32xf32>, tensor<1x32x32xf32>, tensor<1x1x32xf32>,
         tensor<1x1x32xf32>, tensor<1x1x32xf32>, tensor<1x32x64xf32>, tensor<1x1x64xf32>, tensor<1x64x32xf32>,
         tensor<1x1x32xf32>, tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x16x32xf32>
  %printed = tensor.cast %result : tensor<1x16x32xf32> to tensor<*xf32>
  call @printMemrefF32(%printed) : (tensor<*xf32>) -> ()
  return
}
func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
