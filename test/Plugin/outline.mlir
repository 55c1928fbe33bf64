// Checks which operations of a module quern-outline moves into functions, and which it leaves.
// REQUIRES: mlir-plugin
// RUN: mlir-opt %s --split-input-file --load-pass-plugin=%build/lib/libquern-mlir.so \
// RUN:     --pass-pipeline='builtin.module(quern-outline{remarks})' 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: mlir-opt %s --split-input-file --load-pass-plugin=%build/lib/libquern-mlir.so \
// RUN:     --pass-pipeline='builtin.module(quern-outline{min-ops=2 ops=linalg.exp,linalg.matmul prefix=q})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SOME

// A product and its epilogue are one function. Its result is written to the last argument; the intermediate value and
// the constant are local to the function.
// CHECK-LABEL: func.func @run(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4x16xf32>)
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<8x16xf32>
// CHECK-NEXT:    %[[Y:.*]] = call @quern_0(%[[X]], %[[W]], %[[E]])
// CHECK-NEXT:    return %[[Y]]
// CHECK:       func.func private @quern_0(
// CHECK-SAME:    %[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4x16xf32>, %[[TO:.*]]: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {quern.outlined}
// CHECK-DAG:     arith.constant 0.0
// CHECK-DAG:     %[[OWN:.*]] = tensor.empty
// CHECK:         linalg.fill {{.*}} outs(%[[OWN]]
// CHECK:         %[[M:.*]] = linalg.matmul
// CHECK:         %[[R:.*]] = linalg.exp ins(%[[M]] : {{.*}}) outs(%[[TO]]
// CHECK:         return %[[R]]
// SOME-LABEL:  func.func @run(
// SOME:          linalg.fill
// SOME:          call @q0(
func.func @run(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %m = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.exp ins(%m : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

// A call that reads a computed value ends a run; other calls are skipped. A table of constants stays outside.
// CHECK-LABEL: func.func @between(
// CHECK:         %[[TABLE:.*]] = arith.constant dense<[1.0{{.*}}, 2.0
// CHECK:         call @other()
// CHECK:         %[[A:.*]]:2 = call @quern_0({{.*}}%[[TABLE]]
// CHECK:         call @see(%[[A]]#0)
// CHECK:         %[[B:.*]] = call @quern_1(%[[A]]#1
// CHECK:         return %[[B]]
// SOME-LABEL:  func.func @between(
// SOME:          linalg.add
// SOME:          call @see
// SOME:          call @q0
func.func private @see(tensor<2xf32>)
func.func private @other()
func.func @between(%x: tensor<2xf32>) -> tensor<2xf32> {
  %table = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %a = linalg.add ins(%x, %table : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  call @other() : () -> ()
  %b = linalg.exp ins(%a : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  call @see(%a) : (tensor<2xf32>) -> ()
  %c = linalg.exp ins(%b : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %c : tensor<2xf32>
}

// -----

// A tensor that is updated is the destination of the result; if other operations also read it, bufferization copies it.
// Nested blocks have their own runs, and views are included.
// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[C:.*]] = %{{.*}})
// CHECK-NEXT:      %[[N:.*]] = func.call @quern_0(%{{.*}}, %{{.*}}, %[[C]])
// CHECK-NEXT:      scf.yield %[[N]]
// CHECK:       func.func private @quern_0(
// CHECK:         tensor.collapse_shape
// CHECK:         linalg.matmul {{.*}} outs(%arg2
func.func @nested(%x: tensor<2x2x4xf32>, %w: tensor<4x4xf32>, %c: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c) -> tensor<4x4xf32> {
    %e = tensor.empty() : tensor<2x2x4xf32>
    %t = linalg.exp ins(%x : tensor<2x2x4xf32>) outs(%e : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
    %f = tensor.collapse_shape %t [[0, 1], [2]] : tensor<2x2x4xf32> into tensor<4x4xf32>
    %m = linalg.matmul ins(%f, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%sum : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %m : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// A view of a run's result stays after the call.
// CHECK-LABEL: func.func @view(
// CHECK:         %[[Y:.*]] = call @quern_0
// CHECK-NEXT:    tensor.expand_shape %[[Y]]
// CHECK-NEXT:    return
func.func @view(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.expand_shape %y [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %v : tensor<2x4xf32>
}

// -----

// A reduction starts from its initial values, not from the contents of the result's tensor.
// CHECK-LABEL: func.func @start(
// CHECK:       func.func private @quern_0(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[TO:.*]]: tensor<4xf32>)
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         %[[START:.*]] = linalg.fill ins(%[[ZERO]]
// CHECK:         %[[R:.*]] = linalg.reduce {{.*}} outs(%[[START]]
// CHECK:         linalg.copy ins(%[[R]] : {{.*}}) outs(%[[TO]]
func.func @start(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}

// -----

// Unsupported operations are kept, with the reason.
// CHECK-LABEL: func.func @left(
// CHECK:         linalg.add
// CHECK-NOT:     call
// CHECK:         return
// REMARK: remark: left as it is: {{.*}}tensor<4xi64>
func.func @left(%x: tensor<4xi64>) -> tensor<4xi64> {
  %e = tensor.empty() : tensor<4xi64>
  %y = linalg.add ins(%x, %x : tensor<4xi64>, tensor<4xi64>) outs(%e : tensor<4xi64>) -> tensor<4xi64>
  return %y : tensor<4xi64>
}
