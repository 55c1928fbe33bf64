//===- Locale.cpp - A program with another global locale -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that a global locale with another format of numbers, such as 1.000,5, changes no text, no kernel and no
// message.
//
// FAULTS: locale limit=60:
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include "quern/quern_compile.h"

#include <cstdio>
#include <locale>

using namespace quern::faults;

namespace {

class Grouped : public std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\3"; }
  std::string do_truename() const override { return "wahr"; }
};

const char *const lines[] = {
    "softmax fwd_i alg=log src=f32:1200x2000:ab dst=bf16:1200x2000:ab axis=1 attr.deterministic=true",
    "eltwise fwd_i alg=pow alpha=1234.5 beta=0.25 src=f32:3x1500:s2000x1:off1024 dst=f32:3x1500:ab",
    "reorder src=f32:1025x1031:ab dst=s8:1025x1031:AB16b64a attr.scales=src(mask=2) attr.post_ops=sum(scale=0.5)",
    "softmax fwd_i src=f32:1200x2000:ab dst=f32:1200x2001:ab axis=1",
    "softmax fwd_i src=f32:1200x2000:ab dst=f32:1200x2000:ab axis=1000",
};

/// Returns the text of a blob, or the reason why there is none.
std::string textOf(quern_status_t status, quern_blob_t blob) {
  const void *data = nullptr;
  size_t size = 0;
  if (status != quern_success || quern_blob_get_data(blob, &data, &size) != quern_success)
    return quern_get_last_error_message();
  std::string text(static_cast<const char *>(data), size);
  quern_blob_destroy(blob);
  return text;
}

/// Returns all texts of the library about a line.
std::string describe(const Cpu &cpu, const char *line) {
  Execution execution;
  if (execution.describe(cpu.engine, line) != quern_success)
    return quern_get_last_error_message();
  const char *text = nullptr;
  require(quern_primitive_desc_get_text(execution.descriptor(), &text), "the text of a descriptor");
  std::string all = text;
  quern_blob_t blob = nullptr;
  quern_status_t status = quern_explain(text, "avx2", &blob);
  all += "\n" + textOf(status, blob);
  for (quern_code_form_t form :
       {quern_form_emit, quern_form_schedule, quern_form_lower, quern_form_llvm, quern_form_asm, quern_form_artifact}) {
    blob = nullptr;
    status = quern_compile(text, "avx2", form, &blob);
    all += "\n" + textOf(status, blob);
  }
  return all;
}

} // namespace

int main() {
  const Cpu cpu;
  int passed = 0;
  for (const char *line : lines) {
    std::locale::global(std::locale::classic());
    const std::string usual = describe(cpu, line);
    std::locale::global(std::locale(std::locale::classic(), new Grouped));
    const std::string other = describe(cpu, line);
    std::locale::global(std::locale::classic());
    if (usual != other) {
      size_t at = 0;
      while (usual[at] == other[at])
        ++at;
      at -= std::min<size_t>(at, 40);
      fail(std::string(line) + ": not '" + usual.substr(at, 80) + "', but '" + other.substr(at, 80) + "'");
    }
    ++passed;
  }
  std::printf("%d passed, 0 failed\n", passed);
}
