/* The head of the page, the table of classes and the table of times. */

const timeMade = page.created.replace("T", " ").replace("Z", " UTC");

/** The head of the page: its title, a headline that begins with `strong`, a sentence, and facts by name. */
function showHead(title, strong, headline, lead, facts) {
  document.title = `${title} (mnist-knn)`;
  byId("program").textContent = `${page.program.name} ${page.program.version}`;
  byId("headline").append(element("strong", {}, strong), headline);
  byId("lead").textContent = lead;
  for (const [name, value] of Object.entries(facts))
    byId("facts").append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
}

function showReportHead() {
  const { dataset, settings, device, result, timing } = page;
  const images = `${whole.format(dataset.train)} training and ${whole.format(dataset.test)} test images of ` +
    `${dataset.rows} × ${dataset.cols} pixels`;
  const processor = [device.name, device.kind === "gpu" ? `compute capability ${device.compute_capability}`
                                                        : `${settings.threads} threads`];
  const choices = ["transform", "rerank", "vote", "engine", "distance", "select", "metric", "p", "weights", "tie"]
    .filter((name) => settings[name]).map((name) => `${name} ${settings[name]}`);
  showHead(`${dataset.name}: ${percent(result.accuracy)}`, percent(result.accuracy), ` on ${dataset.name}`,
    `${whole.format(result.correct)} of ${whole.format(result.total)} test images right, ` +
    `${whole.format(result.total - result.correct)} wrong. 95 % interval ` +
    `${percent(result.accuracy_low)} to ${percent(result.accuracy_high)}.`, {
      "Data set": dataset.synthetic ? `${images}, drawn by the program` : `${images}, from ${dataset.source}`,
      "Settings": [`k = ${settings.k}`, ...choices].join(", "),
      "Device": processor.join(", "),
      "Time": `${brief(timing.search_ms)} ms to search, ${brief(timing.load_ms)} ms to load, ` +
        `${brief(timing.wall_ms)} ms in all`,
      "Made": timeMade,
    });
}

/** The head of the page of `audit`: what was judged. */
function showAuditHead() {
  const { audit } = page;
  const facts = { "Settings": audit.settings, "Neighbors": `the nearest ${audit.each} of each class`,
    "Probability": audit.probability, "Made": timeMade };
  if (audit.planted) facts["Planted"] = audit.planted;
  showHead(`Suspicious labels: ${page.dataset.name}`, whole.format(audit.improbable), " labels that their neighbors contradict",
    `${audit.judged}. Of ${whole.format(audit.improbable)} of them the neighbors suggest another label.`, facts);
}

/** A table with a head; the first cell of each row is the row's heading. `rows`: {cells, share?} */
function table(caption, heads, rows) {
  const made = element("table", {}, element("caption", { class: "unseen" }, caption));
  made.append(element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))));
  const body = element("tbody");
  for (const { cells, share } of rows) {
    const [first, ...others] = cells;
    const row = element("tr", {}, element("th", { scope: "row" }, first));
    row.append(...others.map((cell) => (cell instanceof Node && cell.tagName === "TD" ? cell : element("td", {}, cell))));
    if (share !== undefined) row.style.setProperty("--share", `${100 * share}%`);
    body.append(row);
  }
  made.append(body);
  return made;
}

function showClasses() {
  const classes = page.result.per_class;
  const wrong = classes.map((one, i) => one.support - page.result.confusion[i][i]);
  const most = Math.max(1, ...wrong);
  if (classes.length > 20) byId("classes").classList.add("tall");
  byId("classes").append(table("Precision, recall and F1 of each class",
    ["Label", "Images", "Wrong", "", "Precision", "Recall", "F1"],
    classes.map((one, i) => ({
      cells: [String(one.label), whole.format(one.support), whole.format(wrong[i]),
        element("td", { class: wrong[i] > 0 ? "bar wrong" : "bar none", "aria-hidden": "true" }),
        percent(one.precision), percent(one.recall), percent(one.f1)],
      share: wrong[i] / most,
    }))));
}

/** A rate and, if the device's limit is known and applies, its share: "3,120 65 %". */
function rate(value, peak) {
  if (!value) return "–";
  const cell = element("td", {}, brief(value));
  const share = Math.round(100 * value / peak);
  if (value <= peak) cell.append(element("small", {}, share < 1 ? " < 1\u00a0%" : ` ${share}\u00a0%`));
  return cell;
}

function showTiming() {
  const { stages } = page.timing;
  const { device } = page;
  const longest = Math.max(...stages.map((stage) => stage.total_ms), 1e-9);
  byId("timing").append(table("Time of each stage of the search",
    ["Stage", "", "ms", "µs / image", "GB/s", "GFLOP/s"],
    stages.map((stage) => ({
      cells: [stage.name, element("td", { class: "bar", "aria-hidden": "true" }), brief(stage.total_ms),
        brief(1000 * stage.per_image_ms),
        rate(stage.gb_per_s, stage.kind === "copy" ? device.peak_link_gb_per_s : device.peak_gb_per_s),
        rate(stage.gflop_per_s, device.peak_gflop_per_s)],
      share: stage.total_ms / longest,
    }))));
  const known = device.peak_gb_per_s > 0 || device.peak_gflop_per_s > 0;
  byId("timing-note").textContent =
    `Stages on the device take ${brief(page.timing.kernels_ms)} ms together, copies left out.` +
    (known ? " Percentages are shares of the device's own limit: its memory bandwidth, its link to the host, its " +
      "float32 arithmetic." : "");
}

function showTrust() {
  const { calibration } = page.result;
  byId("trust-note").textContent = calibration.fitted
    ? "A confidence is the probability that an answer is right, fitted by leave-one-out on the training set. Expected " +
      `calibration error: ${percent(calibration.expected_calibration_error)}.`
    : "There are too few training images to fit probabilities: confidences are shares of the votes.";
  byId("trust").hidden = page.dataset.test === 0;
}
/* The confusion matrix as a table of buttons, and the most frequent mistakes. */

const mostClasses = 64; // above, cells are too small to click and too many for a page

/** "true,predicted" of the digits on this page. */
const pairsHere = new Set(page.gallery.digits.map(({ label, predicted }) => `${label},${predicted}`));

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
  if (pairsHere.has(`${label},${predicted}`)) made.append(pairButton(label, predicted, text, words));
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
    button.disabled = !pairsHere.has(`${labels[i]},${labels[j]}`);
    byId("pairs").append(button);
  }
  if (top.length === 0) byId("pairs").append("None.");
}
