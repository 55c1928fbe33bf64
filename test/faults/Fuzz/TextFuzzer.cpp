//===- TextFuzzer.cpp - Lines of problems, described and run -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DrawLine.h"
#include "Fuzzers.h"

#include <algorithm>

namespace quern::fuzz {
namespace {

using OwnedDesc = Owned<quern_primitive_desc_t, quern_primitive_desc_destroy>;

/// Returns null if the line is refused; the reason must have one line, or three with the position of the mistake.
OwnedDesc describe(Input &input, const std::string &line) {
  quern_primitive_desc_t made = nullptr;
  const quern_status_t status = quern_primitive_desc_create_from_text(&made, input.device.engine(), line.c_str());
  if (status == quern_success)
    return OwnedDesc(made);
  const std::string message = quern_get_last_error_message();
  const auto newlines = std::ranges::count(message, '\n');
  require(status == quern_invalid_arguments || status == quern_unimplemented,
          concat(quern_status_name(status), ": ", message));
  require(message.size() > 9 && (newlines == 0 || newlines == 2), "refused without a reason: " + message);
  input.count(Refused);
  return nullptr;
}

std::string textOf(const OwnedDesc &desc) {
  const char *text = nullptr;
  require(quern_primitive_desc_get_text(desc.get(), &text) == quern_success, "a descriptor has no text");
  return text;
}

} // namespace

void fuzzText(Input &input) {
  const DrawnLine drawn = drawLine(input.random, input.device.target());
  input.note(drawn.line);
  if (const OwnedDesc desc = describe(input, drawn.line)) {
    input.count(Described);
    const std::string text = textOf(desc);
    const OwnedDesc again = describe(input, text);
    require(bool(again), "its text is refused: " + text);
    require(textOf(again) == text, "its text " + text + " reads back as " + textOf(again));
    input.pass();
    runProblem(input, drawn);
  }
}

} // namespace quern::fuzz
