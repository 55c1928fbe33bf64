//===- FieldsTest.cpp - Fields in equality, keys, text and bytes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Changes each field of every descriptor, one at a time, and tests that equality, key and text differ and that text and
// bytes preserve the change. The fields come from visitFields(); the sizes of the structs are checked too, so that a
// new member without an entry fails.
//
//===----------------------------------------------------------------------===//
#include "Desc/FieldVisitor.h"
#include "Desc/Key.h"
#include "Desc/PrimitiveDesc.h"
#include "Desc/Text/TextForm.h"

#include <functional>
#include <gtest/gtest.h>

using namespace quern;

namespace {

TensorDesc smallTensor() { return *TensorDesc::fromTag(std::vector<int64_t>{4, 24}, DataType::S8, "aB16b"); }

template <typename T>
constexpr bool isLeaf =
    !std::is_class_v<T> || isVector<T> || isMap<T> || std::is_same_v<T, TensorDesc> || std::is_same_v<T, std::string>;

/// Changes leaf field number `target`, and counts all leaf fields.
struct Mutator {
  int target;
  int index = 0;
  std::string path, changed;

  template <typename T> void operator()(const char *name, T &value) {
    if constexpr (!isLeaf<T>) {
      std::string outer = path;
      path += std::string(name) + ".";
      T::visitFields(value, *this);
      path = outer;
    } else if (index++ == target) {
      changed = path + name;
      change(value);
    }
  }
  void change(bool &value) { value = !value; }
  void change(int32_t &value) { value += 1; }
  void change(uint32_t &value) { value += 1; }
  void change(float &value) { value += 1.5f; }
  void change(TensorDesc &value) {
    value = smallTensor();
    value.dataType = changed == "dropout.mask" ? DataType::U8 : value.dataType;
  }
  void change(PropKind &value) { value = PropKind::BackwardData; }
  void change(Alg &value) { value = value == Alg::SoftmaxLog ? Alg::SoftmaxAccurate : Alg::SoftmaxLog; }
  void change(RnnDirection &value) { value = RnnDirection::BidirectionalSum; }
  void change(GemmOffset &value) { value = GemmOffset::Row; }
  void change(EngineKind &value) { value = EngineKind::Gpu; }
  void change(DataType &value) { value = changed == "dropout.seed" ? DataType::S64 : DataType::F64; }
  void change(ScratchpadMode &value) { value = ScratchpadMode::User; }
  void change(FpmathMode &value) { value = FpmathMode::TF32; }
  void change(AccumulationMode &value) { value = AccumulationMode::F16; }
  void change(PostOp::Kind &value) { value = value == PostOp::Kind::Prelu ? PostOp::Kind::Sum : PostOp::Kind::Prelu; }
  void change(std::string &value) { value = "a %#?'\n\xff,(=)"; }
  void change(std::vector<int64_t> &value) { value = {2, 32}; }
  void change(std::vector<float> &value) { value.push_back(0.1f); }
  void change(std::vector<TensorDesc> &value) { value = {smallTensor(), TensorDesc(), smallTensor()}; }
  void change(std::vector<PostOp> &value) { value.emplace_back().kind = PostOp::Kind::Sum; }
  void change(std::map<int32_t, QuantParams> &value) { value[17]; }
};

/// Expects that the two differ everywhere, and that text and bytes preserve `changed`.
void expectNoticed(const PrimitiveDesc &base, const PrimitiveDesc &changed, const std::string &what) {
  EXPECT_FALSE(base == changed) << what;
  EXPECT_NE(base.canonicalBytes(), changed.canonicalBytes()) << what;
  EXPECT_NE(base.text(), changed.text()) << what;
  KernelKey a = makeKey(base, Target()), b = makeKey(changed, Target());
  EXPECT_NE(a.bytes, b.bytes) << what;
  EXPECT_NE(a.digest, b.digest) << what;
  Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(changed.text());
  ASSERT_TRUE(parsed) << what << ": " << parsed.error().message;
  EXPECT_EQ(*parsed, changed) << what << ": " << changed.text();
  Result<PrimitiveDesc> read = PrimitiveDesc::fromBytes(changed.canonicalBytes());
  ASSERT_TRUE(read) << what << ": " << read.error().message;
  EXPECT_EQ(*read, changed) << what;
}

/// Mutates every leaf of `part(desc)`; returns their number.
template <typename Part> int mutateAll(const PrimitiveDesc &base, const Part &part, const char *name) {
  for (int target = 0;; ++target) {
    PrimitiveDesc changed = base;
    Mutator mutator{target, 0, {}, {}};
    auto &fields = part(changed);
    std::remove_reference_t<decltype(fields)>::visitFields(fields, mutator);
    if (target >= mutator.index)
      return target;
    expectNoticed(base, changed, std::string(name) + "." + mutator.changed);
  }
}

/// Mutates every field of an operation; returns their number.
template <typename Op> int mutateAllOf() {
  PrimitiveDesc desc;
  EXPECT_TRUE(desc.setKind(kindOf<Op>));
  EXPECT_EQ(desc.kind(), kindOf<Op>);
  return mutateAll(
      desc, [](PrimitiveDesc &d) -> auto & { return std::get<Op>(d.op); }, std::string(nameOf(kindOf<Op>)).c_str());
}

} // namespace

