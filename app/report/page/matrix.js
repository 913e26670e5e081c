/* The confusion matrix as a table of buttons, and the most frequent mistakes. */

const mostClasses = 64; // above, cells are too small to click and too many for a page

/** Number of digits on this page by "true,predicted". */
const digitsByPair = new Map();
for (const { label, predicted } of page.gallery.digits) {
  const pair = `${label},${predicted}`;
  digitsByPair.set(pair, (digitsByPair.get(pair) ?? 0) + 1);
}

function pairButton(label, predicted, text, description) {
  return element("button", {
    type: "button", class: "choice", "data-true": label ?? "", "data-predicted": predicted ?? "",
    "aria-pressed": "false", "aria-label": description,
    click: () => chooseFilter(label, predicted, true),
  }, text);
}

function labelHead(label, asTrue) {
  const words = asTrue ? `true label ${label}` : `predicted label ${label}`;
  const has = page.gallery.digits.some((digit) => (asTrue ? digit.label : digit.predicted) === label);
  const content = has ? pairButton(asTrue ? label : null, asTrue ? null : label, String(label), `All with ${words}`)
                      : String(label);
  return element("th", { scope: asTrue ? "row" : "col" }, content);
}

function cell(count, label, predicted, most, crowded) {
  const right = label === predicted;
  const text = crowded || count === 0 ? "" : String(count);
  const words = `true ${label}, predicted ${predicted}: ${whole.format(count)}`;
  const made = element("td", { class: count === 0 ? "none" : right ? "right" : "wrong" });
  if (count > 0) made.title = words;
  // The square root makes single errors visible.
  made.style.setProperty("--strength", `${100 * Math.sqrt(count / most)}%`);
  if (digitsByPair.has(`${label},${predicted}`)) made.append(pairButton(label, predicted, text, words));
  else made.append(text, crowded && count > 0 ? element("span", { class: "unseen" }, String(count)) : "");
  return made;
}

function showMatrix() {
  const { confusion, per_class: classes } = page.result;
  const labels = classes.map((one) => one.label);
  const flat = confusion.flatMap((row, i) => row.map((count, j) => ({ count, i, j })));
  const most = (right) => Math.max(1, ...flat.filter(({ i, j }) => (i === j) === right).map(({ count }) => count));
  const [mostRight, mostWrong] = [most(true), most(false)];

  showPairs(flat.filter(({ count, i, j }) => i !== j && count > 0), labels);
  if (labels.length > mostClasses) {
    byId("matrix-hint").textContent = `${labels.length} classes are too many for a table here.`;
    return;
  }
  const crowded = labels.length > 14;
  if (labels.length > 28) document.querySelector("main").classList.add("wide");
  const made = element("table", { class: crowded ? "matrix crowded" : "matrix" },
    element("caption", { class: "unseen" }, "Number of test images by true label (rows) and predicted label (columns)"));
  made.style.setProperty("--classes", labels.length);
  const corner = element("td", { class: "corner", "aria-hidden": "true" }, crowded ? "" : "true\u2009\\\u2009pred.");
  made.append(element("thead", {}, element("tr", {}, corner, ...labels.map((label) => labelHead(label, false)))));
  made.append(element("tbody", {}, ...labels.map((label, i) => element("tr", {}, labelHead(label, true),
    ...labels.map((predicted, j) => cell(confusion[i][j], label, predicted, i === j ? mostRight : mostWrong, crowded))))));
  byId("matrix").append(made);
  moveByArrows(made, "button");
  made.querySelectorAll("button").forEach((button, i) => { button.tabIndex = i === 0 ? 0 : -1; });
}

function showPairs(mistakes, labels) {
  const top = [...mistakes].sort((a, b) => b.count - a.count).slice(0, 10);
  for (const { count, i, j } of top) {
    const words = `true ${labels[i]}, predicted ${labels[j]}: ${whole.format(count)}`;
    const button = pairButton(labels[i], labels[j], `${labels[i]} → ${labels[j]}`, words);
    button.append(element("small", {}, whole.format(count)));
    button.disabled = !digitsByPair.has(`${labels[i]},${labels[j]}`);
    byId("pairs").append(button);
  }
  if (top.length === 0) byId("pairs").append("None.");
}
