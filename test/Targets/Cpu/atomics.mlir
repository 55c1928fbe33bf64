// Checks that atomics use the default code generation pipeline, because the short one does not support them.
// RUN: quern-opt %s --codegen --target=avx2 | FileCheck %s --implicit-check-not=call
// CHECK: count_kernel:
// CHECK: lock
// CHECK: retq
llvm.func @count_kernel(%args: !llvm.ptr, %begin: i64, %end: i64) attributes {quern.kernel = #quern.kernel<space = 1>, quern.lowered = #quern.lowered<[]>} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %old = llvm.atomicrmw add %args, %one seq_cst : !llvm.ptr, i64
  llvm.return
}
