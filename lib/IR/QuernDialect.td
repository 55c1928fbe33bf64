//===- QuernDialect.td - Attributes that stages exchange ------*- tablegen -*-===//
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
  let summary = "information that stages exchange in addition to operations";
  let description = [{
    Attributes that ops of other dialects carry. QuernDialect.h has their names; no other is taken.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Quern_Attr<string name, string attrMnemonic> : AttrDef<Quern_Dialect, name> { let mnemonic = attrMnemonic; }
class Quern_Number<string default = "0"> : DefaultValuedParameter<"int64_t", default>;

//===- Relaxations --------------------------------------------------------===//

def Quern_Relaxation : I32BitEnumAttr<"Relaxation", "deviations that an op allows", [
    I32BitEnumAttrCaseBit<"Nonpositive", 0, "nonpositive">, // exp and expm1: the argument is <= 0 or NaN
    I32BitEnumAttrCaseBit<"Unrounded", 1, "unrounded">,     // exp of an unrounded sum whose second term is tiny
    I32BitEnumAttrCaseBit<"Bf16", 2, "bf16">                // product: f32 factors may be rounded to bf16
  ]> {
  let cppNamespace = "::quern";
  let genSpecializedAttr = 0;
  let separator = ", ";
}

def Quern_RelaxationAttr : EnumAttr<Quern_Dialect, Quern_Relaxation, "relax"> { let assemblyFormat = "`<` $value `>`"; }

//===- Kernels ------------------------------------------------------------===//

def Quern_Recipe : I32EnumAttr<"Recipe", "schedules of a problem", [
    I32EnumAttrCase<"Map", 0, "map">,
    I32EnumAttrCase<"Contraction", 1, "contraction">,
    I32EnumAttrCase<"Rows", 2, "rows">,
    I32EnumAttrCase<"Naive", 3, "naive"> // scalar loops
  ]> {
  let cppNamespace = "::quern";
  let genSpecializedAttr = 0;
}

def Quern_PlanAttr : Quern_Attr<"Plan", "plan"> {
  let summary = "decisions of the recipe that created a kernel";
  let description = [{
    `fields` are numbers, strings and flags in the order of the text; IR/Plan.def has their names and their phrases in
    the text.
  }];
  let parameters = (ins EnumParameter<Quern_Recipe>:$recipe,
                        ArrayRefParameter<"::mlir::NamedAttribute", "decisions">:$fields);
  let assemblyFormat = "`<` $recipe `` custom<PlanFields>($fields) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the plan as one line for humans, for example "contraction: 16x32, 1 product by fma, …".
    std::string text() const;
    /// Returns the value of a field, or null.
    ::mlir::Attribute field(::llvm::StringRef name) const;
  }];
}