TEST(Fields, ChangesOfOperationsAreNoticed) {
  EXPECT_EQ(mutateAllOf<SoftmaxDesc>(), 7);
  EXPECT_EQ(mutateAllOf<ReorderDesc>(), 4);
  EXPECT_EQ(mutateAllOf<Boxed<RnnDesc>>(), 32);
  EXPECT_EQ(mutateAllOf<EltwiseDesc>(), 8);
  EXPECT_EQ(mutateAllOf<BinaryDesc>(), 5);
  EXPECT_EQ(mutateAllOf<SumDesc>(), 3);
  EXPECT_EQ(mutateAllOf<ConcatDesc>(), 3);
  EXPECT_EQ(mutateAllOf<GemmDesc>(), 7);
  EXPECT_EQ(mutateAllOf<MlirDesc>(), 8);
  EXPECT_FALSE(PrimitiveDesc().setKind(PrimitiveKind::Undef));
}

TEST(Fields, ChangesOfAttributesAreNoticed) {
  EXPECT_EQ(mutateAll(PrimitiveDesc(), [](PrimitiveDesc &d) -> auto & { return d.attr; }, "attr"), 19);
  PrimitiveDesc desc;
  desc.attr.scales[1];
  desc.attr.zeroPoints[17];
  EXPECT_EQ(mutateAll(desc, [](PrimitiveDesc &d) -> auto & { return d.attr.scales[1]; }, "scales"), 4);
  EXPECT_EQ(mutateAll(desc, [](PrimitiveDesc &d) -> auto & { return d.attr.zeroPoints[17]; }, "zero_points"), 4);
  PrimitiveDesc other = desc;
  other.attr.scales.erase(1);
  other.attr.scales[2];
  expectNoticed(desc, other, "argument of scales");
}

// A field is valid only for some kinds; for the others it must be refused, and still count in equality and bytes.
TEST(Fields, ChangesOfPostOpsAreNoticed) {
  PostOp eltwise, binary, select, sum, prelu;
  eltwise.alg = Alg::EltwiseRelu;
  binary.kind = select.kind = PostOp::Kind::Binary;
  binary.alg = Alg::BinaryAdd;
  select.alg = Alg::BinarySelect;
  binary.src1 = select.src1 = select.src2 = *TensorDesc::fromTag(std::vector<int64_t>{4}, DataType::F32, "a");
  sum.kind = PostOp::Kind::Sum;
  prelu.kind = PostOp::Kind::Prelu;
  std::map<std::string, int> legal;
  for (const PostOp &op : {eltwise, binary, select, sum, prelu}) {
    PrimitiveDesc base;
    base.attr.postOps = {op};
    ASSERT_TRUE(base.attr.validate()) << nameOf(op.kind);
    for (int target = 0; target < 10; ++target) {
      PrimitiveDesc changed = base;
      Mutator mutator{target, 0, {}, {}};
      PostOp::visitFields(changed.attr.postOps[0], mutator);
      ASSERT_EQ(mutator.index, 10);
      if (mutator.changed == "alg") // to another algorithm of the same kind
        changed.attr.postOps[0].alg = op.kind == PostOp::Kind::Binary ? Alg::BinaryMul : Alg::EltwiseExp;
      EXPECT_FALSE(base == changed);
      EXPECT_NE(base.canonicalBytes(), changed.canonicalBytes()) << mutator.changed;
      EXPECT_NE(base.text(), changed.text()) << mutator.changed;
      if (changed.attr.validate()) {
        ++legal[mutator.changed];
        expectNoticed(base, changed, mutator.changed);
      } else {
        EXPECT_FALSE(PrimitiveDesc::fromBytes(changed.canonicalBytes())) << mutator.changed;
      }
    }
  }
  for (const char *field : {"alg", "alpha", "beta", "scale", "zero_point", "type", "src1", "src2", "mask"})
    EXPECT_GE(legal[field], 1) << field;
}

