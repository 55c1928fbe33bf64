#!/usr/bin/env python3
# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports prose and names that break the mechanical rules of docs/style.md.

  lint.py [ROOT]                       every hit as path:line: rule: text, then a table of counts
  lint.py [ROOT] --summary             the table only; --folders adds a column per top folder
  lint.py [ROOT] --rule beside,of-own  only these rules; --path GLOB limits the files
  lint.py [ROOT] --sample 40           at most that many random hits per rule (--seed N)
  lint.py [ROOT] --allow FILE          hides the hits that the file allows
  lint.py [ROOT] --allow FILE --shrink lowers the counts of the file to the present hits
  lint.py --text FILE                  checks one plain text, for example a commit message
  lint.py --list-rules                 prints each rule with its advice

Each line of an allow-list is RULE FOLDER COUNT: at most COUNT hits of the rule in the files of that folder. If there
are more, all of them are reported. The exit status is 1 if any hit is left. The last line is "N passed, N failed",
where a pair of a folder and a rule counts as one comparison.
"""

import argparse
import collections
import fnmatch
import os
import random
import re
import signal
import subprocess
import sys

from checks import Tree, check_are, check_documented, check_long, check_names, check_see
from readers import read_markdown, reader_of
from rules import FIXED, RULES

SKIPPED = ("build/", "docs/performance-tables.md", "docs/style.md", "test/fuzz/corpus/", "test/style/", "LICENSE")
NAMES = [rule.name for rule in RULES] + list(FIXED)


def masked(text):
    """Replaces code in backquotes, addresses, formulas and quoted identifiers by neutral characters."""
    for pattern in (
        r"``[^`]*``",
        r"`[^`]*`",
        r"\$\$?[^$\n]{1,200}\$\$?",
        r"https?://\S+",
        r"\]\([^)]*\)",
        r"<[a-zA-Z/][^<>\n]{0,80}>",
        r"\bquern_\w+|\bQUERN_\w+|\b\w+::\w+|(?<!\w)--[a-z][\w-]*(?:=\S*)?|-[a-z][\w-]*=\S*|\b\w+_\w+\b",
    ):
        text = re.sub(pattern, lambda match: "§" * len(match.group()), text)
    return text


class Report:
    """Collects the hits of the wanted rules as (rule, path, line number, line)."""

    def __init__(self, wanted):
        self.wanted, self.hits = wanted, []

    def add(self, rule, path, number, line):
        if not self.wanted or rule in self.wanted:
            self.hits.append((rule, path, number, line.strip()))

    def units(self, path, units, lines):
        """Checks the units of one file against the rules that are regular expressions."""
        for unit in units:
            text = masked(unit.text)
            for rule in RULES:
                if unit.kind not in rule.kinds:
                    continue
                numbers = set()
                for match in rule.regex.finditer(text):
                    if rule.unless and rule.unless.search(text, max(0, match.start() - 70), match.end() + 70):
                        continue
                    numbers.add(unit.number(match.start()))
                for number in sorted(numbers):
                    self.add(rule.name, path, number, lines[number - 1])

    def file(self, tree, path, source):
        lines = source.split("\n")
        units = reader_of(path)(path, source)
        self.units(path, units, lines)

        def report(rule, number):
            self.add(rule, path, number, lines[number - 1])

        for unit in units:
            check_names(tree, path, unit, report)
            check_see(unit, report)
        check_are(path, lines, report)
        check_documented(path, lines, report)
        check_long(path, lines, units, report)


def files_of(root):
    """Returns the files that git would commit if `root` is a working tree, else all files below it."""

    def git(*arguments):
        return subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=True, text=True).stdout

    try:
        if os.path.realpath(git("rev-parse", "--show-toplevel").strip()) != os.path.realpath(root):
            raise FileNotFoundError(root)
        names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        files = [name for name in names if os.path.isfile(os.path.join(root, name))]
    except (subprocess.CalledProcessError, FileNotFoundError):
        files = [os.path.relpath(os.path.join(at, name), root) for at, _, names in os.walk(root) for name in names]
    return sorted(set(name for name in files if not name.startswith(SKIPPED)))


def folder_of(path):
    return os.path.dirname(path) or "."


def check_tree(root, report, path_glob):
    """Checks the tree below `root` and returns the number of folders that were read."""
    files = files_of(root)
    sources = {}
    for path in files:
        if reader_of(path):
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                sources[path] = file.read()
    tree = Tree(files, sources.values())
    for path, source in sources.items():
        if fnmatch.fnmatch(path, path_glob):
            report.file(tree, path, source)
    return len({folder_of(path) for path in sources})


def read_allowed(path):
    """Returns the allowed number of hits for each (rule, folder)."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {(rule, name): int(count) for rule, name, count in rows}


def write_allowed(path, counts):
    with open(path, encoding="utf-8") as file:
        comments = [line for line in file if line.startswith("#")]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(comments)
        for rule, name in sorted(counts, key=lambda key: (key[1], key[0])):
            if counts[rule, name]:
                file.write(f"{rule} {name} {counts[rule, name]}\n")


def print_table(hits, by_folder):
    folders = ["lib", "runtime", "include", "tools", "test", "docs", "other"] if by_folder else []
    print(f"{'rule':18} {'all':>6}" + "".join(f"{folder:>9}" for folder in folders))
    for name in NAMES:
        tops = [path.split("/")[0] for rule, path, _, _ in hits if rule == name]
        counts = collections.Counter(top if top in folders else "other" for top in tops)
        if tops:
            print(f"{name:18} {len(tops):6}" + "".join(f"{counts[folder]:9}" for folder in folders))
    print(f"{'all':18} {len(hits):6}")


def print_sample(hits, size, seed):
    generator = random.Random(seed)
    for name in NAMES:
        of_rule = [hit for hit in hits if hit[0] == name]
        for rule, path, number, line in sorted(generator.sample(of_rule, min(size, len(of_rule)))):
            print(f"{path}:{number}: {rule}: {line[:260]}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=".")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--folders", action="store_true")
    parser.add_argument("--rule", default="")
    parser.add_argument("--path", default="*")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--allow")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--text")
    parser.add_argument("--list-rules", action="store_true")
    return parser.parse_args()


def main():
    args = parse_arguments()
    if args.list_rules:
        for name, advice in [(rule.name, rule.advice) for rule in RULES] + list(FIXED.items()):
            print(f"{name:18} {advice}")
        return 0
    report = Report({name for name in args.rule.split(",") if name})
    count = 1
    if args.text:
        with open(args.text, encoding="utf-8") as file:
            source = file.read()
        report.units(args.text, read_markdown(args.text, source), source.split("\n"))
    else:
        count = check_tree(args.root, report, args.path)
    counts = collections.Counter((rule, folder_of(path)) for rule, path, _, _ in report.hits)
    allowed = read_allowed(args.allow) if args.allow else {}
    if args.shrink:
        write_allowed(args.allow, {key: min(value, counts[key]) for key, value in allowed.items()})
    failed = {key for key in counts if counts[key] > allowed.get(key, 0)}
    hits = [hit for hit in report.hits if (hit[0], folder_of(hit[1])) in failed]
    if args.sample:
        print_sample(hits, args.sample, args.seed)
    elif not args.summary:
        for rule, path, number, line in hits:
            print(f"{path}:{number}: {rule}: {line[:200]}")
    print_table(hits, args.folders)
    print(f"{count * len(NAMES) - len(failed)} passed, {len(failed)} failed")
    return 1 if hits else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
