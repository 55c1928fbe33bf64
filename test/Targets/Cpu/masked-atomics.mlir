// Checks that a kernel with atomics and a masked access is refused, because LLVM's default passes may drop masks.
// REQUIRES: compiler
// RUN: not quern-opt %s --codegen --target=avx512_core 2>&1 | FileCheck %s
// CHECK: masked accesses are not implemented in a kernel with atomics
llvm.func @count_kernel(%args: !llvm.ptr, %begin: i64, %end: i64) attributes {quern.kernel = #quern.kernel<space = 1>, quern.lowered = #quern.lowered<[]>} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(dense<0> : vector<16xi32>) : vector<16xi32>
  %n = llvm.load %args : !llvm.ptr -> vector<16xi32>
  %m = llvm.icmp "sgt" %n, %zero : vector<16xi32>
  %l = llvm.intr.masked.load %args, %m, %zero {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xi32>) -> vector<16xi32>
  llvm.store %l, %args : vector<16xi32>, !llvm.ptr
  %old = llvm.atomicrmw add %args, %one seq_cst : !llvm.ptr, i64
  llvm.return
}
