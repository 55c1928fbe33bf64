// Checks that code for which the SPIR-V back end would terminate the process or emit an import is an error that names
// it.
// RUN: split-file %s %t
// RUN: not quern-opt %t/function.mlir --codegen --target=spirv64 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not quern-opt %t/mangled.mlir --codegen --target=spirv64 2>&1 | FileCheck %s --check-prefix=MANGLED
// RUN: quern-opt %t/indices.mlir --codegen --target=spirv64 | FileCheck %s --check-prefix=INDICES
// RUN: not quern-opt %t/double.mlir --codegen --target=spirv64 2>&1 | FileCheck %s --check-prefix=DOUBLE
// RUN: quern-opt %t/double.mlir --codegen --target=spirv64:f64 | FileCheck %s --check-prefix=TAKEN
// RUN: not quern-opt %t/vector.mlir --codegen --target=spirv64 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not quern-opt %t/integer.mlir --codegen --target=spirv64 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not quern-opt %t/atomic.mlir --codegen --target=spirv64 2>&1 | FileCheck %s --check-prefix=ATOMIC
// RUN: not quern-opt %t/group.mlir --codegen --target=spirv64:group=64 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not quern-opt %t/sub-group.mlir --codegen --target=spirv64:sg=16 2>&1 | FileCheck %s --check-prefix=SUBGROUP
// RUN: not quern-opt %t/memory.mlir --codegen --target=spirv64:slm=1000 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: quern-opt %t/memory.mlir --codegen --target=spirv64:slm=1024 | FileCheck %s --check-prefix=SHARED

//--- function.mlir
// FUNCTION: error: codegen: the kernel calls 'sinf', which no device has
llvm.func @sinf(f32) -> f32
func.func @a_kernel(%a: memref<8xf32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 8, space = 1>} {
  %i = gpu.thread_id x
  %x = memref.load %a[%i] : memref<8xf32>
  %y = llvm.call @sinf(%x) : (f32) -> f32
  memref.store %y, %a[%i] : memref<8xf32>
  return
}

//--- mangled.mlir
// MANGLED: error: codegen: the kernel calls '_Z19sub_group_broadcastPfj', which no device has
llvm.func spir_funccc @_Z19sub_group_broadcastPfj(f32, i32) -> f32
func.func @a_kernel(%a: memref<8xf32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 8, space = 1>} {
  %i = gpu.thread_id x
  %x = memref.load %a[%i] : memref<8xf32>
  %n = arith.constant 1 : i32
  %y = llvm.call spir_funccc @_Z19sub_group_broadcastPfj(%x, %n) : (f32, i32) -> f32
  memref.store %y, %a[%i] : memref<8xf32>
  return
}

//--- indices.mlir
// The gpu dialect's position operations become variables of the device, not functions.
// INDICES-NOT: LinkageAttributes "_Z
// INDICES-DAG: BuiltIn GlobalInvocationId
// INDICES-DAG: BuiltIn NumSubgroups
// INDICES-DAG: BuiltIn SubgroupSize
// INDICES-NOT: OpFunctionCall
func.func @a_kernel(%a: memref<16xi64> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 16, space = 1>} {
  %i = gpu.thread_id x
  %all = gpu.global_id x
  %group = gpu.block_id x
  %items = gpu.block_dim x
  %groups = gpu.grid_dim x
  %lane = gpu.lane_id
  %part = gpu.subgroup_id : index
  %parts = gpu.num_subgroups : index
  %lanes = gpu.subgroup_size : index
  %0 = arith.addi %all, %group : index
  %1 = arith.addi %0, %items : index
  %2 = arith.addi %1, %groups : index
  %3 = arith.addi %2, %lane : index
  %4 = arith.addi %3, %part : index
  %5 = arith.addi %4, %parts : index
  %6 = arith.addi %5, %lanes : index
  %7 = arith.index_cast %6 : index to i64
  memref.store %7, %a[%i] : memref<16xi64>
  return
}

//--- double.mlir
// DOUBLE: error: codegen: the kernel computes in f64, which the device lacks
// TAKEN: OpTypeFloat 64
func.func @a_kernel(%a: memref<8xf64> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 8, space = 1>} {
  %i = gpu.thread_id x
  %x = memref.load %a[%i] : memref<8xf64>
  %y = arith.addf %x, %x : f64
  memref.store %y, %a[%i] : memref<8xf64>
  return
}

//--- vector.mlir
// VECTOR: error: codegen: SPIR-V has no vectors of 5 elements
func.func @a_kernel(%a: memref<8xf32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 1, space = 1>} {
  %i = gpu.thread_id x
  %x = vector.load %a[%i] : memref<8xf32>, vector<5xf32>
  %two = arith.constant 2 : index
  vector.store %x, %a[%two] : memref<8xf32>, vector<5xf32>
  return
}

//--- integer.mlir
// INTEGER: error: codegen: the kernel computes in i24, which no device has
func.func @a_kernel(%a: memref<8xi32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 8, space = 1>} {
  %i = gpu.thread_id x
  %x = memref.load %a[%i] : memref<8xi32>
  %n = arith.trunci %x : i32 to i24
  %s = arith.muli %n, %n : i24
  %y = arith.extsi %s : i24 to i32
  memref.store %y, %a[%i] : memref<8xi32>
  return
}

//--- atomic.mlir
// ATOMIC: error: codegen: '{{.*}}atomicrmw{{.*}}' is not implemented for SPIR-V
func.func @a_kernel(%a: memref<8xi32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 8, space = 1>} {
  %i = gpu.thread_id x
  %one = arith.constant 1 : i32
  %x = memref.atomic_rmw addi %one, %a[%i] : (i32, memref<8xi32>) -> i32
  return
}

//--- group.mlir
// GROUP: error: lower: @a_kernel runs in groups of 128; the device has up to 64
func.func @a_kernel(%a: memref<8xi32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 128, space = 1>} {
  return
}

//--- sub-group.mlir
// SUBGROUP: error: lower: @a_kernel runs in groups of 64 by sub-groups of 32, which the device does not have
func.func @a_kernel(%a: memref<8xi32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 64, space = 1, sub_group_size = 32>} {
  return
}

//--- memory.mlir
// MEMORY: error: lower: @a_kernel has 1024 bytes of group memory; the device has 1000
// SHARED: OpTypePointer Workgroup
memref.global "private" @shared : memref<256xf32, #gpu.address_space<workgroup>>
func.func @a_kernel(%a: memref<256xf32> {quern.arg = "a"}) attributes {quern.kernel = #quern.kernel<group_size = 256, space = 1>} {
  %shared = memref.get_global @shared : memref<256xf32, #gpu.address_space<workgroup>>
  %last = arith.constant 255 : index
  %i = gpu.thread_id x
  %x = memref.load %a[%i] : memref<256xf32>
  memref.store %x, %shared[%i] : memref<256xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %j = arith.subi %last, %i : index
  %y = memref.load %shared[%j] : memref<256xf32, #gpu.address_space<workgroup>>
  memref.store %y, %a[%i] : memref<256xf32>
  return
}
