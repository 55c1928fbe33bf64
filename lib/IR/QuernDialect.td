//===- QuernDialect.td - What stages tell each other ----------*- tablegen -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_QUERNDIALECT_TD
#define QUERN_IR_QUERNDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Quern_Dialect : Dialect {
  let name = "quern";
  let cppNamespace = "::quern";
  let summary = "what stages tell each other beside the operations";
  let description = [{
    Attributes that ops of other dialects carry. QuernDialect.h has their names; no other is taken.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Quern_Attr<string name, string attrMnemonic> : AttrDef<Quern_Dialect, name> { let mnemonic = attrMnemonic; }
class Quern_Number<string default = "0"> : DefaultValuedParameter<"int64_t", default>;

//===- Licences -----------------------------------------------------------===//

def Quern_Licence : I32BitEnumAttr<"Licence", "what an op allows beyond its exact meaning", [
    I32BitEnumAttrCaseBit<"Nonpositive", 0, "nonpositive">, // of exp and expm1: the argument is <= 0 or NaN
    I32BitEnumAttrCaseBit<"Unrounded", 1, "unrounded">,     // of exp: of a sum, not rounded, whose second term is tiny
    I32BitEnumAttrCaseBit<"Bf16", 2, "bf16">                // of a product: f32 factors may be rounded to bf16
  ]> {
  let cppNamespace = "::quern";
  let genSpecializedAttr = 0;
  let separator = ", ";
}

def Quern_LicenceAttr : EnumAttr<Quern_Dialect, Quern_Licence, "licence"> { let assemblyFormat = "`<` $value `>`"; }

//===- Kernels ------------------------------------------------------------===//

def Quern_KernelAttr : Quern_Attr<"Kernel", "kernel"> {
  let summary = "what makes a function a kernel, from `schedule` on";
  let description = [{
    `space` independent iterations, of `ns_per_iteration` on one core (an estimate; 0: unknown). `factors` = [size,
    divisor, size, divisor, …] multiplies them by ceil(sizes[size] / divisor) for each pair. Each call has
    `scratch_bytes` of its own and shares `shared_bytes` with all calls of an execution, both aligned to 64. A device's
    kernel has a `group_size`: the space counts groups of so many work-items, in sub-groups of `sub_group_size` if the
    kernel counts on these. `plan` is what the recipe decided, one line; `problem` the function that it was made of.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$factors,
    Quern_Number<>:$group_size,
    Quern_Number<>:$ns_per_iteration,
    StringRefParameter<"", "\"\"">:$plan,
    StringRefParameter<"", "\"\"">:$problem,
    Quern_Number<>:$scratch_bytes,
    Quern_Number<>:$shared_bytes,
    "int64_t":$space,
    Quern_Number<>:$sub_group_size
  );
  let builders = [AttrBuilder<(ins "int64_t":$space, "::llvm::StringRef":$plan, "::llvm::StringRef":$problem,
                                   CArg<"int64_t", "0">:$scratchBytes), [{
    return $_get($_ctxt, ::mlir::DenseI64ArrayAttr(), 0, 0, plan, problem, scratchBytes, 0, space, 0);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    KernelAttr withSharedBytes(int64_t bytes) const;
  }];
}

def Quern_ArgumentAttr : Quern_Attr<"Argument", "argument"> {
  let summary = "a tensor that a kernel takes";
  let parameters = (ins StringRefParameter<"">:$name, "::mlir::MemRefType":$type);
  let assemblyFormat = "`` $name `:` $type";
}

def Quern_LoweredAttr : Quern_Attr<"Lowered", "lowered"> {
  let summary = "what `lower` adds of a kernel: the tensors, which the LLVM dialect no longer has, and bytes of memory that a group has";
  let parameters = (ins OptionalArrayRefParameter<"ArgumentAttr">:$arguments, Quern_Number<>:$group_bytes);
  let assemblyFormat = "`<` `[` (`]`) : ($arguments^ `]`)? (`,` `group_bytes` `=` $group_bytes^)? `>`";
}

#endif // QUERN_IR_QUERNDIALECT_TD
