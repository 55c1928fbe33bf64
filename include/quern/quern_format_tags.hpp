//===- quern/quern_format_tags.hpp - Layouts by oneDNN's names ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The layouts of dnnl.hpp (oneDNN 3.13) with their values. Functions of Quern also accept other layouts, by name.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_FORMAT_TAGS_HPP
#define QUERN_FORMAT_TAGS_HPP

namespace quern {

// clang-format off: packed tables
/// Expands X(name) for each tag, in the order of the values: 0 (undef), 1 (any), …
#define QUERN_FORMAT_TAGS(X)                                                                                           \
  X(undef) X(any) X(a) X(ab) X(abc) X(abcd) X(abcde) X(abcdef) X(abcdefg) X(abcdefgh) X(abcdefghi) X(abcdefghij)       \
  X(abcdefghijk) X(abcdefghijkl) X(ba) X(acb) X(bac) X(bca) X(cab) X(cba) X(abdc) X(acbd) X(acdb) X(adbc) X(adcb)      \
  X(bacd) X(bcda) X(cdab) X(cdba) X(dcab) X(abced) X(abdec) X(acbde) X(acdeb) X(adecb) X(bacde) X(bcdea) X(cdeab)      \
  X(cdeba) X(decab) X(abcdfe) X(abdefc) X(abdfce) X(acbdef) X(adefcb) X(defcab) X(abcdegf) X(abcdefhg) X(abcdefgih)    \
  X(abcdefghji) X(abcdefghikj) X(abcdefghijlk) X(Abc16a) X(ABc16a16b) X(ABc32a32b) X(ABc4a4b) X(aBc16b) X(ABc16b16a)   \
  X(Abc4a) X(aBc32b) X(aBc4b) X(ABc4b16a4b) X(ABc2b8a4b) X(ABc16b16a4b) X(ABc16b16a2b) X(ABc4b4a) X(ABc8a16b2a)        \
  X(ABc8a8b) X(ABc8a4b) X(aBc8b) X(ABc8b16a2b) X(BAc8a16b2a) X(ABc8b8a) X(Abcd16a) X(Abcd8a) X(ABcd16a16b)             \
  X(Abcd32a) X(ABcd32a32b) X(aBcd16b) X(ABcd16b16a) X(aBCd16b16c) X(aBCd16c16b) X(Abcd4a) X(aBcd32b) X(aBcd4b)         \
  X(ABcd4b16a4b) X(ABcd16b16a4b) X(ABcd16b16a2b) X(ABcd4b4a) X(ABcd4a4b) X(aBCd2c4b2c) X(aBCd4b8c2b) X(aBCd4c16b4c)    \
  X(aBCd2c8b4c) X(aBCd16c16b4c) X(aBCd16c16b2c) X(aBCd4c4b) X(aBCd4b4c) X(ABcd8a16b2a) X(ABcd2b8a4b) X(ABcd8a8b)       \
  X(ABcd8a4b) X(aBcd8b) X(aBCd4c8b2c) X(ABcd8b16a2b) X(aBCd8b16c2b) X(BAcd8a16b2a) X(ABcd8b8a) X(aBCd8b8c)             \
  X(aBCd8b4c) X(aBCd8c16b2c) X(ABcde8a16b2a) X(aCBd8b16c2b) X(aBCd8c8b) X(Abcde16a) X(Abcde32a) X(ABcde16a16b)         \
  X(BAcde8a16b2a) X(aBCd2b4c2b) X(ABcde4b16a4b) X(ABcde2b8a4b) X(aBcde16b) X(ABcde16b16a) X(aBCde16b16c)               \
  X(aBCde16c16b) X(aBCde2c8b4c) X(Abcde4a) X(aBcde32b) X(aBcde4b) X(ABcde4b4a) X(ABcde4a4b) X(aBCde4b4c)               \
  X(aBCde2c4b2c) X(aBCde4b8c2b) X(aBCde4c16b4c) X(aBCde16c16b4c) X(aBCde16c16b2c) X(aBCde4c4b) X(Abcde8a)              \
  X(ABcde8a8b) X(ABcde8a4b) X(BAcde16b16a) X(aBcde8b) X(ABcde8b16a2b) X(aBCde8b16c2b) X(aBCde4c8b2c) X(aCBde8b16c2b)   \
  X(ABcde8b8a) X(ABcde32a32b) X(aBCde8b8c) X(aBCde8b4c) X(ABc4a8b8a4b) X(ABcd4a8b8a4b) X(ABcde4a8b8a4b)                \
  X(BAc4b8a8b4a) X(BAcd4b8a8b4a) X(BAcde4b8a8b4a) X(ABcd2a8b8a2b) X(aBCd4b8c8b4c) X(aBCde4b8c8b4c) X(aBCde2b8c8b2c)    \
  X(aBCde8c16b2c) X(aBCde8c8b) X(aBCde2b4c2b) X(aBcdef16b) X(aBCdef16b16c) X(aBCdef16c16b) X(aBCdef4c16b4c)            \
  X(aBCdef2c8b4c) X(aBCdef4c8b2c) X(aBCdef2b4c2b) X(aBcdef4b) X(aBCdef4c4b) X(aBCdef4b4c) X(aBCdef2c4b2c)              \
  X(aBCdef4b8c2b) X(aBCdef8b8c) X(aBCdef8b4c) X(aBCdef8c16b2c) X(aBCdef4b8c8b4c) X(aBCdef8b16c2b) X(aCBdef8b16c2b)     \
  X(aBCdef8c8b) X(aBdc16b) X(aBdC16b2c) X(aBdC16b4c) X(aBdc4b) X(aBdc8b) X(aBdec16b) X(aBdeC16b2c) X(aBdeC16b4c)       \
  X(aBdec32b) X(aBdec4b) X(aBdec8b) X(aBdefc16b) X(aBdefC16b2c) X(aCBdef16c16b) X(aBdefc4b) X(aBdefc8b) X(Abcdef16a)   \
  X(Abcdef32a) X(aBedc16b) X(Acb16a) X(AcB16a2b) X(AcB16a4b) X(Acb4a) X(Acb8a) X(aCBd16b16c) X(aCBd16c16b)             \
  X(aCBde16b16c) X(aCBde16c16b) X(Acdb16a) X(AcdB16a2b) X(AcdB16a4b) X(Acdb32a) X(Acdb4a) X(Acdb8a) X(Acdeb16a)        \
  X(AcdeB16a2b) X(Acdeb4a) X(Acdeb8a) X(Adcb16a) X(BAc16a16b) X(BAc16b16a) X(BAcd16a16b) X(BAcd16b16a)                 \
  X(aCBd4c8b8c4b) X(aCBde4c8b8c4b) X(aCBdef4c8b8c4b) X(BAcde16a16b) X(aCBdef16b16c) X(ABc16b32a) X(ABc16b64a)          \
  X(ABc4b32a4b) X(ABc4b64a4b) X(ABc8b32a2b) X(ABc8b64a2b) X(AB16b16a) X(AB16b32a) X(AB16b64a) X(AB8b16a2b)             \
  X(AB8b32a2b) X(AB8b64a2b) X(AB4b16a4b) X(AB4b32a4b) X(AB4b64a4b) X(AB16b16a4b) X(ABcd16b32a) X(ABcd16b64a)           \
  X(ABcd4b32a4b) X(ABcd4b64a4b) X(ABcd8b32a2b) X(ABcd8b64a2b) X(ABcde4b32a4b) X(ABcde4b64a4b) X(ABcde16b16a4b)         \
  X(ABcde16b16a2b) X(ABcde16b32a) X(ABcde16b64a) X(ABcde8b32a2b) X(ABcde8b64a2b) X(aBCdef16c16b4c) X(aBCdef16c16b2c)   \
  X(AB32a32b8a4b) X(AB8a4b) X(AB32a32b8a2b) X(AB8a2b) X(abDc32d) X(abDC32d4c) X(abdEc32e) X(abdEC32e2c)                \
  X(abdEC32e4c) X(aBdefC16b4c) X(AcdeB16a4b) X(ABcd16a16b2a) X(ABc16a16b2a) X(aBCd16b16c2b) X(aBCde16b16c2b)           \
  X(Acb32a) X(AcB32a2b) X(AcB32a4b) X(Acb48a) X(AcB48a2b) X(AcB48a4b) X(Acb64a) X(AcB64a2b) X(AcB64a4b) X(cBa2b)       \
  X(cBa4b) X(aBdc32b) X(aBdC32b2c) X(aBdC32b4c) X(aBdc48b) X(aBdC48b2c) X(aBdC48b4c) X(aBdc64b) X(aBdC64b2c)           \
  X(aBdC64b4c) X(adCb2c) X(adCb4c) X(AcdB32a2b) X(AcdB32a4b) X(Acdb48a) X(AcdB48a2b) X(AcdB48a4b) X(Acdb64a)           \
  X(AcdB64a2b) X(AcdB64a4b) X(cdBa2b) X(cdBa4b) X(aBdeC32b2c) X(aBdeC32b4c) X(aBdec48b) X(aBdeC48b2c) X(aBdeC48b4c)    \
  X(aBdec64b) X(aBdeC64b2c) X(aBdeC64b4c) X(adeCb2c) X(adeCb4c) X(Acdeb32a) X(AcdeB32a2b) X(AcdeB32a4b) X(Acdeb48a)    \
  X(AcdeB48a2b) X(AcdeB48a4b) X(Acdeb64a) X(AcdeB64a2b) X(AcdeB64a4b) X(cdeBa2b) X(cdeBa4b) X(aBdefc32b)               \
  X(aBdefC32b2c) X(aBdefC32b4c) X(aBdefc48b) X(aBdefC48b2c) X(aBdefC48b4c) X(aBdefc64b) X(aBdefC64b2c)                 \
  X(aBdefC64b4c) X(adefCb2c) X(adefCb4c) X(AB16b32a4b) X(AB16b48a4b) X(AB16b64a4b) X(AB16b16a2b) X(AB16b32a2b)         \
  X(AB16b48a2b) X(AB16b64a2b) X(ABc16b32a4b) X(ABc16b48a4b) X(ABc16b64a4b) X(ABc16b32a2b) X(ABc16b48a2b)               \
  X(ABc16b64a2b) X(ABcd16b32a4b) X(ABcd16b48a4b) X(ABcd16b64a4b) X(ABcd16b32a2b) X(ABcd16b48a2b) X(ABcd16b64a2b)       \
  X(ABcde16b32a4b) X(ABcde16b48a4b) X(ABcde16b64a4b) X(ABcde16b32a2b) X(ABcde16b48a2b) X(ABcde16b64a2b) X(ABc32a16b)   \
  X(ABcd32a16b) X(ABcde32a16b) X(AB48a16b) X(AB48a32b) X(ABc40a16b) X(ABc40a32b) X(aBC48b16c) X(aBC48b32c)             \
  X(ABcd40a16b) X(ABcd40a32b) X(abCd32c) X(abdCe32c) X(abdCE32c2e) X(BA16a16b2a) X(BA16a32b2a) X(BA16a48b2a)           \
  X(BA16a64b2a) X(BA16a16b4a) X(BA16a32b4a) X(BA16a48b4a) X(BA16a64b4a) X(ABcd8a2b) X(aBdeC16c16b2c)                   \
  X(aBdeC16c16b4c) X(aBdefC16c16b2c) X(AcB16b16a2b) X(AcB16b16a4b) X(AcdB16b16a2b) X(AcdB16b16a4b) X(AcdeB16b16a2b)    \
  X(aBdefC16c16b4c) X(AcdeB16b16a4b) X(AcB16b32a2b) X(AcB16b32a4b) X(AcB16b48a2b) X(AcB16b48a4b) X(AcB16b64a2b)        \
  X(AcB16b64a4b) X(aBdC16c16b2c) X(aBdC16c16b4c) X(aBdC16c32b2c) X(aBdC16c32b4c) X(aBdC16c48b2c) X(aBdC16c48b4c)       \
  X(aBdC16c64b2c) X(aBdC16c64b4c) X(AcdB16b32a2b) X(AcdB16b32a4b) X(AcdB16b48a2b) X(AcdB16b48a4b) X(AcdB16b64a2b)      \
  X(AcdB16b64a4b) X(aBdeC16c32b2c) X(aBdeC16c32b4c) X(aBdeC16c48b2c) X(aBdeC16c48b4c) X(aBdeC16c64b2c)                 \
  X(aBdeC16c64b4c) X(AcdeB16b32a2b) X(AcdeB16b32a4b) X(AcdeB16b48a2b) X(AcdeB16b48a4b) X(AcdeB16b64a2b)                \
  X(AcdeB16b64a4b) X(aBdefC16c32b2c) X(aBdefC16c32b4c) X(aBdefC16c48b2c) X(aBdefC16c48b4c) X(aBdefC16c64b2c)           \
  X(aBdefC16c64b4c) X(decbA16a) X(ABc4a2b) X(ABc8a2b) X(aBCd8b2c) X(ABcde4a2b) X(ABcde8a2b) X(ABcde40a16b)             \
  X(ABcde40a32b) X(aBCde8b2c) X(ABcde4a8b8a2b) X(ABcd4a8b8a2b) X(ABc4a8b8a2b) X(aBCdef4b8c8b2c) X(aBCde4b8c8b2c)       \
  X(aBCd4b8c8b2c) X(BAcde4b8a8b2a) X(BAcd4b8a8b2a) X(BAc4b8a8b2a) X(aCBdef4c8b8c2b) X(aCBde4c8b8c2b) X(aCBd4c8b8c2b)   \
  X(aBCdef8b2c) X(AB32a16b) X(AB32a32b) X(BA4b8a8b2a) X(BA4b8a8b4a) X(aBC32b16c) X(aBC32b32c) X(aCB4c8b8c2b)           \
  X(aCB4c8b8c4b) X(ABcd4a2b) X(ABc2b8a16b4a) X(ABcd2b8a16b4a) X(ABcde2b8a16b4a) X(ABc2a8b16a4b) X(ABc2a8b16a2b)        \
  X(ABc2b32a8b) X(ABcd2a8b16a4b) X(ABcd2a8b16a2b) X(aCBd2c8b16c2b) X(ABcd2b32a8b) X(aBCd2c8b16c2b) X(ABcde2a8b16a4b)   \
  X(ABcde2a8b16a2b) X(aCBde2c8b16c2b) X(ABcde2b32a8b) X(aBC2b8c16b2c) X(aBCd2b8c16b2c) X(aBCde2b8c16b2c)               \
  X(aBCdef2b8c16b2c) X(BAcde2b8a16b4a) X(BAcd2b8a16b4a) X(BAc2b8a16b4a) X(BAcde2b8a16b2a) X(BAcd2b8a16b2a)             \
  X(BAc2b8a16b2a) X(aBCde2c8b16c2b) X(aBCdef2c8b16c2b) X(aCBdef2c8b16c2b) X(aBCd2b8c16b4c) X(aBCde2b8c16b4c)           \
  X(BA4b8a16b2a) X(BA4b8a16b4a) X(aCB4c8b16c2b) X(aCB4c8b16c4b) X(BA16a16b) X(BA16a32b) X(BA16a48b) X(BA16a64b)        \
  X(aCB16c2b) X(aCB16c4b) X(BA16b2a) X(BA16b4a) X(aBC16b16c) X(aBC16b32c) X(AB16a16b) X(AB16a32b) X(ABcde16a16b2a)     \
  X(aBCdef16b16c2b) X(Acedb16a) X(aBdfec16b) X(abdEC64e2c) X(abdEC64e4c) X(aCB16b16c) X(aCB16b32c) X(aCB16b48c)        \
  X(aCB16b64c) X(aCB16b16c2b) X(aCB16b32c2b) X(aCB16b48c2b) X(aCB16b64c2b) X(aCB16b16c4b) X(aCB16b32c4b)               \
  X(aCB16b48c4b) X(aCB16b64c4b) X(abCd4c) X(abCde4c) X(abCdef4c) X(abCde32c) X(abCdef32c) X(ABcd16a32b) X(decbA8a)     \
  X(aCdefB16b32c2b) X(aCdefB16b32c4b) X(aCdefB16b48c2b) X(aCdefB16b48c4b) X(aCdefB16b64c2b) X(aCdefB16b64c4b)          \
  X(BcdeA16a32b2a) X(BcdeA16a32b4a) X(BcdeA16a48b2a) X(BcdeA16a48b4a) X(BcdeA16a64b2a) X(BcdeA16a64b4a) X(aCdefb32c)   \
  X(aCdefB32c2b) X(aCdefB32c4b) X(aCdefb48c) X(aCdefB48c2b) X(aCdefB48c4b) X(aCdefb64c) X(aCdefB64c2b)                 \
  X(aCdefB64c4b) X(Bcdea32b) X(BcdeA32b2a) X(BcdeA32b4a) X(Bcdea48b) X(BcdeA48b2a) X(BcdeA48b4a) X(Bcdea64b)           \
  X(BcdeA64b2a) X(BcdeA64b4a) X(Bca32b) X(BcA32b2a) X(BcA32b4a) X(Bca48b) X(BcA48b2a) X(BcA48b4a) X(Bca64b)            \
  X(BcA64b2a) X(BcA64b4a) X(aCdb32c) X(aCdB32c2b) X(aCdB32c4b) X(aCdb48c) X(aCdB48c2b) X(aCdB48c4b) X(aCdb64c)         \
  X(aCdB64c2b) X(aCdB64c4b) X(BcA16a16b2a) X(BcA16a16b4a) X(BcdA16a16b2a) X(BcdA16a16b4a) X(BcdeA16a16b2a)             \
  X(BcdeA16a16b4a) X(aCdB16b16c2b) X(aCdB16b16c4b) X(aCdeB16b16c2b) X(aCdeB16b16c4b) X(aCdefB16b16c2b)                 \
  X(aCdefB16b16c4b) X(BcA16a32b2a) X(BcA16a32b4a) X(BcA16a48b2a) X(BcA16a48b4a) X(BcA16a64b2a) X(BcA16a64b4a)          \
  X(aCdB16b32c2b) X(aCdB16b32c4b) X(aCdB16b48c2b) X(aCdB16b48c4b) X(aCdB16b64c2b) X(aCdB16b64c4b) X(BcdA16a32b2a)      \
  X(BcdA16a32b4a) X(BcdA16a48b2a) X(BcdA16a48b4a) X(BcdA16a64b2a) X(BcdA16a64b4a) X(aCdeB16b32c2b) X(aCdeB16b32c4b)    \
  X(aCdeB16b48c2b) X(aCdeB16b48c4b) X(aCdeB16b64c2b) X(aCdeB16b64c4b) X(Bca16b) X(BcA16b2a) X(BcA16b4a) X(Bcda16b)     \
  X(BcdA16b2a) X(BcdA16b4a) X(Bcdea16b) X(BcdeA16b2a) X(BcdeA16b4a) X(aCdb16c) X(aCdB16c2b) X(aCdB16c4b) X(aCdeb16c)   \
  X(aCdeB16c2b) X(aCdeB16c4b) X(aCdefb16c) X(aCdefB16c2b) X(aCdefB16c4b) X(Bcda32b) X(BcdA32b2a) X(BcdA32b4a)          \
  X(Bcda48b) X(BcdA48b2a) X(BcdA48b4a) X(Bcda64b) X(BcdA64b2a) X(BcdA64b4a) X(aCdeb32c) X(aCdeB32c2b) X(aCdeB32c4b)    \
  X(aCdeb48c) X(aCdeB48c2b) X(aCdeB48c4b) X(aCdeb64c) X(aCdeB64c2b) X(aCdeB64c4b) X(Acb24a) X(Acdb24a) X(Acdeb24a)     \
  X(aBdc24b) X(aBdec24b) X(aBdefc24b) X(abDc16d) X(abdEc16e) X(abdCe16c) X(AcB24a2b) X(AcdB24a2b) X(AcdeB24a2b)        \
  X(aBdC24b2c) X(aBdeC24b2c) X(aBdefC24b2c) X(AcB8a2b) X(AcdB8a2b) X(AcdeB8a2b) X(aBdC8b2c) X(aBdeC8b2c)               \
  X(aBdefC8b2c) X(AB8b32a) X(ABc8b32a) X(ABcd8b32a) X(ABcde8b32a) X(AB8b24a) X(ABc8b24a) X(ABcd8b24a) X(ABcde8b24a)    \
  X(AB8b16a) X(ABc8b16a) X(ABcd8b16a) X(ABcde8b16a) X(AB8b8a) X(AB4b8a4b) X(AB4b24a4b) X(ABc4b8a4b) X(ABc4b24a4b)      \
  X(ABcd4b8a4b) X(ABcd4b24a4b) X(ABcde4b8a4b) X(ABcde4b24a4b) X(AB8b24a2b) X(ABc8b24a2b) X(ABcd8b24a2b)                \
  X(ABcde8b24a2b) X(AB8b8a2b) X(ABc8b8a2b) X(ABcd8b8a2b) X(ABcde8b8a2b) X(AcB24a4b) X(AcdB24a4b) X(AcdeB24a4b)         \
  X(aBdC24b4c) X(aBdeC24b4c) X(aBdefC24b4c) X(AcB8a4b) X(AcdB8a4b) X(AcdeB8a4b) X(aBdC8b4c) X(aBdeC8b4c)               \
  X(aBdefC8b4c) X(Bca8b) X(BcA8b2a) X(Bcda8b) X(BcdA8b2a) X(Bcdea8b) X(BcdeA8b2a) X(aCdb8c) X(aCdB8c2b) X(aCdeb8c)     \
  X(aCdeB8c2b) X(aCdefb8c) X(aCdefB8c2b) X(Bca24b) X(BcA24b2a) X(Bcda24b) X(BcdA24b2a) X(Bcdea24b) X(BcdeA24b2a)       \
  X(aCdb24c) X(aCdB24c2b) X(aCdeb24c) X(aCdeB24c2b) X(aCdefb24c) X(aCdefB24c2b) X(BcA8b4a) X(BcdA8b4a) X(BcdeA8b4a)    \
  X(aCdB8c4b) X(aCdeB8c4b) X(aCdefB8c4b) X(BcA24b4a) X(BcdA24b4a) X(BcdeA24b4a) X(aCdB24c4b) X(aCdeB24c4b)             \
  X(aCdefB24c4b) X(AB16b48a) X(ABc16b48a) X(ABcd16b48a) X(ABcde16b48a) X(ABc16a4b) X(ABcd16a4b) X(ABcde16a4b)          \
  X(defcbA16a) X(defcbA8a) X(AcB16b64a) X(AcdB16b64a) X(AcdeB16b64a) X(AcB16b48a) X(AcdB16b48a) X(AcdeB16b48a)         \
  X(AcB16b32a) X(AcdB16b32a) X(AcdeB16b32a) X(AcB16b16a) X(AcdB16b16a) X(AcdeB16b16a) X(AcB8b32a) X(AcdB8b32a)         \
  X(AcdeB8b32a) X(AcB8b24a) X(AcdB8b24a) X(AcdeB8b24a) X(AcB8b16a) X(AcdB8b16a) X(AcdeB8b16a) X(AcB8b8a) X(AcdB8b8a)   \
  X(AcdeB8b8a) X(AcB8b64a2b) X(AcdB8b64a2b) X(AcdeB8b64a2b) X(AcB8b32a2b) X(AcdB8b32a2b) X(AcdeB8b32a2b)               \
  X(AcB8b24a2b) X(AcdB8b24a2b) X(AcdeB8b24a2b) X(AcB8b16a2b) X(AcdB8b16a2b) X(AcdeB8b16a2b) X(AcB8b8a2b)               \
  X(AcdB8b8a2b) X(AcdeB8b8a2b) X(AcB4b64a4b) X(AcdB4b64a4b) X(AcdeB4b64a4b) X(AcB4b32a4b) X(AcdB4b32a4b)               \
  X(AcdeB4b32a4b) X(AcB4b24a4b) X(AcdB4b24a4b) X(AcdeB4b24a4b) X(AcB4b16a4b) X(AcdB4b16a4b) X(AcdeB4b16a4b)            \
  X(AcB4b8a4b) X(AcdB4b8a4b) X(AcdeB4b8a4b) X(Ab4a) X(Ab8a) X(BA4b4a) X(BA8b4a) X(BA2a24b) X(aCB2b24c) X(BA2a8b)       \
  X(aCB2b8c) X(BA8a24b) X(aCB8b24c) X(BA8a16b) X(aCB8b16c) X(BA8a8b) X(aCB8b8c) X(bcad) X(cabd) X(dabc) X(Ab32a)       \
  X(aCBd8b8c) X(aCBde8b8c) X(BAc8a8b) X(BAcd8a8b) X(BAcde8a8b) X(aCBdef8b8c) X(abdEC16e4c) X(abDC16d4c) X(BA24b8a)     \
  X(aCB24c8b) X(abDC24d8c) X(decbA4a) X(defcbA4a) X(abDC8d8c) X(abDC16d8c) X(aCB8c8b) X(aCB16c8b) X(BA8b8a)            \
  X(BA16b8a) X(AB2a4b) X(aCBd4b4c) X(aCBde4b4c) X(aCBdef4b4c) X(BAc4a4b) X(BAcd4a4b) X(BAcde4a4b) X(BA12b8a)           \
  X(aCB12c8b) X(abDC12d8c) X(BA4b8a) X(aCB4c8b) X(abDC4d8c) X(Abc8a) X(Abc32a) X(aBcdef8b) X(aBcdef32b)                \
  X(format_tag_last)

/// Expands X(alias, tag) for each alias of a tag.
#define QUERN_FORMAT_TAG_ALIASES(X)                                                                                    \
  X(x,a) X(nc,ab) X(cn,ba) X(tn,ab) X(nt,ba) X(ncw,abc) X(nwc,acb) X(nchw,abcd) X(nhwc,acdb) X(chwn,bcda)              \
  X(ncdhw,abcde) X(ndhwc,acdeb) X(oi,ab) X(io,ba) X(oiw,abc) X(owi,acb) X(wio,cba) X(woi,cab) X(iwo,bca)               \
  X(oihw,abcd) X(hwio,cdba) X(hwoi,cdab) X(ohwi,acdb) X(ihwo,bcda) X(iohw,bacd) X(oidhw,abcde) X(iodhw,bacde)          \
  X(dhwio,cdeba) X(dhwoi,cdeab) X(odhwi,acdeb) X(idhwo,bcdea) X(goiw,abcd) X(gowi,abdc) X(wigo,dcab) X(goihw,abcde)    \
  X(gohwi,abdec) X(hwigo,decab) X(giohw,acbde) X(goidhw,abcdef) X(godhwi,abdefc) X(giodhw,acbdef) X(dhwigo,defcab)     \
  X(tnc,abc) X(ntc,bac) X(ldnc,abcd) X(ldigo,abcde) X(ldgoi,abdec) X(ldio,abcd) X(ldoi,abdc) X(ldgo,abcd)              \
  X(ldOi16o,abDc16d) X(ldOi32o,abDc32d) X(ldOI16o4i,abDC16d4c) X(ldOI32o4i,abDC32d4c) X(ldIo32i,abCd32c)               \
  X(ldgOi16o,abdEc16e) X(ldgOI16o4i,abdEC16e4c) X(ldgOi32o,abdEc32e) X(ldgOI32o2i,abdEC32e2c)                          \
  X(ldgOI32o4i,abdEC32e4c) X(ldgOI64o2i,abdEC64e2c) X(ldgOI64o4i,abdEC64e4c) X(ldgIo16i,abdCe16c)                      \
  X(ldgIo32i,abdCe32c) X(ldgIO32i2o,abdCE32c2e) X(nCdhw32c,aBcde32b) X(nCdhw16c,aBcde16b) X(nCdhw4c,aBcde4b)           \
  X(nCdhw8c,aBcde8b) X(nChw32c,aBcd32b) X(nChw16c,aBcd16b) X(nChw4c,aBcd4b) X(nChw8c,aBcd8b) X(nCw32c,aBc32b)          \
  X(nCw16c,aBc16b) X(nCw4c,aBc4b) X(nCw8c,aBc8b) X(NCw16n16c,ABc16a16b) X(NCdhw16n16c,ABcde16a16b)                     \
  X(NChw16n16c,ABcd16a16b) X(NCw32n16c,ABc32a16b) X(NChw32n16c,ABcd32a16b) X(NChw16n32c,ABcd16a32b)                    \
  X(NCdhw32n16c,ABcde32a16b) X(NCw32n32c,ABc32a32b) X(NChw32n32c,ABcd32a32b) X(NCdhw32n32c,ABcde32a32b)                \
  X(OI16i16o,AB16b16a) X(OI16i32o,AB16b32a) X(OI16i48o,AB16b48a) X(OI16i64o,AB16b64a) X(OI8i8o2i,AB8b8a2b)             \
  X(OI8i16o2i,AB8b16a2b) X(OI8i24o2i,AB8b24a2b) X(OI8i32o2i,AB8b32a2b) X(OI8i64o2i,AB8b64a2b) X(OI4i8o4i,AB4b8a4b)     \
  X(OI4i16o4i,AB4b16a4b) X(OI4i24o4i,AB4b24a4b) X(OI4i32o4i,AB4b32a4b) X(OI4i64o4i,AB4b64a4b)                          \
  X(OI16i16o4i,AB16b16a4b) X(OI8i32o,AB8b32a) X(OI8i24o,AB8b24a) X(OI8i16o,AB8b16a) X(OI8i8o,AB8b8a)                   \
  X(IOw4o4i,BAc4a4b) X(IOw8o8i,BAc8a8b) X(IOw16o16i,BAc16a16b) X(IOw16i16o,BAc16b16a) X(OIw16i16o,ABc16b16a)           \
  X(OwI16i16o,AcB16b16a) X(OIw16i32o,ABc16b32a) X(OwI16i32o,AcB16b32a) X(OIw16i48o,ABc16b48a) X(OwI16i48o,AcB16b48a)   \
  X(OIw16i64o,ABc16b64a) X(OwI16i64o,AcB16b64a) X(OIw16o16i,ABc16a16b) X(Oiw16o,Abc16a) X(Oiw32o,Abc32a)               \
  X(OIw4i8o4i,ABc4b8a4b) X(OwI4i8o4i,AcB4b8a4b) X(OIw4i16o4i,ABc4b16a4b) X(OwI4i16o4i,AcB4b16a4b)                      \
  X(OIw4i24o4i,ABc4b24a4b) X(OwI4i24o4i,AcB4b24a4b) X(OIw4i32o4i,ABc4b32a4b) X(OwI4i32o4i,AcB4b32a4b)                  \
  X(OIw4i64o4i,ABc4b64a4b) X(OwI4i64o4i,AcB4b64a4b) X(OIw2i8o4i,ABc2b8a4b) X(OIw16i16o4i,ABc16b16a4b)                  \
  X(OIw16i16o2i,ABc16b16a2b) X(OIw16o16i2o,ABc16a16b2a) X(OIw4i4o,ABc4b4a) X(OIw4o4i,ABc4a4b) X(Oiw4o,Abc4a)           \
  X(Oiw8o,Abc8a) X(OIw8i8o2i,ABc8b8a2b) X(OwI8i8o2i,AcB8b8a2b) X(OIw8i16o2i,ABc8b16a2b) X(OwI8i16o2i,AcB8b16a2b)       \
  X(OIw8i24o2i,ABc8b24a2b) X(OwI8i24o2i,AcB8b24a2b) X(OIw8i32o2i,ABc8b32a2b) X(OwI8i32o2i,AcB8b32a2b)                  \
  X(OIw8i64o2i,ABc8b64a2b) X(OwI8i64o2i,AcB8b64a2b) X(OIw8i8o,ABc8b8a) X(OwI8i8o,AcB8b8a) X(OIw8o16i2o,ABc8a16b2a)     \
  X(IOw8o16i2o,BAc8a16b2a) X(OIw8o8i,ABc8a8b) X(OIw8o4i,ABc8a4b) X(Owi16o,Acb16a) X(OwI16o2i,AcB16a2b)                 \
  X(OwI16o4i,AcB16a4b) X(Iwo8i,Bca8b) X(IwO8i2o,BcA8b2a) X(IwO8i4o,BcA8b4a) X(Iwo16i,Bca16b) X(IwO16i2o,BcA16b2a)      \
  X(IwO16i4o,BcA16b4a) X(Iwo24i,Bca24b) X(IwO24i2o,BcA24b2a) X(IwO24i4o,BcA24b4a) X(Owi4o,Acb4a) X(Owi8o,Acb8a)        \
  X(OwI8o2i,AcB8a2b) X(OIw8i32o,ABc8b32a) X(OwI8i32o,AcB8b32a) X(OIw8i24o,ABc8b24a) X(OwI8i24o,AcB8b24a)               \
  X(OIw8i16o,ABc8b16a) X(OwI8i16o,AcB8b16a) X(OwI8o4i,AcB8a4b) X(IOhw16i16o,BAcd16b16a) X(IOhw4o4i,BAcd4a4b)           \
  X(IOhw8o8i,BAcd8a8b) X(IOhw16o16i,BAcd16a16b) X(Ohwi16o,Acdb16a) X(OhwI16o2i,AcdB16a2b) X(OhwI16o4i,AcdB16a4b)       \
  X(Ihwo8i,Bcda8b) X(IhwO8i2o,BcdA8b2a) X(IhwO8i4o,BcdA8b4a) X(Ihwo16i,Bcda16b) X(IhwO16i2o,BcdA16b2a)                 \
  X(IhwO16i4o,BcdA16b4a) X(Ihwo24i,Bcda24b) X(IhwO24i2o,BcdA24b2a) X(IhwO24i4o,BcdA24b4a) X(Ohwi24o,Acdb24a)           \
  X(Ohwi32o,Acdb32a) X(Ohwi4o,Acdb4a) X(Ohwi8o,Acdb8a) X(OhwI8o2i,AcdB8a2b) X(OhwI8o4i,AcdB8a4b)                       \
  X(OIhw16i16o,ABcd16b16a) X(OhwI16i16o,AcdB16b16a) X(OIhw16i32o,ABcd16b32a) X(OhwI16i32o,AcdB16b32a)                  \
  X(OIhw16i48o,ABcd16b48a) X(OhwI16i48o,AcdB16b48a) X(OIhw16i64o,ABcd16b64a) X(OhwI16i64o,AcdB16b64a)                  \
  X(OIhw16o16i,ABcd16a16b) X(Oihw16o,Abcd16a) X(Oihw32o,Abcd32a) X(OIhw4i8o4i,ABcd4b8a4b) X(OhwI4i8o4i,AcdB4b8a4b)     \
  X(OIhw4i16o4i,ABcd4b16a4b) X(OhwI4i16o4i,AcdB4b16a4b) X(OIhw4i24o4i,ABcd4b24a4b) X(OhwI4i24o4i,AcdB4b24a4b)          \
  X(OIhw4i32o4i,ABcd4b32a4b) X(OhwI4i32o4i,AcdB4b32a4b) X(OIhw4i64o4i,ABcd4b64a4b) X(OhwI4i64o4i,AcdB4b64a4b)          \
  X(OIhw16i16o4i,ABcd16b16a4b) X(OIhw16i16o2i,ABcd16b16a2b) X(OIhw16o16i2o,ABcd16a16b2a) X(OIhw4i4o,ABcd4b4a)          \
  X(OIhw4o4i,ABcd4a4b) X(Oihw4o,Abcd4a) X(Oihw8o,Abcd8a) X(OIhw8i8o2i,ABcd8b8a2b) X(OhwI8i8o2i,AcdB8b8a2b)             \
  X(OIhw8i16o2i,ABcd8b16a2b) X(OhwI8i16o2i,AcdB8b16a2b) X(OIhw8i32o2i,ABcd8b32a2b) X(OhwI8i32o2i,AcdB8b32a2b)          \
  X(OIhw8i24o2i,ABcd8b24a2b) X(OhwI8i24o2i,AcdB8b24a2b) X(OIhw8i64o2i,ABcd8b64a2b) X(OhwI8i64o2i,AcdB8b64a2b)          \
  X(OIhw8i8o,ABcd8b8a) X(OhwI8i8o,AcdB8b8a) X(OIhw8o16i2o,ABcd8a16b2a) X(OIhw2i8o4i,ABcd2b8a4b)                        \
  X(IOhw8o16i2o,BAcd8a16b2a) X(OIhw8o8i,ABcd8a8b) X(OIhw8o4i,ABcd8a4b) X(Owhi16o,Adcb16a) X(OIhw8i32o,ABcd8b32a)       \
  X(OhwI8i32o,AcdB8b32a) X(OIhw8i24o,ABcd8b24a) X(OhwI8i24o,AcdB8b24a) X(OIhw8i16o,ABcd8b16a) X(OhwI8i16o,AcdB8b16a)   \
  X(Odhwi16o,Acdeb16a) X(OdhwI16o2i,AcdeB16a2b) X(OdhwI16o4i,AcdeB16a4b) X(Idhwo8i,Bcdea8b) X(IdhwO8i2o,BcdeA8b2a)     \
  X(IdhwO8i4o,BcdeA8b4a) X(Idhwo16i,Bcdea16b) X(IdhwO16i2o,BcdeA16b2a) X(IdhwO16i4o,BcdeA16b4a) X(Idhwo24i,Bcdea24b)   \
  X(IdhwO24i2o,BcdeA24b2a) X(IdhwO24i4o,BcdeA24b4a) X(Odhwi4o,Acdeb4a) X(Odhwi8o,Acdeb8a) X(OdhwI8o2i,AcdeB8a2b)       \
  X(OdhwI8o4i,AcdeB8a4b) X(Odwhi16o,Acedb16a) X(OIdhw16i16o,ABcde16b16a) X(OdhwI16i16o,AcdeB16b16a)                    \
  X(OIdhw16i32o,ABcde16b32a) X(OdhwI16i32o,AcdeB16b32a) X(OIdhw16i48o,ABcde16b48a) X(OdhwI16i48o,AcdeB16b48a)          \
  X(OIdhw16i64o,ABcde16b64a) X(OdhwI16i64o,AcdeB16b64a) X(OIdhw16o16i,ABcde16a16b) X(Oidhw16o,Abcde16a)                \
  X(Oidhw32o,Abcde32a) X(OIdhw4i4o,ABcde4b4a) X(OIdhw4o4i,ABcde4a4b) X(Oidhw4o,Abcde4a) X(Oidhw8o,Abcde8a)             \
  X(OIdhw8i8o2i,ABcde8b8a2b) X(OdhwI8i8o2i,AcdeB8b8a2b) X(OIdhw8i16o2i,ABcde8b16a2b) X(OdhwI8i16o2i,AcdeB8b16a2b)      \
  X(OIdhw8i32o2i,ABcde8b32a2b) X(OdhwI8i32o2i,AcdeB8b32a2b) X(OIdhw8i24o2i,ABcde8b24a2b)                               \
  X(OdhwI8i24o2i,AcdeB8b24a2b) X(OIdhw8i64o2i,ABcde8b64a2b) X(OdhwI8i64o2i,AcdeB8b64a2b) X(OIdhw8i8o,ABcde8b8a)        \
  X(OdhwI8i8o,AcdeB8b8a) X(OIdhw8o16i2o,ABcde8a16b2a) X(IOdhw8o16i2o,BAcde8a16b2a) X(OIdhw4i8o4i,ABcde4b8a4b)          \
  X(OdhwI4i8o4i,AcdeB4b8a4b) X(OIdhw4i16o4i,ABcde4b16a4b) X(OdhwI4i16o4i,AcdeB4b16a4b) X(OIdhw4i24o4i,ABcde4b24a4b)    \
  X(OdhwI4i24o4i,AcdeB4b24a4b) X(OIdhw4i32o4i,ABcde4b32a4b) X(OdhwI4i32o4i,AcdeB4b32a4b)                               \
  X(OIdhw4i64o4i,ABcde4b64a4b) X(OdhwI4i64o4i,AcdeB4b64a4b) X(OIdhw16i16o4i,ABcde16b16a4b)                             \
  X(OIdhw16i16o2i,ABcde16b16a2b) X(OIdhw2i8o4i,ABcde2b8a4b) X(OIdhw8o8i,ABcde8a8b) X(OIdhw8o4i,ABcde8a4b)              \
  X(IOdhw16i16o,BAcde16b16a) X(OIdhw4o8i8o4i,ABcde4a8b8a4b) X(IOdhw4o4i,BAcde4a4b) X(IOdhw8o8i,BAcde8a8b)              \
  X(IOdhw16o16i,BAcde16a16b) X(OIdhw16o16i2o,ABcde16a16b2a) X(OIdhw8i32o,ABcde8b32a) X(OdhwI8i32o,AcdeB8b32a)          \
  X(OIdhw8i24o,ABcde8b24a) X(OdhwI8i24o,AcdeB8b24a) X(OIdhw8i16o,ABcde8b16a) X(OdhwI8i16o,AcdeB8b16a)                  \
  X(Goiw16g,Abcd16a) X(Goiw8g,Abcd8a) X(Goiw4g,Abcd4a) X(gIOw4o4i,aCBd4b4c) X(gIOw8o8i,aCBd8b8c)                       \
  X(gIOw16o16i,aCBd16b16c) X(gIOw16i16o,aCBd16c16b) X(gOIw16i16o,aBCd16c16b) X(gOIw16o16i,aBCd16b16c)                  \
  X(gOiw16o,aBcd16b) X(gOiw32o,aBcd32b) X(gOIw4i16o4i,aBCd4c16b4c) X(gOIw2i8o4i,aBCd2c8b4c)                            \
  X(gOIw16i16o4i,aBCd16c16b4c) X(gOIw16i16o2i,aBCd16c16b2c) X(gOIw16o16i2o,aBCd16b16c2b) X(gOIw4i4o,aBCd4c4b)          \
  X(gOIw4o4i,aBCd4b4c) X(gOiw4o,aBcd4b) X(gOiw8o,aBcd8b) X(gOIw8i16o2i,aBCd8c16b2c) X(gOIw8i8o,aBCd8c8b)               \
  X(gOIw8o16i2o,aBCd8b16c2b) X(gIOw8o16i2o,aCBd8b16c2b) X(gOIw8o8i,aBCd8b8c) X(gOIw8o4i,aBCd8b4c) X(gOwi16o,aBdc16b)   \
  X(gOwI16o2i,aBdC16b2c) X(gOwI16o4i,aBdC16b4c) X(gIwo8i,aCdb8c) X(gIwO8i2o,aCdB8c2b) X(gIwO8i4o,aCdB8c4b)             \
  X(gIwo16i,aCdb16c) X(gIwO16i2o,aCdB16c2b) X(gIwO16i4o,aCdB16c4b) X(gIwo24i,aCdb24c) X(gIwO24i2o,aCdB24c2b)           \
  X(gIwO24i4o,aCdB24c4b) X(gOwi4o,aBdc4b) X(gOwi8o,aBdc8b) X(gOwI8o2i,aBdC8b2c) X(gOwI8o4i,aBdC8b4c)                   \
  X(Goiw32g,Abcd32a) X(gOIw2i4o2i,aBCd2c4b2c) X(gOIw2o4i2o,aBCd2b4c2b) X(gOIw4i8o2i,aBCd4c8b2c)                        \
  X(gOIw4o8i2o,aBCd4b8c2b) X(goIw4i,abCd4c) X(goIw32i,abCd32c) X(gIOhw16i16o,aCBde16c16b) X(gIOhw4o4i,aCBde4b4c)       \
  X(gIOhw8o8i,aCBde8b8c) X(gIOhw16o16i,aCBde16b16c) X(gOhwi16o,aBdec16b) X(gOhwI16o2i,aBdeC16b2c)                      \
  X(gOhwI16o4i,aBdeC16b4c) X(gIhwo8i,aCdeb8c) X(gIhwO8i2o,aCdeB8c2b) X(gIhwO8i4o,aCdeB8c4b) X(gIhwo16i,aCdeb16c)       \
  X(gIhwO16i2o,aCdeB16c2b) X(gIhwO16i4o,aCdeB16c4b) X(gIhwo24i,aCdeb24c) X(gIhwO24i2o,aCdeB24c2b)                      \
  X(gIhwO24i4o,aCdeB24c4b) X(gOhwi32o,aBdec32b) X(gOhwi24o,aBdec24b) X(gOhwI24o2i,aBdeC24b2c)                          \
  X(gOhwI24o4i,aBdeC24b4c) X(gOhwi4o,aBdec4b) X(gOhwi8o,aBdec8b) X(gOhwI8o2i,aBdeC8b2c) X(gOhwI8o4i,aBdeC8b4c)         \
  X(Goihw16g,Abcde16a) X(gOIhw16i16o,aBCde16c16b) X(gOIhw16o16i,aBCde16b16c) X(gOihw16o,aBcde16b)                      \
  X(gOihw32o,aBcde32b) X(gOIhw2i8o4i,aBCde2c8b4c) X(gOIhw4i16o4i,aBCde4c16b4c) X(gOIhw16i16o4i,aBCde16c16b4c)          \
  X(gOIhw16i16o2i,aBCde16c16b2c) X(gOIhw16o16i2o,aBCde16b16c2b) X(gOIhw4i4o,aBCde4c4b) X(gOIhw4o4i,aBCde4b4c)          \
  X(gOihw4o,aBcde4b) X(gOihw8o,aBcde8b) X(Goihw8g,Abcde8a) X(Goihw4g,Abcde4a) X(gOIhw8i16o2i,aBCde8c16b2c)             \
  X(gOIhw8i8o,aBCde8c8b) X(gOIhw8o16i2o,aBCde8b16c2b) X(gIOhw8o16i2o,aCBde8b16c2b) X(gOIhw8o8i,aBCde8b8c)              \
  X(gOIhw8o4i,aBCde8b4c) X(Goihw32g,Abcde32a) X(gOwhi16o,aBedc16b) X(goIhw4i,abCde4c) X(goIhw32i,abCde32c)             \
  X(OIw4o8i8o4i,ABc4a8b8a4b) X(OIhw4o8i8o4i,ABcd4a8b8a4b) X(IOw4i8o8i4o,BAc4b8a8b4a) X(IOhw4i8o8i4o,BAcd4b8a8b4a)      \
  X(IOdhw4i8o8i4o,BAcde4b8a8b4a) X(OIhw2o8i8o2i,ABcd2a8b8a2b) X(gOIw4o8i8o4i,aBCd4b8c8b4c)                             \
  X(gOIhw4o8i8o4i,aBCde4b8c8b4c) X(gOIdhw4o8i8o4i,aBCdef4b8c8b4c) X(gIOw4i8o8i4o,aCBd4c8b8c4b)                         \
  X(gIOhw4i8o8i4o,aCBde4c8b8c4b) X(gIOdhw4i8o8i4o,aCBdef4c8b8c4b) X(gOIhw2o8i8o2i,aBCde2b8c8b2c)                       \
  X(gOIhw2i4o2i,aBCde2c4b2c) X(gOIhw2o4i2o,aBCde2b4c2b) X(gOIhw4i8o2i,aBCde4c8b2c) X(gOIhw4o8i2o,aBCde4b8c2b)          \
  X(gIOdhw16i16o,aCBdef16c16b) X(gIOdhw4o4i,aCBdef4b4c) X(gIOdhw8o8i,aCBdef8b8c) X(gIOdhw16o16i,aCBdef16b16c)          \
  X(gOdhwi16o,aBdefc16b) X(gOdhwI16o2i,aBdefC16b2c) X(gOdhwI16o4i,aBdefC16b4c) X(gIdhwo8i,aCdefb8c)                    \
  X(gIdhwO8i2o,aCdefB8c2b) X(gIdhwO8i4o,aCdefB8c4b) X(gIdhwo16i,aCdefb16c) X(gIdhwO16i2o,aCdefB16c2b)                  \
  X(gIdhwO16i4o,aCdefB16c4b) X(gIdhwo24i,aCdefb24c) X(gIdhwO24i2o,aCdefB24c2b) X(gIdhwO24i4o,aCdefB24c4b)              \
  X(gOdhwi4o,aBdefc4b) X(gOdhwi8o,aBdefc8b) X(gOdhwI8o2i,aBdefC8b2c) X(gOdhwI8o4i,aBdefC8b4c) X(gOdwhi16o,aBdfec16b)   \
  X(gOIdhw16i16o,aBCdef16c16b) X(gOIdhw4i16o4i,aBCdef4c16b4c) X(gOIdhw16i16o4i,aBCdef16c16b4c)                         \
  X(gOIdhw2i8o4i,aBCdef2c8b4c) X(gOIdhw16i16o2i,aBCdef16c16b2c) X(gOIdhw16o16i,aBCdef16b16c)                           \
  X(gOIdhw16o16i2o,aBCdef16b16c2b) X(gOidhw16o,aBcdef16b) X(gOidhw32o,aBcdef32b) X(gOIdhw4i4o,aBCdef4c4b)              \
  X(gOIdhw4o4i,aBCdef4b4c) X(gOidhw4o,aBcdef4b) X(gOidhw8o,aBcdef8b) X(gOIdhw8i16o2i,aBCdef8c16b2c)                    \
  X(gOIdhw8i8o,aBCdef8c8b) X(gOIdhw8o16i2o,aBCdef8b16c2b) X(gIOdhw8o16i2o,aCBdef8b16c2b) X(gOIdhw8o8i,aBCdef8b8c)      \
  X(gOIdhw8o4i,aBCdef8b4c) X(Goidhw16g,Abcdef16a) X(Goidhw32g,Abcdef32a) X(gOIdhw2i4o2i,aBCdef2c4b2c)                  \
  X(gOIdhw4i8o2i,aBCdef4c8b2c) X(gOIdhw2o4i2o,aBCdef2b4c2b) X(gOIdhw4o8i2o,aBCdef4b8c2b) X(goIdhw4i,abCdef4c)          \
  X(goIdhw32i,abCdef32c) X(Owi24o,Acb24a) X(OwI24o2i,AcB24a2b) X(OwI24o4i,AcB24a4b) X(Owi32o,Acb32a)                   \
  X(OwI32o2i,AcB32a2b) X(OwI32o4i,AcB32a4b) X(Owi48o,Acb48a) X(OwI48o2i,AcB48a2b) X(OwI48o4i,AcB48a4b)                 \
  X(Owi64o,Acb64a) X(OwI64o2i,AcB64a2b) X(OwI64o4i,AcB64a4b) X(Iwo32i,Bca32b) X(IwO32i2o,BcA32b2a)                     \
  X(IwO32i4o,BcA32b4a) X(Iwo48i,Bca48b) X(IwO48i2o,BcA48b2a) X(IwO48i4o,BcA48b4a) X(Iwo64i,Bca64b)                     \
  X(IwO64i2o,BcA64b2a) X(IwO64i4o,BcA64b4a) X(wIo2i,cBa2b) X(wIo4i,cBa4b) X(gOwi24o,aBdc24b) X(gOwI24o2i,aBdC24b2c)    \
  X(gOwI24o4i,aBdC24b4c) X(gOwi32o,aBdc32b) X(gOwI32o2i,aBdC32b2c) X(gOwI32o4i,aBdC32b4c) X(gOwi48o,aBdc48b)           \
  X(gOwI48o2i,aBdC48b2c) X(gOwI48o4i,aBdC48b4c) X(gOwi64o,aBdc64b) X(gOwI64o2i,aBdC64b2c) X(gOwI64o4i,aBdC64b4c)       \
  X(gIwo32i,aCdb32c) X(gIwO32i2o,aCdB32c2b) X(gIwO32i4o,aCdB32c4b) X(gIwo48i,aCdb48c) X(gIwO48i2o,aCdB48c2b)           \
  X(gIwO48i4o,aCdB48c4b) X(gIwo64i,aCdb64c) X(gIwO64i2o,aCdB64c2b) X(gIwO64i4o,aCdB64c4b) X(gwio,adcb)                 \
  X(gwIo2i,adCb2c) X(gwIo4i,adCb4c) X(OhwI24o,Acdb24a) X(OhwI24o2i,AcdB24a2b) X(OhwI24o4i,AcdB24a4b)                   \
  X(OhwI32o,Acdb32a) X(OhwI32o2i,AcdB32a2b) X(OhwI32o4i,AcdB32a4b) X(Ohwi48o,Acdb48a) X(OhwI48o2i,AcdB48a2b)           \
  X(OhwI48o4i,AcdB48a4b) X(Ohwi64o,Acdb64a) X(OhwI64o2i,AcdB64a2b) X(OhwI64o4i,AcdB64a4b) X(Ihwo32i,Bcda32b)           \
  X(IhwO32i2o,BcdA32b2a) X(IhwO32i4o,BcdA32b4a) X(Ihwo48i,Bcda48b) X(IhwO48i2o,BcdA48b2a) X(IhwO48i4o,BcdA48b4a)       \
  X(Ihwo64i,Bcda64b) X(IhwO64i2o,BcdA64b2a) X(IhwO64i4o,BcdA64b4a) X(hwIo2i,cdBa2b) X(hwIo4i,cdBa4b)                   \
  X(gOhwI24o,aBdec24b) X(gOhwI32o,aBdec32b) X(gOhwI32o2i,aBdeC32b2c) X(gOhwI32o4i,aBdeC32b4c) X(gOhwi48o,aBdec48b)     \
  X(gOhwI48o2i,aBdeC48b2c) X(gOhwI48o4i,aBdeC48b4c) X(gOhwi64o,aBdec64b) X(gOhwI64o2i,aBdeC64b2c)                      \
  X(gOhwI64o4i,aBdeC64b4c) X(gIhwo32i,aCdeb32c) X(gIhwO32i2o,aCdeB32c2b) X(gIhwO32i4o,aCdeB32c4b)                      \
  X(gIhwo48i,aCdeb48c) X(gIhwO48i2o,aCdeB48c2b) X(gIhwO48i4o,aCdeB48c4b) X(gIhwo64i,aCdeb64c)                          \
  X(gIhwO64i2o,aCdeB64c2b) X(gIhwO64i4o,aCdeB64c4b) X(ghwio,adecb) X(ghwIo2i,adeCb2c) X(ghwIo4i,adeCb4c)               \
  X(Odhwi24o,Acdeb24a) X(OdhwI24o2i,AcdeB24a2b) X(OdhwI24o4i,AcdeB24a4b) X(Odhwi32o,Acdeb32a)                          \
  X(OdhwI32o2i,AcdeB32a2b) X(OdhwI32o4i,AcdeB32a4b) X(Odhwi48o,Acdeb48a) X(OdhwI48o2i,AcdeB48a2b)                      \
  X(OdhwI48o4i,AcdeB48a4b) X(Odhwi64o,Acdeb64a) X(OdhwI64o2i,AcdeB64a2b) X(OdhwI64o4i,AcdeB64a4b)                      \
  X(Idhwo32i,Bcdea32b) X(IdhwO32i2o,BcdeA32b2a) X(IdhwO32i4o,BcdeA32b4a) X(Idhwo48i,Bcdea48b)                          \
  X(IdhwO48i2o,BcdeA48b2a) X(IdhwO48i4o,BcdeA48b4a) X(Idhwo64i,Bcdea64b) X(IdhwO64i2o,BcdeA64b2a)                      \
  X(IdhwO64i4o,BcdeA64b4a) X(dhwIo2i,cdeBa2b) X(dhwIo4i,cdeBa4b) X(gOdhwi24o,aBdefc24b) X(gOdhwI24o2i,aBdefC24b2c)     \
  X(gOdhwI24o4i,aBdefC24b4c) X(gOdhwi32o,aBdefc32b) X(gOdhwI32o2i,aBdefC32b2c) X(gOdhwI32o4i,aBdefC32b4c)              \
  X(gOdhwi48o,aBdefc48b) X(gOdhwI48o2i,aBdefC48b2c) X(gOdhwI48o4i,aBdefC48b4c) X(gOdhwi64o,aBdefc64b)                  \
  X(gOdhwI64o2i,aBdefC64b2c) X(gOdhwI64o4i,aBdefC64b4c) X(gIdhwo32i,aCdefb32c) X(gIdhwO32i2o,aCdefB32c2b)              \
  X(gIdhwO32i4o,aCdefB32c4b) X(gIdhwo48i,aCdefb48c) X(gIdhwO48i2o,aCdefB48c2b) X(gIdhwO48i4o,aCdefB48c4b)              \
  X(gIdhwo64i,aCdefb64c) X(gIdhwO64i2o,aCdefB64c2b) X(gIdhwO64i4o,aCdefB64c4b) X(gdhwio,adefcb) X(gdhwIo2i,adefCb2c)   \
  X(gdhwIo4i,adefCb4c) X(OI16i32o4i,AB16b32a4b) X(OI16i48o4i,AB16b48a4b) X(OI16i64o4i,AB16b64a4b)                      \
  X(OI16i16o2i,AB16b16a2b) X(OI16i32o2i,AB16b32a2b) X(OI16i48o2i,AB16b48a2b) X(OI16i64o2i,AB16b64a2b)                  \
  X(OIw16i32o4i,ABc16b32a4b) X(OIw16i48o4i,ABc16b48a4b) X(OIw16i64o4i,ABc16b64a4b) X(OIw16i32o2i,ABc16b32a2b)          \
  X(OIw16i48o2i,ABc16b48a2b) X(OIw16i64o2i,ABc16b64a2b) X(OIhw16i32o4i,ABcd16b32a4b) X(OIhw16i48o4i,ABcd16b48a4b)      \
  X(OIhw16i64o4i,ABcd16b64a4b) X(OIhw16i32o2i,ABcd16b32a2b) X(OIhw16i48o2i,ABcd16b48a2b)                               \
  X(OIhw16i64o2i,ABcd16b64a2b) X(OIdhw16i32o4i,ABcde16b32a4b) X(OIdhw16i48o4i,ABcde16b48a4b)                           \
  X(OIdhw16i64o4i,ABcde16b64a4b) X(OIdhw16i32o2i,ABcde16b32a2b) X(OIdhw16i48o2i,ABcde16b48a2b)                         \
  X(OIdhw16i64o2i,ABcde16b64a2b) X(OwI16i16o2i,AcB16b16a2b) X(OwI16i16o4i,AcB16b16a4b) X(OhwI16i16o2i,AcdB16b16a2b)    \
  X(OhwI16i16o4i,AcdB16b16a4b) X(OdhwI16i16o2i,AcdeB16b16a2b) X(OdhwI16i16o4i,AcdeB16b16a4b)                           \
  X(IwO16o16i2o,BcA16a16b2a) X(IwO16o16i4o,BcA16a16b4a) X(IhwO16o16i2o,BcdA16a16b2a) X(IhwO16o16i4o,BcdA16a16b4a)      \
  X(IdhwO16o16i2o,BcdeA16a16b2a) X(IdhwO16o16i4o,BcdeA16a16b4a) X(gOwI16i16o2i,aBdC16c16b2c)                           \
  X(gOwI16i16o4i,aBdC16c16b4c) X(gOhwI16i16o2i,aBdeC16c16b2c) X(gOhwI16i16o4i,aBdeC16c16b4c)                           \
  X(gOdhwI16i16o2i,aBdefC16c16b2c) X(gOdhwI16i16o4i,aBdefC16c16b4c) X(gIwO16o16i2o,aCdB16b16c2b)                       \
  X(gIwO16o16i4o,aCdB16b16c4b) X(gIhwO16o16i2o,aCdeB16b16c2b) X(gIhwO16o16i4o,aCdeB16b16c4b)                           \
  X(gIdhwO16o16i2o,aCdefB16b16c2b) X(gIdhwO16o16i4o,aCdefB16b16c4b) X(OwI16i32o2i,AcB16b32a2b)                         \
  X(OwI16i32o4i,AcB16b32a4b) X(OwI16i48o2i,AcB16b48a2b) X(OwI16i48o4i,AcB16b48a4b) X(OwI16i64o2i,AcB16b64a2b)          \
  X(OwI16i64o4i,AcB16b64a4b) X(IwO16o32i2o,BcA16a32b2a) X(IwO16o32i4o,BcA16a32b4a) X(IwO16o48i2o,BcA16a48b2a)          \
  X(IwO16o48i4o,BcA16a48b4a) X(IwO16o64i2o,BcA16a64b2a) X(IwO16o64i4o,BcA16a64b4a) X(gOwI16i32o2i,aBdC16c32b2c)        \
  X(gOwI16i32o4i,aBdC16c32b4c) X(gOwI16i48o2i,aBdC16c48b2c) X(gOwI16i48o4i,aBdC16c48b4c)                               \
  X(gOwI16i64o2i,aBdC16c64b2c) X(gOwI16i64o4i,aBdC16c64b4c) X(gIwO16o32i2o,aCdB16b32c2b)                               \
  X(gIwO16o32i4o,aCdB16b32c4b) X(gIwO16o48i2o,aCdB16b48c2b) X(gIwO16o48i4o,aCdB16b48c4b)                               \
  X(gIwO16o64i2o,aCdB16b64c2b) X(gIwO16o64i4o,aCdB16b64c4b) X(OhwI16i32o2i,AcdB16b32a2b)                               \
  X(OhwI16i32o4i,AcdB16b32a4b) X(OhwI16i48o2i,AcdB16b48a2b) X(OhwI16i48o4i,AcdB16b48a4b)                               \
  X(OhwI16i64o2i,AcdB16b64a2b) X(OhwI16i64o4i,AcdB16b64a4b) X(IhwO16o32i2o,BcdA16a32b2a)                               \
  X(IhwO16o32i4o,BcdA16a32b4a) X(IhwO16o48i2o,BcdA16a48b2a) X(IhwO16o48i4o,BcdA16a48b4a)                               \
  X(IhwO16o64i2o,BcdA16a64b2a) X(IhwO16o64i4o,BcdA16a64b4a) X(gOhwI16i32o2i,aBdeC16c32b2c)                             \
  X(gOhwI16i32o4i,aBdeC16c32b4c) X(gOhwI16i48o2i,aBdeC16c48b2c) X(gOhwI16i48o4i,aBdeC16c48b4c)                         \
  X(gOhwI16i64o2i,aBdeC16c64b2c) X(gOhwI16i64o4i,aBdeC16c64b4c) X(gIhwO16o32i2o,aCdeB16b32c2b)                         \
  X(gIhwO16o32i4o,aCdeB16b32c4b) X(gIhwO16o48i2o,aCdeB16b48c2b) X(gIhwO16o48i4o,aCdeB16b48c4b)                         \
  X(gIhwO16o64i2o,aCdeB16b64c2b) X(gIhwO16o64i4o,aCdeB16b64c4b) X(OdhwI16i32o2i,AcdeB16b32a2b)                         \
  X(OdhwI16i32o4i,AcdeB16b32a4b) X(OdhwI16i48o2i,AcdeB16b48a2b) X(OdhwI16i48o4i,AcdeB16b48a4b)                         \
  X(OdhwI16i64o2i,AcdeB16b64a2b) X(OdhwI16i64o4i,AcdeB16b64a4b) X(IdhwO16o32i2o,BcdeA16a32b2a)                         \
  X(IdhwO16o32i4o,BcdeA16a32b4a) X(IdhwO16o48i2o,BcdeA16a48b2a) X(IdhwO16o48i4o,BcdeA16a48b4a)                         \
  X(IdhwO16o64i2o,BcdeA16a64b2a) X(IdhwO16o64i4o,BcdeA16a64b4a) X(gOdhwI16i32o2i,aBdefC16c32b2c)                       \
  X(gOdhwI16i32o4i,aBdefC16c32b4c) X(gOdhwI16i48o2i,aBdefC16c48b2c) X(gOdhwI16i48o4i,aBdefC16c48b4c)                   \
  X(gOdhwI16i64o2i,aBdefC16c64b2c) X(gOdhwI16i64o4i,aBdefC16c64b4c) X(gIdhwO16o32i2o,aCdefB16b32c2b)                   \
  X(gIdhwO16o32i4o,aCdefB16b32c4b) X(gIdhwO16o48i2o,aCdefB16b48c2b) X(gIdhwO16o48i4o,aCdefB16b48c4b)                   \
  X(gIdhwO16o64i2o,aCdefB16b64c2b) X(gIdhwO16o64i4o,aCdefB16b64c4b) X(hwioG16g,decbA16a) X(hwioG8g,decbA8a)            \
  X(hwioG4g,decbA4a) X(dhwioG16g,defcbA16a) X(dhwioG8g,defcbA8a) X(dhwioG4g,defcbA4a) X(NCdhw40n16c,ABcde40a16b)       \
  X(NCw40n16c,ABc40a16b) X(NChw40n16c,ABcd40a16b) X(NCw40n32c,ABc40a32b) X(NChw40n32c,ABcd40a32b)                      \
  X(NCdhw40n32c,ABcde40a32b) X(OIdhw4o8i8o2i,ABcde4a8b8a2b) X(OIhw4o8i8o2i,ABcd4a8b8a2b) X(OIw4o8i8o2i,ABc4a8b8a2b)    \
  X(gOIdhw4o8i8o2i,aBCdef4b8c8b2c) X(gOIhw4o8i8o2i,aBCde4b8c8b2c) X(gOIw4o8i8o2i,aBCd4b8c8b2c)                         \
  X(IOdhw4i8o8i2o,BAcde4b8a8b2a) X(IOhw4i8o8i2o,BAcd4b8a8b2a) X(IOw4i8o8i2o,BAc4b8a8b2a)                               \
  X(gIOdhw4i8o8i2o,aCBdef4c8b8c2b) X(gIOhw4i8o8i2o,aCBde4c8b8c2b) X(gIOw4i8o8i2o,aCBd4c8b8c2b)                         \
  X(NCw2c32n8c,ABc2b32a8b) X(NChw2c32n8c,ABcd2b32a8b) X(NCdhw2c32n8c,ABcde2b32a8b) X(OIw2i8o16i4o,ABc2b8a16b4a)        \
  X(OIhw2i8o16i4o,ABcd2b8a16b4a) X(OIdhw2i8o16i4o,ABcde2b8a16b4a) X(OIw2o8i16o4i,ABc2a8b16a4b)                         \
  X(OIw2o8i16o2i,ABc2a8b16a2b) X(IOw2i8o16i4o,BAc2b8a16b4a) X(IOw2i8o16i2o,BAc2b8a16b2a)                               \
  X(OIhw2o8i16o4i,ABcd2a8b16a4b) X(OIhw2o8i16o2i,ABcd2a8b16a2b) X(IOhw2i8o16i4o,BAcd2b8a16b4a)                         \
  X(IOhw2i8o16i2o,BAcd2b8a16b2a) X(OIdhw2o8i16o4i,ABcde2a8b16a4b) X(OIdhw2o8i16o2i,ABcde2a8b16a2b)                     \
  X(IOdhw2i8o16i4o,BAcde2b8a16b4a) X(IOdhw2i8o16i2o,BAcde2b8a16b2a) X(gOIw2o8i16o2i,aBCd2b8c16b2c)                     \
  X(gIOw2i8o16i2o,aCBd2c8b16c2b) X(gIOhw2i8o16i2o,aBCde2c8b16c2b) X(gIOdhw2i8o16i2o,aBCdef2c8b16c2b)                   \
  X(gOIhw2o8i16o2i,aBCde2b8c16b2c) X(gOIdhw2o8i16o2i,aBCdef2b8c16b2c) X(gOIw2o8i16o4i,aBCd2b8c16b4c)                   \
  X(gOIhw2o8i16o4i,aBCde2b8c16b4c)
// clang-format on

/// An enumerator of a tag.
#define QUERN_ENUMERATOR(NAME) NAME,
/// An enumerator of another name for a tag.
#define QUERN_ALIAS(NAME, OTHER) NAME = OTHER,
/// Layouts with names of oneDNN 3.13.
enum class format_tag { QUERN_FORMAT_TAGS(QUERN_ENUMERATOR) QUERN_FORMAT_TAG_ALIASES(QUERN_ALIAS) };
#undef QUERN_ENUMERATOR
#undef QUERN_ALIAS

/// Returns the name, such as "abcd"; null for an unknown value.
inline const char *name_of(format_tag tag) {
#define QUERN_NAME(NAME) #NAME,
  static const char *const names[] = {QUERN_FORMAT_TAGS(QUERN_NAME)};
#undef QUERN_NAME
  const unsigned index = static_cast<unsigned>(tag);
  return index < sizeof(names) / sizeof(names[0]) ? names[index] : nullptr;
}

} // namespace quern

#endif // QUERN_FORMAT_TAGS_HPP
