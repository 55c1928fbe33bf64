//===- Options.cpp - Options of a command line ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <utility>

namespace quern {

Option Option::required() { return Option(option->required()); }

Option Option::showDefault() { return Option(option->capture_default_str()); }

Option Option::commas() { return Option(option->delimiter(',')); }

Option Option::oneArgument() { return Option(option->allow_extra_args(false)); }

Option Option::choices(const std::vector<std::string> &names) { return Option(option->check(CLI::IsMember(names))); }

Option Option::range(int min, int max) { return Option(option->check(CLI::Range(min, max))); }

Option Option::range(double min, double max) { return Option(option->check(CLI::Range(min, max))); }

Option Option::positive() { return Option(option->check(CLI::PositiveNumber)); }

Option Option::notNegative() { return Option(option->check(CLI::NonNegativeNumber)); }

Command Command::subcommand(const std::string &name, const std::string &help) {
  return Command(app->add_subcommand(name, help));
}

void Command::requireSubcommand() { app->require_subcommand(1); }

Option Command::option(const std::string &names, std::string &value, const std::string &help) {
  return Option(app->add_option(names, value, help));
}

Option Command::option(const std::string &names, int64_t &value, const std::string &help) {
  return Option(app->add_option(names, value, help));
}

Option Command::option(const std::string &names, uint64_t &value, const std::string &help) {
  return Option(app->add_option(names, value, help));
}

Option Command::option(const std::string &names, double &value, const std::string &help) {
  return Option(app->add_option(names, value, help));
}

Option Command::option(const std::string &names, std::vector<std::string> &values, const std::string &help) {
  return Option(app->add_option(names, values, help));
}

Option Command::option(const std::string &names, std::vector<int> &values, const std::string &help) {
  return Option(app->add_option(names, values, help));
}

Option Command::option(const std::string &names, std::vector<int64_t> &values, const std::string &help) {
  return Option(app->add_option(names, values, help));
}

Option Command::flag(const std::string &names, bool &value, const std::string &help) {
  return Option(app->add_flag(names, value, help));
}

void Command::callback(std::function<void()> action) { app->callback(std::move(action)); }

CommandLine::CommandLine(const std::string &help, const std::string &name)
    : Command(nullptr), owned(std::make_unique<CLI::App>(help, name)) {
  app = owned.get();
}

CommandLine::~CommandLine() = default;

void CommandLine::version(const std::string &text) { app->set_version_flag("--version", text); }

void CommandLine::footer(const std::string &text) { app->footer(text); }

std::optional<int> CommandLine::parse(int argc, char **argv) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app->exit(error);
  }
  return std::nullopt;
}

} // namespace quern
