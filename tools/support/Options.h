//===- Options.h - Options of a command line ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the programs use of CLI11, which costs ten seconds to compile: only Options.cpp includes it.
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

/// One option, to say more about it. Owned by its command.
class Option {
public:
  explicit Option(CLI::Option *option) : option(option) {}
  Option required();
  /// The help shows the value that the variable has now.
  Option showDefault();
  /// Of a list: values are separated by commas as well.
  Option commas();
  /// Of a list: the option takes one argument and is repeated for more.
  Option oneArgument();
  Option choices(const std::vector<std::string> &names);
  Option range(int least, int most);
  Option range(double least, double most);
  Option positive();
  Option notNegative();

private:
  CLI::Option *option;
};

/// A command or subcommand, owned by the command line. Variables that are given to it must outlive parsing.
class Command {
public:
  explicit Command(CLI::App *app) : app(app) {}
  Command subcommand(const std::string &name, const std::string &help);
  /// One of the subcommands must be given.
  void requireSubcommand();
  /// `names` as in "-f,--file"; without dashes it is an argument by position.
  Option option(const std::string &names, std::string &value, const std::string &help);
  Option option(const std::string &names, int64_t &value, const std::string &help);
  Option option(const std::string &names, uint64_t &value, const std::string &help);
  Option option(const std::string &names, double &value, const std::string &help);
  Option option(const std::string &names, std::vector<std::string> &values, const std::string &help);
  Option option(const std::string &names, std::vector<int> &values, const std::string &help);
  Option option(const std::string &names, std::vector<int64_t> &values, const std::string &help);
  Option flag(const std::string &names, bool &value, const std::string &help);
  /// Called by parsing if the subcommand is given, when all of its variables are set.
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
  /// The status to exit with, if the program is done: 0 after --help and --version, another one after
  /// an error, which is printed.
  std::optional<int> parse(int argc, char **argv);

private:
  std::unique_ptr<CLI::App> owned;
};

} // namespace quern

#endif // QUERN_TOOLS_OPTIONS_H
