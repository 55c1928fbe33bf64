//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The header is a Python dict literal. This file parses the subset that NumPy itself writes: the keys descr,
// fortran_order and shape, once each, in any order.
//
//===----------------------------------------------------------------------===//
#include "Npy.h"

#include "Reference/Elements.h"

#include <cstring>

namespace quern {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr size_t maxHeaderBytes = 65536;
constexpr size_t maxRank = 32; // the limit of NumPy 1.x

/// Parses the dict literal from left to right and keeps the first error.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Result<NpyArray> parse() {
    NpyArray array;
    bool hasType = false, hasOrder = false, hasShape = false;
    expect('{');
    while (reason.empty() && !accept('}')) {
      std::string_view key = quoted();
      expect(':');
      bool *seen = key == "descr"           ? &hasType
                   : key == "fortran_order" ? &hasOrder
                   : key == "shape"         ? &hasShape
                                            : nullptr;
      if (!seen)
        fail(concat("unknown key '", key, "'"));
      else if (*seen)
        fail(concat("key '", key, "' appears twice"));
      else {
        *seen = true;
        key == "descr" ? parseType(array) : key == "shape" ? parseShape(array) : parseOrder(array);
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (at != text.size())
      fail("text after the dictionary");
    if (!hasType || !hasOrder || !hasShape)
      fail("descr, fortran_order and shape are all required");
    if (!reason.empty())
      return invalidArguments("npy header: ", reason, " (at byte ", at, " of the header)");
    return array;
  }

private:
  void fail(std::string why) {
    if (reason.empty())
      reason = std::move(why);
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool accept(char c) {
    skipSpace();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (reason.empty() && !accept(c))
      fail(concat("expected '", c, "'"));
  }
  bool acceptWord(std::string_view word) {
    skipSpace();
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  std::string_view quoted() {
    char quote = accept('\'') ? '\'' : accept('"') ? '"' : '\0';
    size_t end = quote ? text.find(quote, at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail("expected a quoted string");
      return {};
    }
    std::string_view inside = text.substr(at, end - at);
    at = end + 1;
    return inside;
  }

  void parseType(NpyArray &array) {
    std::string_view type = quoted();
    bool wellFormed = type.size() == 3 && (type[0] == '<' || type[0] == '|') &&
                      std::string_view("fiuV").find(type[1]) != type.npos &&
                      std::string_view("1248").find(type[2]) != type.npos;
    if (!wellFormed)
      return fail(concat("descr '", type, "' is not a little-endian type of 1, 2, 4 or 8 bytes"));
    array.kind = type[1];
    array.itemBytes = type[2] - '0';
  }

  void parseOrder(NpyArray &array) {
    if (acceptWord("True"))
      array.fortranOrder = true;
    else if (!acceptWord("False"))
      fail("fortran_order is neither True nor False");
  }

  void parseShape(NpyArray &array) {
    expect('(');
    while (reason.empty() && !accept(')')) {
      array.shape.push_back(integer());
      if (array.shape.size() > maxRank)
        fail(concat("rank over the limit of ", maxRank));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  int64_t integer() {
    skipSpace();
    int64_t value = 0;
    size_t start = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[at] - '0', &value))
        fail("a dim exceeds 2^63 - 1");
    if (at == start)
      fail("expected a dim");
    return value;
  }

  std::string_view text;
  size_t at = 0;
  std::string reason;
};

std::string shapeText(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

bool typeMatches(const NpyArray &array, DataType type) {
  const char *expected = npyTypeOf(type);
  if (!expected || array.itemBytes != expected[2] - '0')
    return false;
  bool isRaw = type == DataType::BF16 || type == DataType::F8E5M2 || type == DataType::F8E4M3 || type == DataType::E8M0;
  return array.kind == expected[1] || (isRaw && array.kind == 'V');
}

Result<void> checkDataSize(const NpyArray &array) {
  uint64_t bytes = static_cast<uint64_t>(array.itemBytes);
  bool isEmpty = false;
  for (int64_t dim : array.shape)
    isEmpty = isEmpty || dim == 0;
  for (int64_t dim : array.shape)
    if (!isEmpty && __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes))
      return invalidArguments("npy: shape ", shapeText(array.shape), " overflows 2^64 bytes");
  if (isEmpty)
    bytes = 0;
  if (bytes != array.data.size())
    return invalidArguments("npy: shape ", shapeText(array.shape), " needs ", bytes, " bytes of data; the file has ",
                            array.data.size());
  return {};
}

} // namespace

const char *npyTypeOf(DataType type) {
  switch (type) {
  case DataType::F64:
    return "<f8";
  case DataType::F32:
    return "<f4";
  case DataType::F16:
    return "<f2";
  case DataType::BF16:
    return "<u2";
  case DataType::S32:
    return "<i4";
  case DataType::S8:
    return "|i1";
  case DataType::U8:
  case DataType::F8E5M2:
  case DataType::F8E4M3:
  case DataType::E8M0:
    return "|u1";
  default:
    return nullptr;
  }
}

Result<NpyArray> parseNpy(std::string_view bytes) {
  if (!bytes.starts_with(magic))
    return invalidArguments("npy: the file does not start with \\x93NUMPY");
  ByteReader reader(bytes.substr(magic.size()));
  int major = reader.get<uint8_t>(), minor = reader.get<uint8_t>();
  if (!reader.ok() || major < 1 || major > 3 || minor != 0)
    return invalidArguments("npy: format version ", major, ".", minor, " is not 1.0, 2.0 or 3.0");
  size_t headerBytes = major == 1 ? reader.get<uint16_t>() : reader.get<uint32_t>();
  if (!reader.ok() || headerBytes > reader.remaining())
    return invalidArguments("npy: the file ends inside its header");
  if (headerBytes > maxHeaderBytes)
    return invalidArguments("npy: a header of ", headerBytes, " bytes exceeds the limit of ", maxHeaderBytes);
  QUERN_ASSIGN_OR_RETURN(NpyArray array, HeaderParser(reader.getBytes(headerBytes)).parse());
  array.data = reader.getBytes(reader.remaining());
  QUERN_RETURN_IF_ERROR(checkDataSize(array));
  return array;
}

Result<void> copyNpyTo(const NpyArray &array, const TensorDesc &desc, void *buffer) {
  if (!typeMatches(array, desc.dataType))
    return invalidArguments("npy: element type ", array.kind, array.itemBytes, " does not match ",
                            nameOf(desc.dataType), ", which needs ",
                            npyTypeOf(desc.dataType) ? npyTypeOf(desc.dataType) : "a type with whole bytes");
  std::span<const int64_t> shape = desc.shape();
  if (!std::equal(shape.begin(), shape.end(), array.shape.begin(), array.shape.end()))
    return invalidArguments("npy: shape ", shapeText(array.shape), " does not match the tensor's ", shapeText(shape));
  if (desc.isZero() || desc.hasZeroDim())
    return {};
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t dim = array.fortranOrder ? i : shape.size() - 1 - i;
    strides[dim] = stride;
    stride *= std::max<int64_t>(shape[dim], 1);
  }
  QUERN_ASSIGN_OR_RETURN(TensorDesc source, TensorDesc::fromStrides(shape, desc.dataType, strides));
  std::vector<int64_t> offsets(static_cast<size_t>(desc.elements()));
  forEachElement(source, [&](int64_t position, int64_t offset) { offsets[static_cast<size_t>(position)] = offset; });
  size_t itemBytes = static_cast<size_t>(array.itemBytes);
  forEachElement(desc, [&](int64_t position, int64_t offset) {
    std::memcpy(static_cast<char *>(buffer) + static_cast<size_t>(offset) * itemBytes,
                array.data.data() + static_cast<size_t>(offsets[static_cast<size_t>(position)]) * itemBytes, itemBytes);
  });
  return {};
}

Result<std::string> writeNpy(const TensorDesc &desc, const void *buffer) {
  const char *type = npyTypeOf(desc.dataType);
  if (!type)
    return unimplemented("npy: ", nameOf(desc.dataType), " has no form in a .npy file");
  std::string header =
      concat("{'descr': '", type, "', 'fortran_order': False, 'shape': ", shapeText(desc.shape()), ", }");
  // The format requires that magic, version, length, header and newline together are a multiple of 64 bytes.
  constexpr size_t preamble = magic.size() + 4;
  header.append(63 - (preamble + header.size()) % 64, ' ');
  header += '\n';
  std::string file(magic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  file += header;
  size_t start = file.size(), itemBytes = static_cast<size_t>(type[2] - '0');
  file.resize(start + static_cast<size_t>(desc.elements()) * itemBytes);
  forEachElement(desc, [&](int64_t position, int64_t offset) {
    std::memcpy(file.data() + start + static_cast<size_t>(position) * itemBytes,
                static_cast<const char *>(buffer) + static_cast<size_t>(offset) * itemBytes, itemBytes);
  });
  return file;
}

} // namespace quern