def Quern_KernelAttr : Quern_Attr<"Kernel", "kernel"> {
  let summary = "properties of a kernel, from `schedule` on";
  let description = [{
    The kernel has `space` independent iterations, each of which takes `ns_per_iteration` on one core (an estimate; 0:
    unknown). `factors` = [size, divisor, size, divisor, …] multiplies them by ceil(sizes[size] / divisor) for each
    pair. Each call has its own `scratch_bytes` and shares `shared_bytes` with all calls of an execution, both aligned
    to 64. A device kernel has a `group_size`: the space counts groups of this many work-items, in sub-groups of
    `sub_group_size` if the kernel depends on their size. `plan` has the decisions of the recipe; `problem` is the
    function from which the kernel was made.
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::DenseI64ArrayAttr">:$factors,
    Quern_Number<>:$group_size,
    Quern_Number<>:$ns_per_iteration,
    OptionalParameter<"::quern::PlanAttr">:$plan,
    StringRefParameter<"", "\"\"">:$problem,
    Quern_Number<>:$scratch_bytes,
    Quern_Number<>:$shared_bytes,
    "int64_t":$space,
    Quern_Number<>:$sub_group_size
  );
  let builders = [AttrBuilder<(ins "int64_t":$space, "::quern::PlanAttr":$plan, "::llvm::StringRef":$problem,
                                   CArg<"int64_t", "0">:$scratchBytes), [{
    return $_get($_ctxt, ::mlir::DenseI64ArrayAttr(), 0, 0, plan, problem, scratchBytes, 0, space, 0);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    KernelAttr withProblem(::llvm::StringRef problem) const;
    KernelAttr withSharedBytes(int64_t bytes) const;
    KernelAttr withScratchBytes(int64_t bytes) const;
  }];
}

def Quern_ArgumentAttr : Quern_Attr<"Argument", "argument"> {
  let summary = "a tensor argument of a kernel";
  let parameters = (ins StringRefParameter<"">:$name, "::mlir::MemRefType":$type);
  let assemblyFormat = "`` $name `:` $type";
}

def Quern_LoweredAttr : Quern_Attr<"Lowered", "lowered"> {
  let summary = "properties that `lower` adds to a kernel: its tensors, which the LLVM dialect lacks, and the bytes of "
                "a group's memory";
  let parameters = (ins OptionalArrayRefParameter<"ArgumentAttr">:$arguments, Quern_Number<>:$group_bytes);
  let assemblyFormat = "`<` `[` (`]`) : ($arguments^ `]`)? (`,` `group_bytes` `=` $group_bytes^)? `>`";
}

//===- The launch program -------------------------------------------------===//

/// A polynomial: s<i> is size i of the execution, d<i> the index of the loop at depth i.
class Quern_Expr<string default = ""> : AttrParameter<"::mlir::AffineExpr", "an expression of sizes and indices"> {
  let parser = "parseExpr($_parser)";
  let printer = "$_printer.getStream() << $_self";
  let defaultValue = default;
}
def Quern_Steps : ArrayRefParameter<"::mlir::Attribute", "regions, sizes, checks, loops and calls">;

def Quern_BufferAttr : Quern_Attr<"Buffer", "buffer"> {
  let summary = "a tensor argument of the primitive or a region, from a byte on";
  let parameters = (ins StringRefParameter<"">:$name, Quern_Expr<"::mlir::getAffineConstantExpr(0, $_ctxt)">:$offset);
  let assemblyFormat = "`` $name (`[` $offset^ `]`)?";
}

def Quern_CallAttr : Quern_Attr<"Call", "call"> {
  let summary = "a call of a problem, with one buffer for each of its arguments; `independent`: independent of the "
                "previous call";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$problem, ArrayRefParameter<"BufferAttr">:$buffers,
                        DefaultValuedParameter<"bool", "false">:$independent);
  let assemblyFormat = "`` $problem `` `(` $buffers `)` `` custom<Independent>($independent)";
}

def Quern_LoopAttr : Quern_Attr<"Loop", "loop"> {
  let summary = "calls and loops that are repeated `trips` times";
  let parameters = (ins Quern_Expr<>:$trips, Quern_Steps:$body);
  let assemblyFormat = "`` $trips ` ` `{` custom<Steps>($body) `}`";
}

def Quern_RegionAttr : Quern_Attr<"Region", "region"> {
  let summary = "memory that the calls of an execution share, aligned to 64";
  let parameters = (ins StringRefParameter<"">:$name, Quern_Expr<>:$bytes);
  let assemblyFormat = "`` $name `:` $bytes";
}

def Quern_MaximumAttr : Quern_Attr<"Maximum", "maximum"> {
  let summary = "a size that follows those that are passed: the maximum of `count` s32 elements of an argument, "
                "clamped to [0, limit]";
  let parameters = (ins StringRefParameter<"">:$argument, Quern_Expr<>:$limit, Quern_Expr<>:$count,
                        Quern_Expr<>:$stride);
  let assemblyFormat = "`` $argument `limit` $limit `count` $count `stride` $stride";
}

def Quern_NumberAttr : Quern_Attr<"Number", "number"> {
  let summary = "a size that follows those that are passed: the s32 element of an argument";
  let parameters = (ins StringRefParameter<"">:$argument);
  let assemblyFormat = "`` $argument";
}

def Quern_SizeAttr : Quern_Attr<"Size", "size"> {
  let summary = "a size that follows those that are passed: computed from the sizes before it";
  let parameters = (ins Quern_Expr<>:$value);
  let assemblyFormat = "`` $value";
}

def Quern_CheckAttr : Quern_Attr<"Check", "check"> {
  let summary = "refuses an execution whose `value` is not in [low, high]; the message names `what`";
  let parameters = (ins StringRefParameter<"">:$what, Quern_Expr<>:$value, Quern_Expr<>:$low, Quern_Expr<>:$high);
  let assemblyFormat = "`` $what `value` $value `low` $low `high` $high";
}

def Quern_ProgramAttr : Quern_Attr<"Program", "program"> {
  let summary = "the calls of a module's problems and their buffers; there are no other calls";
  let parameters = (ins Quern_Steps:$steps);
  let assemblyFormat = "`<` custom<Steps>($steps) `>`";
}

#endif // QUERN_IR_QUERNDIALECT_TD
