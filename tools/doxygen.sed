# The input filter of docs/Doxyfile. Documents the declarations that many headers repeat. Keeps the numbers of lines.

# The title of a file header.
s#^/\*===- (quern/)?([^ ]+) - (.*[^- ]) -*===\*$#/** @file \2 @brief \3.#
s#^//===- (quern/|quern-compiler/)?([^ ]+) - (.*[^- ]) -*===//$#/// @file \2 @brief \3.#
s#^ \*===-+===\*# *#

# Constructors that every class of primitives has.
s#^( +)([a-z_]+\(\) = default;)#\1/** Creates an empty handle. */ \2#
s#^( +)([a-z_]+\(const primitive_desc &pd\) : primitive\(pd\) \{\})#\1/** Creates the primitive of a descriptor. */ \2#
s#^( +)([a-z_]+\(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob\) : primitive)#\1/** Creates the primitive from a cache blob. */ \2#
