// Checks a page of two targets: lines that the other target's stage does not have are marked.
const sections = [...document.querySelectorAll("section")];
check("each stage occurs twice", sections.map((one) => one.dataset.stage).join() ===
  "emit,emit,schedule,schedule,llvm,llvm,assembly,assembly");
const marked = (at) => [...sections[at].querySelectorAll(".l.other")].length;
check("emit differs only in the line of the target", marked(0) === 1 && marked(1) === 1);
check("vectors differ", marked(2) > 5 && marked(3) > 5);
const line = [...sections[3].querySelectorAll(".l")].find((one) => one.textContent.includes("math.exp"));
mouse("mouseover", line);
check("highlighted lines are of one target", sections[7].querySelectorAll(".lit").length > 0 &&
  sections[6].querySelectorAll(".lit").length === 0);
