/* The head of the page, and what it says of confidences. */

const timeMade = page.created.replace("T", " ").replace("Z", " UTC");

/** The head of the page: its title, a headline that begins with `strong`, a sentence, and facts by name. */
function showHead(title, strong, headline, lead, facts) {
  byId("headline").append(element("strong", {}, strong), headline);
  byId("lead").textContent = lead;
  showFacts(title, facts);
}

function showFacts(title, facts) {
  document.title = `${title} (mnist-knn)`;
  byId("program").textContent = `${page.program.name} ${page.program.version}`;
  for (const [name, value] of Object.entries(facts))
    byId("facts").append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
}

function showReportHead() {
  const { dataset, settings, device, result, timing } = page;
  const row = dataset.columns ? "row" : "image";
  const size = dataset.columns ? ` of ${counted(dataset.columns, "column", "columns")}, ${dataset.type}, `
                               : ` of ${dataset.rows} × ${dataset.cols} pixels, `;
  const images = (dataset.pictures ? counted(dataset.train, `training ${row}`, `training ${row}s`)
    : `${whole.format(dataset.train)} training and ${counted(dataset.test, `test ${row}`, `test ${row}s`)}`) + size +
    (dataset.synthetic ? "drawn by the program" : `from ${dataset.source}`) +
    (dataset.pictures ? `; ${whole.format(dataset.test)} of ${whole.format(dataset.named)} pictures, without those ` +
      "that were rejected or failed" : "");
  const processor = [device.name, device.kind === "gpu" ? `compute capability ${device.compute_capability}`
                                                        : counted(settings.threads, "thread", "threads")];
  const choices = ["transform", "rerank", "vote", "engine", "distance", "select", "metric", "p", "weights", "tie"]
    .filter((name) => settings[name]).map((name) => `${name} ${settings[name]}`);
  showFacts(`${dataset.name}: ${percent(result.accuracy)}`, {
    "Data set": images,
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
  showHead(`Suspicious labels: ${page.dataset.name}`, whole.format(audit.improbable), audit.headline,
    `${audit.judged}. Of ${whole.format(audit.improbable)} of them the neighbors suggest another label.`, facts);
}

function showTrust() {
  const { calibration } = page.result;
  byId("trust-note").textContent = calibration.fitted
    ? "A confidence is the probability that an answer is right, fitted by leave-one-out on the training set. Expected " +
      `calibration error: ${percent(calibration.expected_calibration_error)}.`
    : `There are too few training ${page.dataset.columns ? "rows" : "images"} to fit probabilities: confidences are ` +
      "shares of the votes.";
  byId("trust").hidden = page.dataset.test === 0;
}
/* The buttons in the confusion matrix, and the most frequent mistakes. */

/** "true,predicted" of the digits on this page. */
const pairsHere = new Set(page.gallery.digits.map(({ label, predicted }) => `${label},${predicted}`));

/** Makes a label at the edge of the matrix a button if the page has digits of it. */
function pressableLabel(head, label, asTrue) {
  if (!page.gallery.digits.some((digit) => (asTrue ? digit.label : digit.predicted) === label)) return;
  head.replaceChildren(choiceButton(asTrue ? label : null, asTrue ? null : label, className(label),
    `All with ${asTrue ? "true" : "predicted"} label ${className(label)}`));
}

function showMatrix() {
  const { confusion } = page.result;
  const { labels } = page.gallery;
  const flat = confusion.flatMap((row, i) => row.map((count, j) => ({ count, i, j })));
  showPairs(flat.filter(({ count, i, j }) => i !== j && count > 0), labels);
  const made = document.querySelector("table.matrix");
  if (!made) return; // too many classes
  if (!page.dataset.columns) byId("matrix-hint").append(" Choose a colored cell or a label to see its digits.");
  if (labels.length > 28) document.querySelector("main").classList.add("wide");
  const crowded = made.classList.contains("crowded");
  labels.forEach((label, i) => {
    const { cells } = made.tBodies[0].rows[i];
    pressableLabel(made.tHead.rows[0].cells[i + 1], label, false);
    pressableLabel(cells[0], label, true);
    labels.forEach((predicted, j) => {
      const cell = cells[j + 1];
      if (pairsHere.has(`${label},${predicted}`))
        cell.replaceChildren(choiceButton(label, predicted, crowded ? "" : cell.textContent, cell.title));
    });
  });
  watchMatrix(made);
}

function showPairs(mistakes, labels) {
  byId("pairs-title").hidden = false;
  const top = [...mistakes].sort((a, b) => b.count - a.count).slice(0, 10);
  for (const { count, i, j } of top) {
    const [from, to] = [className(labels[i]), className(labels[j])];
    const words = `true ${from}, predicted ${to}: ${whole.format(count)}`;
    const button = choiceButton(labels[i], labels[j], "", words);
    button.append(element("bdi", {}, from), " → ", element("bdi", {}, to), element("small", {}, whole.format(count)));
    button.disabled = !pairsHere.has(`${labels[i]},${labels[j]}`);
    byId("pairs").append(button);
  }
  if (top.length === 0) byId("pairs").append("None.");
}