TEST(Fields, ChangesOfTensorsAreNoticed) {
  struct Change {
    const char *name;
    std::function<void(TensorDesc &)> apply;
  };
  TensorDesc base = smallTensor();
  base.extras.flags = ExtraS8S8 | ExtraAsymmetricSource | ExtraScaleAdjust;
  const Change changes[] = {
      {"ndims and dims",
       [](TensorDesc &d) { d.dims[2] = d.paddedDims[2] = d.strides[2] = 1, d.strides[2] = 16, ++d.ndims; }},
      {"dims", [](TensorDesc &d) { d.dims[1] = 23; }},
      {"dataType", [](TensorDesc &d) { d.dataType = DataType::U8; }},
      {"paddedDims", [](TensorDesc &d) { d.paddedDims[0] = 5; }},
      {"paddedOffsets", [](TensorDesc &d) { d.paddedOffsets[1] = 3; }},
      {"offset0", [](TensorDesc &d) { d.offset0 = 9; }},
      {"formatKind", [](TensorDesc &d) { d = *TensorDesc::fromTag(std::vector<int64_t>{4, 24}, DataType::S8, "any"); }},
      {"strides", [](TensorDesc &d) { d.strides[0] = 64; }},
      {"innerBlocks",
       [](TensorDesc &d) { d.innerBlockCount = 2, d.innerBlocks[0] = 4, d.innerBlocks[1] = 4, d.innerIndices[1] = 1; }},
      {"innerIndices",
       [](TensorDesc &d) {
         d.innerIndices[0] = 0, d.paddedDims[0] = 16, d.paddedDims[1] = 24, d.strides[1] = 16, d.strides[0] = 384;
       }},
      {"extras.flags", [](TensorDesc &d) { d.extras.flags |= ExtraRnnU8S8; }},
      {"extras.compensationMask", [](TensorDesc &d) { d.extras.compensationMask = 1; }},
      {"extras.asymmetricCompensationMask", [](TensorDesc &d) { d.extras.asymmetricCompensationMask = 2; }},
      {"extras.scaleAdjust", [](TensorDesc &d) { d.extras.scaleAdjust = -0.0f; }},
  };
  PrimitiveDesc problem;
  std::get<SoftmaxDesc>(problem.op).src = base;
  for (const Change &one : changes) {
    PrimitiveDesc changed = problem;
    TensorDesc &desc = std::get<SoftmaxDesc>(changed.op).src;
    one.apply(desc);
    ASSERT_TRUE(desc.validate()) << one.name << ": " << desc.validate().error().message;
    expectNoticed(problem, changed, one.name);
  }
}

// Adding a member to a struct without adding it to its list changes the size. Then add it to visitFields() and correct
// the number here.
TEST(Fields, StructSizesAreKnown) {
  EXPECT_EQ(sizeof(QuantParams), 40u);
  // The last term is the depthwise convolution, which is never serialized.
  EXPECT_EQ(sizeof(PostOp), 32 + 2 * sizeof(TensorDesc) + 8 + 40);
  EXPECT_EQ(sizeof(RnnQuantization), 72u);
  EXPECT_EQ(sizeof(Dropout), 8 + sizeof(TensorDesc));
  // The last term holds attributes that no primitive computes and the tiers of a primitive, which are never serialized.
  EXPECT_EQ(sizeof(Attributes),
            24 + 2 * sizeof(std::map<int32_t, QuantParams>) + 24 + sizeof(RnnQuantization) + sizeof(Dropout) + 32);
  EXPECT_EQ(sizeof(SoftmaxDesc), 8 + 4 * sizeof(TensorDesc) + 8);
  EXPECT_EQ(sizeof(ReorderDesc), 2 * sizeof(TensorDesc) + 8);
  EXPECT_EQ(sizeof(RnnDesc), 32 + 25 * sizeof(TensorDesc));
  EXPECT_EQ(sizeof(EltwiseDesc), 16 + 4 * sizeof(TensorDesc));
  EXPECT_EQ(sizeof(BinaryDesc), 8 + 4 * sizeof(TensorDesc));
  EXPECT_EQ(sizeof(SumDesc), 48 + sizeof(TensorDesc));
  EXPECT_EQ(sizeof(ConcatDesc), 32 + sizeof(TensorDesc));
  EXPECT_EQ(sizeof(GemmDesc), 8 + 3 * sizeof(TensorDesc));
  EXPECT_EQ(sizeof(MlirDesc), 6 * sizeof(std::string) + sizeof(std::vector<TensorDesc>) + 8);
}

// Copies are deep. RnnDesc is boxed, so that other descriptors do not have its size.
TEST(Fields, RnnDescriptorsAreBoxed) {
  EXPECT_LT(sizeof(PrimitiveDesc), sizeof(RnnDesc) / 2);
  PrimitiveDesc desc;
  desc.op = RnnDesc();
  PrimitiveDesc copy = desc, assigned;
  assigned = desc;
  std::get<Boxed<RnnDesc>>(desc.op)->flags = RnnStackConcatenated;
  EXPECT_EQ(std::get<Boxed<RnnDesc>>(copy.op)->flags, 0u);
  EXPECT_EQ(copy, assigned);
  EXPECT_NE(copy, desc);
  assigned = std::move(desc);
  EXPECT_EQ(std::get<Boxed<RnnDesc>>(assigned.op)->flags, RnnStackConcatenated);
}

TEST(Fields, FloatsDifferByTheirBits) {
  PrimitiveDesc plus, minus, nan, otherNan;
  plus.attr.rnn.dataShift = 0.0f;
  minus.attr.rnn.dataShift = -0.0f;
  nan.attr.rnn.dataShift = std::bit_cast<float>(0x7fc00000u);
  otherNan.attr.rnn.dataShift = std::bit_cast<float>(0xffc00001u);
  expectNoticed(plus, minus, "-0");
  expectNoticed(plus, nan, "nan");
  expectNoticed(nan, otherNan, "another nan");
  EXPECT_TRUE(nan == nan);
}
