//===- NpyTest.cpp - Valid and malformed .npy files -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests files as NumPy writes them, every element type, both orders, and one refusal for each check.
//
//===----------------------------------------------------------------------===//
#include "Npy.h"

#include "Reference/Elements.h"

#include <gtest/gtest.h>

using namespace quern;

namespace {

std::string npy(const std::string &header, const std::string &data, int major = 1) {
  std::string file("\x93NUMPY", 6);
  file +=
      {static_cast<char>(major), '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  if (major > 1)
    file += {'\0', '\0'};
  return file + header + data;
}

std::string reasonFor(const std::string &bytes) {
  Result<NpyArray> array = parseNpy(bytes);
  return array ? "" : array.error().message;
}

const std::string f4Header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }       \n";

TEST(Npy, ReadsEveryVersion) {
  for (int major : {1, 2, 3}) {
    std::string bytes = npy(f4Header, std::string(24, 'x'), major);
    Result<NpyArray> array = parseNpy(bytes);
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array->kind, 'f');
    EXPECT_EQ(array->itemBytes, 4);
    EXPECT_FALSE(array->fortranOrder);
    EXPECT_EQ(array->data.size(), 24u);
  }
}

TEST(Npy, RoundTripsEveryType) {
  std::vector<int64_t> dims = {2, 3};
  for (DataType type : {DataType::F64, DataType::F32, DataType::F16, DataType::BF16, DataType::S32, DataType::S8,
                        DataType::U8, DataType::F8E5M2, DataType::F8E4M3, DataType::E8M0}) {
    TensorDesc columns = *TensorDesc::fromTag(dims, type, "ba"), rows = *TensorDesc::dense(dims, type);
    std::string in(static_cast<size_t>(columns.bytes()), '\0'), out(static_cast<size_t>(rows.bytes()), '\0');
    std::vector<double> values = {0, 1, 2, 3, 4, 5};
    scatter(columns, in.data(), values);
    Result<std::string> file = writeNpy(columns, in.data());
    ASSERT_TRUE(file);
    EXPECT_EQ((file->size() - out.size()) % 64, 0u);
    Result<NpyArray> array = parseNpy(*file);
    ASSERT_TRUE(array) << array.error().message;
    ASSERT_TRUE(copyNpyTo(*array, rows, out.data()));
    EXPECT_EQ(gather(rows, out.data()), gather(columns, in.data()));
  }
}

TEST(Npy, FortranOrder) {
  std::vector<int64_t> dims = {2, 3};
  TensorDesc desc = *TensorDesc::dense(dims, DataType::U8);
  std::string bytes =
      npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", std::string("\0\3\1\4\2\5", 6));
  Result<NpyArray> array = parseNpy(bytes);
  ASSERT_TRUE(array);
  std::string out(6, '\0');
  ASSERT_TRUE(copyNpyTo(*array, desc, out.data()));
  EXPECT_EQ(out, std::string("\0\1\2\3\4\5", 6));
}

TEST(Npy, RawWordsForBf16) {
  std::vector<int64_t> dims = {2};
  TensorDesc desc = *TensorDesc::dense(dims, DataType::BF16);
  for (const char *type : {"<u2", "<V2", "|V2"}) {
    std::string bytes = npy(concat("{'descr': '", type, "', 'fortran_order': False, 'shape': (2,), }\n"),
                            std::string("\x80\x3f\0\xc0", 4));
    Result<NpyArray> array = parseNpy(bytes);
    ASSERT_TRUE(array);
    std::string out(4, '\0');
    ASSERT_TRUE(copyNpyTo(*array, desc, out.data()));
    EXPECT_EQ(gather(desc, out.data()), (std::vector<double>{1, -2}));
  }
}

TEST(Npy, MismatchesNameBothSides) {
  std::string bytes = npy(f4Header, std::string(24, '\0'));
  Result<NpyArray> array = parseNpy(bytes);
  ASSERT_TRUE(array);
  char out[64];
  Result<void> shape = copyNpyTo(*array, *TensorDesc::dense(std::vector<int64_t>{3, 2}, DataType::F32), out);
  EXPECT_EQ(shape.error().message, "npy: shape (2, 3) does not match the tensor's (3, 2)");
  Result<void> type = copyNpyTo(*array, *TensorDesc::dense(std::vector<int64_t>{2, 3}, DataType::BF16), out);
  EXPECT_EQ(type.error().message, "npy: element type f4 does not match bf16, which needs <u2");
}

TEST(Npy, RefusesWhatIsMalformed) {
  std::string good = npy(f4Header, std::string(24, 'x'));
  EXPECT_EQ(reasonFor(good), "");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(reasonFor(good.substr(0, size)), "") << size;
  EXPECT_NE(reasonFor(good + "x"), "");
  const char *const headers[] = {
      "",
      "{}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '>f4', 'fortran_order': False, 'shape': (6,)}",
      "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (6}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904)}",
      ("{'descr': '<f4', 'fortran_order': False, 'shape': "
       "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6)}"),
  };
  for (const char *header : headers)
    EXPECT_NE(reasonFor(npy(header, std::string(24, 'x'))), "") << header;
  EXPECT_EQ(reasonFor(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}", std::string(24, 'x'))),
            "npy: shape (7,) needs 28 bytes of data; the file has 24");
}

TEST(Npy, EmptyArrays) {
  std::string bytes = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 4611686018427387904), }\n", "");
  EXPECT_EQ(reasonFor(bytes), "");
}

} // namespace
