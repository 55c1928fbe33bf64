//===- Options.h - Options of a command line ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Wraps the parts of CLI11 that the programs use. Including CLI11 costs ten seconds of compile time, so only
// Options.cpp does.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_OPTIONS_H
#define QUERN_TOOLS_OPTIONS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace quern {

/// One option, for further settings. Owned by its command.
class Option {
public:
  explicit Option(CLI::Option *option) : option(option) {}
  Option required();
  /// Shows the variable's present value in the help.
  Option showDefault();
  /// Lets commas separate the values of a list.
  Option commas();
  /// Limits each occurrence of a list option to one argument.
  Option oneArgument();
  Option choices(const std::vector<std::string> &names);
  Option range(int min, int max);
  Option range(double min, double max);
  Option positive();
  Option notNegative();

private:
  CLI::Option *option;
};

/// A command or subcommand, owned by the command line. Variables that are passed to it must outlive parsing.
class Command {
public:
  explicit Command(CLI::App *app) : app(app) {}
  Command subcommand(const std::string &name, const std::string &help);
  /// Makes one of the subcommands required.
  void requireSubcommand();
  /// Adds an option. `names` has the form "-f,--file"; a name without dashes is a positional argument.
  Option option(const std::string &names, std::string &value, const std::string &help);
  Option option(const std::string &names, int64_t &value, const std::string &help);
  Option option(const std::string &names, uint64_t &value, const std::string &help);
  Option option(const std::string &names, double &value, const std::string &help);
  Option option(const std::string &names, std::vector<std::string> &values, const std::string &help);
  Option option(const std::string &names, std::vector<int> &values, const std::string &help);
  Option option(const std::string &names, std::vector<int64_t> &values, const std::string &help);
  Option flag(const std::string &names, bool &value, const std::string &help);
  /// Sets the function that parsing calls if the subcommand is given, after all of its variables are set.
  void callback(std::function<void()> action);

protected:
  CLI::App *app;
};

/// The command line of a program.
class CommandLine : public Command {
public:
  explicit CommandLine(const std::string &help, const std::string &name = "");
  ~CommandLine();
  void version(const std::string &text);
  void footer(const std::string &text);
  /// Returns the exit status if the program is done: 0 after --help and --version, nonzero after an error, which is
  /// printed.
  std::optional<int> parse(int argc, char **argv);

private:
  std::unique_ptr<CLI::App> owned;
};

} // namespace quern

#endif // QUERN_TOOLS_OPTIONS_H
