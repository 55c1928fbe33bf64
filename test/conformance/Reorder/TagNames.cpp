//===- TagNames.cpp - Named layouts of oneDNN -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every tag of oneDNN 3.13's headers with rank 2 to 6, by its letters.
//
//===----------------------------------------------------------------------===//
#include "Reorder/Tags.h"

namespace quern::cases::reorder {
namespace {

constexpr std::string_view namesByRank[] = {
    // Rank 2.
    "ab ba AB16b16a AB16b32a AB16b64a AB8b16a2b AB8b32a2b AB8b64a2b AB4b16a4b AB4b32a4b AB4b64a4b AB16b16a4b "
    "AB32a32b8a4b AB8a4b AB32a32b8a2b AB8a2b AB16b32a4b AB16b48a4b AB16b64a4b AB16b16a2b AB16b32a2b AB16b48a2b "
    "AB16b64a2b AB48a16b AB48a32b BA16a16b2a BA16a32b2a BA16a48b2a BA16a64b2a BA16a16b4a BA16a32b4a BA16a48b4a "
    "BA16a64b4a AB32a16b AB32a32b BA4b8a8b2a BA4b8a8b4a BA4b8a16b2a BA4b8a16b4a BA16a16b BA16a32b BA16a48b BA16a64b "
    "BA16b2a BA16b4a AB16a16b AB16a32b AB8b32a AB8b24a AB8b16a AB8b8a AB4b8a4b AB4b24a4b AB8b24a2b AB8b8a2b AB16b48a "
    "Ab4a Ab8a BA4b4a BA8b4a BA2a24b BA2a8b BA8a24b BA8a16b BA8a8b Ab32a BA24b8a BA8b8a BA16b8a AB2a4b BA12b8a BA4b8a",
    // Rank 3.
    "abc acb bac bca cab cba Abc16a ABc16a16b ABc32a32b ABc4a4b aBc16b ABc16b16a Abc4a aBc32b aBc4b ABc4b16a4b "
    "ABc2b8a4b ABc16b16a4b ABc16b16a2b ABc4b4a ABc8a16b2a ABc8a8b ABc8a4b aBc8b ABc8b16a2b BAc8a16b2a ABc8b8a "
    "ABc4a8b8a4b BAc4b8a8b4a Acb16a AcB16a2b AcB16a4b Acb4a Acb8a BAc16a16b BAc16b16a ABc16b32a ABc16b64a ABc4b32a4b "
    "ABc4b64a4b ABc8b32a2b ABc8b64a2b ABc16a16b2a Acb32a AcB32a2b AcB32a4b Acb48a AcB48a2b AcB48a4b Acb64a AcB64a2b "
    "AcB64a4b cBa2b cBa4b ABc16b32a4b ABc16b48a4b ABc16b64a4b ABc16b32a2b ABc16b48a2b ABc16b64a2b ABc32a16b ABc40a16b "
    "ABc40a32b aBC48b16c aBC48b32c AcB16b16a2b AcB16b16a4b AcB16b32a2b AcB16b32a4b AcB16b48a2b AcB16b48a4b AcB16b64a2b "
    "AcB16b64a4b ABc4a2b ABc8a2b ABc4a8b8a2b BAc4b8a8b2a aBC32b16c aBC32b32c aCB4c8b8c2b aCB4c8b8c4b ABc2b8a16b4a "
    "ABc2a8b16a4b ABc2a8b16a2b ABc2b32a8b aBC2b8c16b2c BAc2b8a16b4a BAc2b8a16b2a aCB4c8b16c2b aCB4c8b16c4b aCB16c2b "
    "aCB16c4b aBC16b16c aBC16b32c aCB16b16c aCB16b32c aCB16b48c aCB16b64c aCB16b16c2b aCB16b32c2b aCB16b48c2b "
    "aCB16b64c2b aCB16b16c4b aCB16b32c4b aCB16b48c4b aCB16b64c4b Bca32b BcA32b2a BcA32b4a Bca48b BcA48b2a BcA48b4a "
    "Bca64b BcA64b2a BcA64b4a BcA16a16b2a BcA16a16b4a BcA16a32b2a BcA16a32b4a BcA16a48b2a BcA16a48b4a BcA16a64b2a "
    "BcA16a64b4a Bca16b BcA16b2a BcA16b4a Acb24a AcB24a2b AcB8a2b ABc8b32a ABc8b24a ABc8b16a ABc4b8a4b ABc4b24a4b "
    "ABc8b24a2b ABc8b8a2b AcB24a4b AcB8a4b Bca8b BcA8b2a Bca24b BcA24b2a BcA8b4a BcA24b4a ABc16b48a ABc16a4b AcB16b64a "
    "AcB16b48a AcB16b32a AcB16b16a AcB8b32a AcB8b24a AcB8b16a AcB8b8a AcB8b64a2b AcB8b32a2b AcB8b24a2b AcB8b16a2b "
    "AcB8b8a2b AcB4b64a4b AcB4b32a4b AcB4b24a4b AcB4b16a4b AcB4b8a4b aCB2b24c aCB2b8c aCB8b24c aCB8b16c aCB8b8c "
    "BAc8a8b aCB24c8b aCB8c8b aCB16c8b BAc4a4b aCB12c8b aCB4c8b Abc8a Abc32a",
    // Rank 4.
    "abcd abdc acbd acdb adbc adcb bacd bcda cdab cdba dcab Abcd16a Abcd8a ABcd16a16b Abcd32a ABcd32a32b aBcd16b "
    "ABcd16b16a aBCd16b16c aBCd16c16b Abcd4a aBcd32b aBcd4b ABcd4b16a4b ABcd16b16a4b ABcd16b16a2b ABcd4b4a ABcd4a4b "
    "aBCd2c4b2c aBCd4b8c2b aBCd4c16b4c aBCd2c8b4c aBCd16c16b4c aBCd16c16b2c aBCd4c4b aBCd4b4c ABcd8a16b2a ABcd2b8a4b "
    "ABcd8a8b ABcd8a4b aBcd8b aBCd4c8b2c ABcd8b16a2b aBCd8b16c2b BAcd8a16b2a ABcd8b8a aBCd8b8c aBCd8b4c aBCd8c16b2c "
    "aCBd8b16c2b aBCd8c8b aBCd2b4c2b ABcd4a8b8a4b BAcd4b8a8b4a ABcd2a8b8a2b aBCd4b8c8b4c aBdc16b aBdC16b2c aBdC16b4c "
    "aBdc4b aBdc8b aCBd16b16c aCBd16c16b Acdb16a AcdB16a2b AcdB16a4b Acdb32a Acdb4a Acdb8a Adcb16a BAcd16a16b "
    "BAcd16b16a aCBd4c8b8c4b ABcd16b32a ABcd16b64a ABcd4b32a4b ABcd4b64a4b ABcd8b32a2b ABcd8b64a2b abDc32d abDC32d4c "
    "ABcd16a16b2a aBCd16b16c2b aBdc32b aBdC32b2c aBdC32b4c aBdc48b aBdC48b2c aBdC48b4c aBdc64b aBdC64b2c aBdC64b4c "
    "adCb2c adCb4c AcdB32a2b AcdB32a4b Acdb48a AcdB48a2b AcdB48a4b Acdb64a AcdB64a2b AcdB64a4b cdBa2b cdBa4b "
    "ABcd16b32a4b ABcd16b48a4b ABcd16b64a4b ABcd16b32a2b ABcd16b48a2b ABcd16b64a2b ABcd32a16b ABcd40a16b ABcd40a32b "
    "abCd32c ABcd8a2b AcdB16b16a2b AcdB16b16a4b aBdC16c16b2c aBdC16c16b4c aBdC16c32b2c aBdC16c32b4c aBdC16c48b2c "
    "aBdC16c48b4c aBdC16c64b2c aBdC16c64b4c AcdB16b32a2b AcdB16b32a4b AcdB16b48a2b AcdB16b48a4b AcdB16b64a2b "
    "AcdB16b64a4b aBCd8b2c ABcd4a8b8a2b aBCd4b8c8b2c BAcd4b8a8b2a aCBd4c8b8c2b ABcd4a2b ABcd2b8a16b4a ABcd2a8b16a4b "
    "ABcd2a8b16a2b aCBd2c8b16c2b ABcd2b32a8b aBCd2c8b16c2b aBCd2b8c16b2c BAcd2b8a16b4a BAcd2b8a16b2a aBCd2b8c16b4c "
    "abCd4c ABcd16a32b aCdb32c aCdB32c2b aCdB32c4b aCdb48c aCdB48c2b aCdB48c4b aCdb64c aCdB64c2b aCdB64c4b "
    "BcdA16a16b2a BcdA16a16b4a aCdB16b16c2b aCdB16b16c4b aCdB16b32c2b aCdB16b32c4b aCdB16b48c2b aCdB16b48c4b "
    "aCdB16b64c2b aCdB16b64c4b BcdA16a32b2a BcdA16a32b4a BcdA16a48b2a BcdA16a48b4a BcdA16a64b2a BcdA16a64b4a Bcda16b "
    "BcdA16b2a BcdA16b4a aCdb16c aCdB16c2b aCdB16c4b Bcda32b BcdA32b2a BcdA32b4a Bcda48b BcdA48b2a BcdA48b4a Bcda64b "
    "BcdA64b2a BcdA64b4a Acdb24a aBdc24b abDc16d AcdB24a2b aBdC24b2c AcdB8a2b aBdC8b2c ABcd8b32a ABcd8b24a ABcd8b16a "
    "ABcd4b8a4b ABcd4b24a4b ABcd8b24a2b ABcd8b8a2b AcdB24a4b aBdC24b4c AcdB8a4b aBdC8b4c Bcda8b BcdA8b2a aCdb8c "
    "aCdB8c2b Bcda24b BcdA24b2a aCdb24c aCdB24c2b BcdA8b4a aCdB8c4b BcdA24b4a aCdB24c4b ABcd16b48a ABcd16a4b "
    "AcdB16b64a AcdB16b48a AcdB16b32a AcdB16b16a AcdB8b32a AcdB8b24a AcdB8b16a AcdB8b8a AcdB8b64a2b AcdB8b32a2b "
    "AcdB8b24a2b AcdB8b16a2b AcdB8b8a2b AcdB4b64a4b AcdB4b32a4b AcdB4b24a4b AcdB4b16a4b AcdB4b8a4b bcad cabd dabc "
    "aCBd8b8c BAcd8a8b abDC16d4c abDC24d8c abDC8d8c abDC16d8c aCBd4b4c BAcd4a4b abDC12d8c abDC4d8c",
    // Rank 5.
    "abcde abced abdec acbde acdeb adecb bacde bcdea cdeab cdeba decab ABcde8a16b2a Abcde16a Abcde32a ABcde16a16b "
    "BAcde8a16b2a ABcde4b16a4b ABcde2b8a4b aBcde16b ABcde16b16a aBCde16b16c aBCde16c16b aBCde2c8b4c Abcde4a aBcde32b "
    "aBcde4b ABcde4b4a ABcde4a4b aBCde4b4c aBCde2c4b2c aBCde4b8c2b aBCde4c16b4c aBCde16c16b4c aBCde16c16b2c aBCde4c4b "
    "Abcde8a ABcde8a8b ABcde8a4b BAcde16b16a aBcde8b ABcde8b16a2b aBCde8b16c2b aBCde4c8b2c aCBde8b16c2b ABcde8b8a "
    "ABcde32a32b aBCde8b8c aBCde8b4c ABcde4a8b8a4b BAcde4b8a8b4a aBCde4b8c8b4c aBCde2b8c8b2c aBCde8c16b2c aBCde8c8b "
    "aBCde2b4c2b aBdec16b aBdeC16b2c aBdeC16b4c aBdec32b aBdec4b aBdec8b aBedc16b aCBde16b16c aCBde16c16b Acdeb16a "
    "AcdeB16a2b Acdeb4a Acdeb8a aCBde4c8b8c4b BAcde16a16b ABcde4b32a4b ABcde4b64a4b ABcde16b16a4b ABcde16b16a2b "
    "ABcde16b32a ABcde16b64a ABcde8b32a2b ABcde8b64a2b abdEc32e abdEC32e2c abdEC32e4c AcdeB16a4b aBCde16b16c2b "
    "aBdeC32b2c aBdeC32b4c aBdec48b aBdeC48b2c aBdeC48b4c aBdec64b aBdeC64b2c aBdeC64b4c adeCb2c adeCb4c Acdeb32a "
    "AcdeB32a2b AcdeB32a4b Acdeb48a AcdeB48a2b AcdeB48a4b Acdeb64a AcdeB64a2b AcdeB64a4b cdeBa2b cdeBa4b ABcde16b32a4b "
    "ABcde16b48a4b ABcde16b64a4b ABcde16b32a2b ABcde16b48a2b ABcde16b64a2b ABcde32a16b abdCe32c abdCE32c2e "
    "aBdeC16c16b2c aBdeC16c16b4c AcdeB16b16a2b AcdeB16b16a4b aBdeC16c32b2c aBdeC16c32b4c aBdeC16c48b2c aBdeC16c48b4c "
    "aBdeC16c64b2c aBdeC16c64b4c AcdeB16b32a2b AcdeB16b32a4b AcdeB16b48a2b AcdeB16b48a4b AcdeB16b64a2b AcdeB16b64a4b "
    "decbA16a ABcde4a2b ABcde8a2b ABcde40a16b ABcde40a32b aBCde8b2c ABcde4a8b8a2b aBCde4b8c8b2c BAcde4b8a8b2a "
    "aCBde4c8b8c2b ABcde2b8a16b4a ABcde2a8b16a4b ABcde2a8b16a2b aCBde2c8b16c2b ABcde2b32a8b aBCde2b8c16b2c "
    "BAcde2b8a16b4a BAcde2b8a16b2a aBCde2c8b16c2b aBCde2b8c16b4c ABcde16a16b2a Acedb16a abdEC64e2c abdEC64e4c abCde4c "
    "abCde32c decbA8a BcdeA16a32b2a BcdeA16a32b4a BcdeA16a48b2a BcdeA16a48b4a BcdeA16a64b2a BcdeA16a64b4a Bcdea32b "
    "BcdeA32b2a BcdeA32b4a Bcdea48b BcdeA48b2a BcdeA48b4a Bcdea64b BcdeA64b2a BcdeA64b4a BcdeA16a16b2a BcdeA16a16b4a "
    "aCdeB16b16c2b aCdeB16b16c4b aCdeB16b32c2b aCdeB16b32c4b aCdeB16b48c2b aCdeB16b48c4b aCdeB16b64c2b aCdeB16b64c4b "
    "Bcdea16b BcdeA16b2a BcdeA16b4a aCdeb16c aCdeB16c2b aCdeB16c4b aCdeb32c aCdeB32c2b aCdeB32c4b aCdeb48c aCdeB48c2b "
    "aCdeB48c4b aCdeb64c aCdeB64c2b aCdeB64c4b Acdeb24a aBdec24b abdEc16e abdCe16c AcdeB24a2b aBdeC24b2c AcdeB8a2b "
    "aBdeC8b2c ABcde8b32a ABcde8b24a ABcde8b16a ABcde4b8a4b ABcde4b24a4b ABcde8b24a2b ABcde8b8a2b AcdeB24a4b "
    "aBdeC24b4c AcdeB8a4b aBdeC8b4c Bcdea8b BcdeA8b2a aCdeb8c aCdeB8c2b Bcdea24b BcdeA24b2a aCdeb24c aCdeB24c2b "
    "BcdeA8b4a aCdeB8c4b BcdeA24b4a aCdeB24c4b ABcde16b48a ABcde16a4b AcdeB16b64a AcdeB16b48a AcdeB16b32a AcdeB16b16a "
    "AcdeB8b32a AcdeB8b24a AcdeB8b16a AcdeB8b8a AcdeB8b64a2b AcdeB8b32a2b AcdeB8b24a2b AcdeB8b16a2b AcdeB8b8a2b "
    "AcdeB4b64a4b AcdeB4b32a4b AcdeB4b24a4b AcdeB4b16a4b AcdeB4b8a4b aCBde8b8c BAcde8a8b abdEC16e4c decbA4a aCBde4b4c "
    "BAcde4a4b",
    // Rank 6.
    "abcdef abcdfe abdefc abdfce acbdef adefcb defcab aBcdef16b aBCdef16b16c aBCdef16c16b aBCdef4c16b4c aBCdef2c8b4c "
    "aBCdef4c8b2c aBCdef2b4c2b aBcdef4b aBCdef4c4b aBCdef4b4c aBCdef2c4b2c aBCdef4b8c2b aBCdef8b8c aBCdef8b4c "
    "aBCdef8c16b2c aBCdef4b8c8b4c aBCdef8b16c2b aCBdef8b16c2b aBCdef8c8b aBdefc16b aBdefC16b2c aCBdef16c16b aBdefc4b "
    "aBdefc8b Abcdef16a Abcdef32a aCBdef4c8b8c4b aCBdef16b16c aBCdef16c16b4c aBCdef16c16b2c aBdefC16b4c aBdefc32b "
    "aBdefC32b2c aBdefC32b4c aBdefc48b aBdefC48b2c aBdefC48b4c aBdefc64b aBdefC64b2c aBdefC64b4c adefCb2c adefCb4c "
    "aBdefC16c16b2c aBdefC16c16b4c aBdefC16c32b2c aBdefC16c32b4c aBdefC16c48b2c aBdefC16c48b4c aBdefC16c64b2c "
    "aBdefC16c64b4c aBCdef4b8c8b2c aCBdef4c8b8c2b aBCdef8b2c aBCdef2b8c16b2c aBCdef2c8b16c2b aCBdef2c8b16c2b "
    "aBCdef16b16c2b aBdfec16b abCdef4c abCdef32c aCdefB16b32c2b aCdefB16b32c4b aCdefB16b48c2b aCdefB16b48c4b "
    "aCdefB16b64c2b aCdefB16b64c4b aCdefb32c aCdefB32c2b aCdefB32c4b aCdefb48c aCdefB48c2b aCdefB48c4b aCdefb64c "
    "aCdefB64c2b aCdefB64c4b aCdefB16b16c2b aCdefB16b16c4b aCdefb16c aCdefB16c2b aCdefB16c4b aBdefc24b aBdefC24b2c "
    "aBdefC8b2c aBdefC24b4c aBdefC8b4c aCdefb8c aCdefB8c2b aCdefb24c aCdefB24c2b aCdefB8c4b aCdefB24c4b defcbA16a "
    "defcbA8a aCBdef8b8c defcbA4a aCBdef4b4c aBcdef8b aBcdef32b",
};

} // namespace

std::vector<std::string_view> namedTags(int rank) {
  std::vector<std::string_view> tags;
  std::string_view names = namesByRank[rank - minTagRank];
  for (size_t start = 0, end; start < names.size(); start = end + 1) {
    end = std::min(names.find(' ', start), names.size());
    tags.push_back(names.substr(start, end - start));
  }
  return tags;
}

} // namespace quern::cases::reorder
