# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens a page from its file in headless Chromium, runs a script in it, and prints the script's output.

  browse.py PAGE.html SCRIPT.js [--size=WIDTHxHEIGHT] [--screenshot=FILE.png]

The script calls say(text) and check(what, condition). Errors of the page and requests that it sends are also printed.
"""

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

BEFORE = """<script>
const complaints = [];
window.addEventListener("error", (event) => complaints.push(event.message));
console.error = (text) => complaints.push(text);
</script>"""
AFTER = """<script>
const results = [];
const say = (text) => results.push(text);
const check = (what, condition) => say((condition ? "ok: " : "FAILED: ") + what);
const mouse = (kind, element) => element.dispatchEvent(new MouseEvent(kind, { bubbles: true }));
const key = (name) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
try {
  %s
} catch (error) {
  say("FAILED: " + error.stack);
}
check("no errors" + complaints.join("; "), complaints.length === 0);
check("no requests", performance.getEntriesByType("resource").length === 0);
const output = document.createElement("output");
output.id = "results";
output.textContent = results.join("\\n");
document.body.append(output);
</script>"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("script")
    parser.add_argument("--size", default="1600x900")
    parser.add_argument("--screenshot")
    options = parser.parse_args()
    with open(options.page, encoding="utf-8") as file:
        page = file.read()
    with open(options.script, encoding="utf-8") as file:
        script = file.read()
    page = page.replace("<head>", "<head>" + BEFORE, 1).replace("</body>", AFTER % script + "</body>", 1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        command = [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + folder,
                   "--window-size=" + options.size.replace("x", ","), "--virtual-time-budget=5000"]
        if options.screenshot:
            subprocess.run(command + ["--screenshot=" + options.screenshot, "file://" + path], check=True,
                           capture_output=True)
        shown = subprocess.run(command + ["--dump-dom", "file://" + path], check=True, capture_output=True, text=True,
                               timeout=120).stdout
    results = re.search(r'<output id="results">(.*?)</output>', shown, re.DOTALL)
    if not results:
        sys.exit("the script did not terminate")
    text = html.unescape(results[1])
    print(text)
    sys.exit(1 if "FAILED" in text else 0)


if __name__ == "__main__":
    main()
