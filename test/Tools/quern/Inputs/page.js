// Simulates a reader of the page of a softmax: hovers, pins, uses of values, search, folding, keys.
const section = (stage) => document.querySelector(`section[data-stage=${stage}]`);
const linesOf = (stage) => [...section(stage).querySelectorAll(".l")];
const lineWith = (stage, text) => linesOf(stage).find((line) => line.textContent.includes(text));
const marked = (stage, kind) => linesOf(stage).filter((line) => line.classList.contains(kind));
check("the page is ready", document.body.dataset.ready === "yes");

const exp = linesOf("schedule").filter((line) => line.textContent.includes("math.exp"))[0];
mouse("mouseover", exp);
check("hovering highlights the exp of emit", marked("emit", "lit").some((line) => line.textContent.includes("math.exp")));
check("and its instructions", marked("assembly", "lit").some((line) => line.textContent.includes("vscalefps")));
check("and shows its step", document.getElementById("step").textContent === "exp(x - max)");
check("and no other instructions", marked("assembly", "lit").every((line) => !line.textContent.includes("vmovups\t(%r")));
check("nothing is pinned yet", marked("schedule", "pinned").length === 0);

mouse("click", exp);
mouse("mouseover", lineWith("emit", "arith.divf"));
check("a click pins a line", marked("schedule", "pinned").length === 1 && marked("emit", "lit").length === 0);
const seen = marked("assembly", "pinned")[0].getBoundingClientRect(), column = section("assembly").getBoundingClientRect();
check("and scrolls the other columns to it", seen.top >= column.top && seen.bottom <= column.bottom);
check("and the address names it", location.hash.startsWith("#schedule-"));
key("ArrowDown");
check("keys move the pin", marked("schedule", "pinned")[0] === exp.nextElementSibling);
key("Escape");
check("and a key removes the pin", document.querySelectorAll(".pinned").length === 0);

const value = lineWith("emit", "arith.subf").querySelector(".v");
mouse("mouseover", value);
check("a tooltip has the definition and its type", value.title.includes("arith.subf") && value.title.includes("f32"));
mouse("click", value);
const uses = [...document.querySelectorAll(".use")];
check("a click on a value colors its uses, and no values of the same name", uses.length === 2 &&
  uses[1].closest(".l").textContent.includes("math.exp"));
key("Escape");

const search = document.getElementById("search");
search.value = "vector.reduction";
search.dispatchEvent(new Event("input"));
check("search marks lines", marked("schedule", "found").length === 2);
check("and counts them", document.getElementById("said").textContent === "2 lines");
search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
check("Enter goes to the first", marked("schedule", "pinned")[0] === marked("schedule", "found")[0]);

check("LLVM is folded", section("llvm").hidden);
key("3");
check("a key unfolds it", !section("llvm").hidden);
const box = document.querySelector("nav [type=checkbox]:not([data-about])");
box.click();
check("a checkbox hides a column", section("emit").hidden);
box.click();
const dark = getComputedStyle(document.body).backgroundColor;
key("d");
check("a key toggles dark and light", getComputedStyle(document.body).backgroundColor !== dark);

const loop = [...document.querySelectorAll(".loops a")].find((link) => link.textContent.includes("times"));
location.hash = loop.getAttribute("href");
dispatchEvent(new HashChangeEvent("hashchange"));
check("a loop of the list is a link to its line", marked("schedule", "pinned").some((line) => line.textContent.includes("scf.for")));

const about = document.querySelector("aside"), shown = () => !about.hidden;
key("0");
check("a key hides problem and plan", !shown());
document.querySelector("nav [data-about]").click();
check("and the checkbox shows it again", shown());
const estimated = document.querySelector(".about table a");
location.hash = estimated.getAttribute("href");
dispatchEvent(new HashChangeEvent("hashchange"));
check("a loop of the assembly is a link to its line", marked("assembly", "pinned").some((line) => /latency [\d.]+ cycles/.test(line.title)));
check("accesses of unknown alignment are marked", linesOf("assembly").filter((line) =>
  line.classList.contains("unaligned")).every((line) => line.textContent.includes("(%r")));
check("the page has the results of the recipes", about.textContent.includes("map refuses") && about.textContent.includes("rows supports it"));
check("the page fits in the window, and its columns scroll", document.documentElement.scrollHeight <= innerHeight + 40);
