// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interaction of a page: related lines of the stages are highlighted together, by the line of the schedule that they
// come from or lead to. Each kind of event has one listener for the whole page, because there may be ten thousand
// lines.
"use strict";
(() => {
  const trace = JSON.parse(document.getElementById("trace").textContent);
  const sections = [...document.querySelectorAll("section")];
  const columns = sections.map((section, at) => ({
    section, kernel: +section.dataset.kernel, stage: section.dataset.stage,
    pre: section.querySelector("pre"), lines: [...section.querySelectorAll(".l")],
    links: trace[at],
  }));
  const ofLine = new Map();
  for (const column of columns)
    column.lines.forEach((line, at) => ofLine.set(line, { column, at }));

  // --- Tokens ---------------------------------------------------------------------------------------------------------
  const tokens = /(\/\/.*|;.*|#\s.*)|([%@][\w.$-]+(?:#\d+)?|%[a-z]mm\d+|%[er]?[a-z0-9]{2,4}\b)|("(?:[^"\\]|\\.)*")|\b(0x[0-9a-fA-F]+|-?\d+(?:\.\d+(?:[eE][-+]?\d+)?)?)\b|\b([a-z_]+\.[\w.]+)\b/g;
  const escape = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
  const mark = (kind, text) => `<span class="${kind}">${escape(text)}</span>`;
  function highlight(line) {
    const text = line.textContent;
    let html = "", end = 0;
    for (const found of text.matchAll(tokens)) {
      html += escape(text.slice(end, found.index));
      const kind = found[1] ? "c" : found[2] ? "v" : found[5] ? "o" : "n";
      html += mark(kind, found[0]);
      end = found.index + found[0].length;
    }
    line.innerHTML = html + escape(text.slice(end));
  }

  // --- Links ----------------------------------------------------------------------------------------------------------
  // For each column: the lines of the schedule to which a line belongs, and the reverse.
  const anchor = "schedule";
  for (const column of columns) {
    const schedule = columns.find((other) => other.kernel === column.kernel && other.stage === anchor);
    column.anchors = column.lines.map(() => []);
    column.linesOf = new Map();
    const link = (at, scheduled) => {
      if (!column.anchors[at])
        return;
      column.anchors[at].push(scheduled);
      column.linesOf.set(scheduled, [...(column.linesOf.get(scheduled) || []), at]);
    };
    if (column === schedule)
      column.lines.forEach((_, at) => link(at, at));
    else if (column.links.of === anchor)
      column.links.origins.forEach((lines, at) => lines.forEach((line) => link(at, line - 1)));
    else if (schedule && schedule.links.of === column.stage)
      schedule.links.origins.forEach((lines, at) => lines.forEach((line) => link(line - 1, at)));
  }

  /// Returns the steps of the lines of emit from which these lines of the schedule come.
  function stepsOf(kernel, anchors) {
    const emit = columns.find((column) => column.kernel === kernel && column.links.steps.length);
    const schedule = columns.find((column) => column.kernel === kernel && column.stage === anchor);
    if (!emit || !schedule)
      return "";
    const lines = anchors.flatMap((at) => schedule.links.origins[at] || []);
    return [...new Set(lines.map((line) => emit.links.steps[line - 1]).filter(Boolean))].join("; ");
  }

  const step = document.getElementById("step");
  let lit = [];
  function light(place, kind) {
    for (const line of lit)
      line.classList.remove("lit", "pinned");
    lit = [];
    step.textContent = "";
    if (!place)
      return;
    const anchors = place.column.anchors[place.at];
    step.textContent = stepsOf(place.column.kernel, anchors);
    for (const column of columns) {
      if (column.kernel !== place.column.kernel)
        continue;
      const lines = new Set(anchors.flatMap((at) => column.linesOf.get(at) || []));
      if (column === place.column)
        lines.add(place.at);
      for (const at of lines) {
        column.lines[at].classList.add(kind);
        lit.push(column.lines[at]);
      }
    }
  }
  function scrollTo(place) {
    for (const column of columns) {
      const line = column === place.column ? column.lines[place.at] : column.lines.find((l) => l.classList.contains("pinned"));
      if (!line || column.section.hidden)
        continue;
      const top = line.offsetTop - column.pre.offsetTop, height = column.pre.clientHeight;
      if (column !== place.column || top < column.pre.scrollTop || top > column.pre.scrollTop + height - 20)
        column.pre.scrollTop = top - height / 3;
    }
  }
  const nameOf = (place) => `${place.column.stage}${place.column.kernel ? "." + place.column.kernel : ""}-${place.at + 1}`;
  let pinned = null;
  function pin(place) {
    pinned = place;
    light(place, "pinned");
    if (place)
      scrollTo(place);
    history.replaceState(null, "", place ? "#" + nameOf(place) : location.pathname + location.search);
  }

  // --- Values ---------------------------------------------------------------------------------------------------------
  function functionAround(column, at) {
    const starts = /^\s*(func\.func|llvm\.func|define)\b|^[\w.$]+:\s*#\s*@/;
    let first = at, end = at + 1;
    while (first > 0 && !starts.test(column.lines[first].textContent)) --first;
    while (end < column.lines.length && !starts.test(column.lines[end].textContent)) ++end;
    return column.lines.slice(first, end);
  }
  // In MLIR a name means another value in another region: from its definition to the end of the block, by indentation.
  const indentOf = (line) => line.textContent.search(/\S/);
  function defines(line, name) {
    const text = line.textContent.trimStart();
    if (text.startsWith(name + " =") || text.startsWith(name + ":"))
      return "value";
    const isHead = /^(func\.func|llvm\.func|define|\^\w+\()|\bscf\.\w+ |linalg\.\w+ /.test(text);
    return isHead && (text.includes(name + ": ") || text.includes(name + " = ")) ? "argument" : "";
  }
  /// Returns the line that defines a value, if there is one, and the lines in which its name refers to it.
  function scopeOf(value) {
    const { column, at } = ofLine.get(value.closest(".l")), name = value.textContent.replace(/#\d+$/, "");
    const around = functionAround(column, at);
    if (column.links.of === anchor) // registers and LLVM values
      return { name, definition: around.find((line) => defines(line, name)), lines: around };
    let indent = indentOf(column.lines[at]);
    for (let line = at; line >= 0; --line) {
      const kind = indentOf(column.lines[line]) <= indent ? defines(column.lines[line], name) : "";
      indent = Math.min(indent, Math.max(0, indentOf(column.lines[line])));
      if (!kind)
        continue;
      let end = line + 1;
      const isInside = (next) => indentOf(next) > indent || (kind === "value" && indentOf(next) === indent);
      while (end < column.lines.length && isInside(column.lines[end])) ++end;
      return { name, definition: column.lines[line], lines: column.lines.slice(line, end) };
    }
    return { name, definition: undefined, lines: around };
  }
  function colorUses(value) {
    for (const used of document.querySelectorAll(".v.use"))
      used.classList.remove("use");
    const { name, lines } = scopeOf(value);
    for (const line of lines)
      for (const other of line.querySelectorAll(".v"))
        other.classList.toggle("use", other.textContent.replace(/#\d+$/, "") === name);
  }
  function definitionOf(value) {
    const { name, definition } = scopeOf(value);
    return definition ? definition.textContent.trim() : name;
  }

  // --- Events ---------------------------------------------------------------------------------------------------------
  const main = document.querySelector("main");
  main.addEventListener("mouseover", (event) => {
    const line = event.target.closest(".l");
    if (event.target.classList.contains("v") && !event.target.title)
      event.target.title = definitionOf(event.target);
    if (line && !pinned)
      light(ofLine.get(line), "lit");
  });
  main.addEventListener("mouseleave", () => pinned || light(null));
  main.addEventListener("click", (event) => {
    if (event.target.classList.contains("v"))
      colorUses(event.target);
    const line = event.target.closest(".l");
    if (line)
      pin(ofLine.get(line));
  });
  let grip = null;
  main.addEventListener("pointerdown", (event) => {
    if (!event.target.classList.contains("grip"))
      return;
    grip = { section: event.target.previousElementSibling, x: event.clientX };
    grip.width = grip.section.offsetWidth;
    event.target.setPointerCapture(event.pointerId);
  });
  main.addEventListener("pointermove", (event) => {
    if (grip)
      grip.section.style.flex = `0 0 ${Math.max(80, grip.width + event.clientX - grip.x)}px`;
  });
  main.addEventListener("pointerup", () => (grip = null));

  const search = document.getElementById("search"), said = document.getElementById("said");
  let found = [], next = 0;
  function find(text) {
    for (const line of found)
      line.classList.remove("found");
    found = text ? [...ofLine.keys()].filter((line) => line.textContent.includes(text)) : [];
    next = 0;
    for (const line of found)
      line.classList.add("found");
    said.textContent = text ? `${found.length} lines` : "";
  }
  search.addEventListener("input", () => find(search.value));
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found.length) {
      const place = ofLine.get(found[next++ % found.length]);
      toggle(place.column, true);
      pin(place);
    }
  });
  const boxes = [...document.querySelectorAll("nav [type=checkbox]:not([data-about])")];
  function toggle(column, shown) {
    column.section.hidden = !shown;
    column.section.nextElementSibling.hidden = !shown;
    boxes[columns.indexOf(column)].checked = shown;
  }
  boxes.forEach((box, at) => box.addEventListener("change", () => toggle(columns[at], box.checked)));
  // Descriptions of the kernels.
  const abouts = [...document.querySelectorAll("aside")], aboutBoxes = [...document.querySelectorAll("nav [data-about]")];
  function toggleAbout(at, shown) {
    abouts[at].hidden = !shown;
    abouts[at].nextElementSibling.hidden = !shown;
    aboutBoxes[at].checked = shown;
  }
  aboutBoxes.forEach((box, at) => box.addEventListener("change", () => toggleAbout(at, box.checked)));
  function changeTheme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  }
  document.getElementById("theme").addEventListener("click", changeTheme);
  document.addEventListener("keydown", (event) => {
    if (event.target === search) {
      if (event.key === "Escape")
        search.blur();
      return;
    }
    const move = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (event.key === "/") {
      search.focus();
    } else if (event.key === "Escape") {
      pin(null);
    } else if (event.key === "d") {
      changeTheme();
    } else if (event.key === "0") {
      abouts.forEach((about, at) => toggleAbout(at, about.hidden));
    } else if (columns[+event.key - 1]) {
      const column = columns[+event.key - 1];
      toggle(column, column.section.hidden);
    } else if (move && pinned && pinned.column.lines[pinned.at + move]) {
      pin({ column: pinned.column, at: pinned.at + move });
    } else {
      return;
    }
    event.preventDefault();
  });

  // --- Comparison -----------------------------------------------------------------------------------------------------
  // Marks lines that the same stage of the other kernel does not have, independent of the numbers of its values.
  const plain = (line) => line.textContent.replace(/%\d+/g, "%").replace(/(%[A-Za-z]\w*?)_\d+\b/g, "$1").trim();
  for (const column of columns) {
    const others = columns.filter((other) => other.stage === column.stage && other !== column);
    if (!others.length)
      continue;
    const known = new Set(others.flatMap((other) => other.lines.map(plain)));
    for (const line of column.lines)
      line.classList.toggle("other", !known.has(plain(line)));
  }

  for (const column of columns) {
    column.lines.forEach(highlight);
    toggle(column, !column.section.hasAttribute("data-folded"));
  }
  // "#schedule-62" or, for the second kernel, "#schedule.1-62": from the address, or from the list of loops.
  const follow = () => {
    const parts = location.hash.slice(1).split(/[.-]/);
    const [stage, kernel, at] = parts.length === 3 ? parts : [parts[0], 0, parts[1]];
    const linked = columns.find((column) => column.stage === stage && column.kernel === +kernel);
    if (linked && linked.lines[at - 1])
      pin({ column: linked, at: at - 1 });
  };
  follow();
  addEventListener("hashchange", follow);
  document.body.dataset.ready = "yes";
})();
