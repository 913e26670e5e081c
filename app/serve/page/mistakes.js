/* The test digits that the method gets wrong, by cell of the confusion matrix, with their nearest training digits. */

const digitsAtOnce = 24;
const neighborsOnCard = 5;
/** What is shown: of these labels, null for any, the first ones of `total`. */
const chosen = { label: null, predicted: null, digits: [], total: 0 };
let matrixShown = false;

const newestMistakes = newestOnly((problem) => {
  showTrouble(problem, showMistakes);
  if (problem) byId("mistakes-said").textContent = "";
});

const described = (digit) => `Test image ${digit.index}: true ${digit.label}, predicted ${digit.predicted}, ` +
  `confidence ${percent(digit.confidence, 0)}`;

/** A cell or an edge of the matrix, as a button that shows its digits and, pressed again, all. */
function cellButton(label, predicted, text, name) {
  return element("button", {
    type: "button", class: "choice", tabindex: -1, "data-true": label ?? "", "data-predicted": predicted ?? "",
    "aria-pressed": "false", "aria-label": name,
    click: () => {
      const same = chosen.label === label && chosen.predicted === predicted;
      chooseCell(same ? null : label, same ? null : predicted);
    },
  }, text);
}

function matrixCell(count, label, predicted, most) {
  if (count === 0) return element("td", { class: "none" });
  const isRight = label === predicted;
  const name = `true ${label}, predicted ${predicted}: ${whole.format(count)}`;
  const cell = element("td", { class: isRight ? "right" : "wrong", title: name },
    isRight ? String(count) : cellButton(label, predicted, String(count), name));
  cell.style.setProperty("--strength", `${100 * Math.sqrt(count / most)}%`); // the root makes single errors visible
  return cell;
}

function showMatrix({ matrix, labels = matrix.map((_, i) => i), accuracy, correct, total, method }) {
  const wrongs = matrix.flatMap((row, i) => row.filter((_, j) => i !== j));
  const mostWrong = Math.max(...wrongs, 1);
  const mostRight = Math.max(...matrix.map((row, i) => row[i]), 1);
  const edge = (label, asTrue) => cellButton(asTrue ? label : null, asTrue ? null : label, String(label),
    `All with ${asTrue ? "true" : "predicted"} label ${label}`);
  const head = element("tr", {}, element("td", { class: "corner", "aria-hidden": "true" }, "true \\ pred."),
    ...labels.map((label) => element("th", { scope: "col" }, edge(label, false))));
  const rows = matrix.map((row, i) => element("tr", {}, element("th", { scope: "row" }, edge(labels[i], true)),
    ...row.map((count, j) => matrixCell(count, labels[i], labels[j], i === j ? mostRight : mostWrong))));
  const table = element("table", { class: labels.length > 28 ? "matrix crowded" : "matrix" }, element("thead", {}, head), element("tbody", {}, ...rows));
  table.style.setProperty("--classes", String(labels.length));
  byId("matrix").replaceChildren(table);
  table.querySelector("button").tabIndex = 0;
  moveByArrows(table, "button");
  for (const select of [byId("true-label"), byId("predicted-label")])
    select.append(...labels.map((label) => element("option", { value: label }, String(label))));
  byId("matrix-title").textContent = `Confusion matrix of ${method}`;
  byId("matrix-hint").before(element("p", { class: "lead" }, element("strong", {}, percent(accuracy)), " right: " +
    `${whole.format(correct)} of ${whole.format(total)} test digits`));
}

function card(digit, position) {
  return element("button", {
    type: "button", class: "card", tabindex: position === 0 ? 0 : -1, "aria-label": described(digit),
    click: () => openViewer(position),
  },
  drawn(digit.pixels),
  element("span", { class: "words" }, element("span", { class: "verdict" }, ...verdict(digit)),
    element("span", { class: "share" }, percent(digit.confidence, 0)),
    element("span", { class: "number" }, `#${digit.index}`)),
  element("span", { class: "neighbors" }, ...digit.neighbors.slice(0, neighborsOnCard).map((neighbor) =>
    element("span", { class: "neighbor" }, drawn(neighbor.pixels), labelFor(neighbor.label, digit)))));
}

function showStatus() {
  const parts = [];
  if (chosen.label !== null) parts.push(`true ${chosen.label}`);
  if (chosen.predicted !== null) parts.push(`predicted ${chosen.predicted}`);
  byId("mistakes-said").textContent = counted(chosen.total, "digit", "digits") + (parts.length > 0 ? `: ${parts.join(", ")}` : "");
  const rest = chosen.total - chosen.digits.length;
  byId("more").hidden = rest <= 0;
  byId("more").textContent = `Show ${whole.format(Math.min(rest, digitsAtOnce))} more of ${whole.format(rest)}`;
}

/** Adds the next digits of what is chosen. */
async function addDigits(signal) {
  const query = new URLSearchParams({ first: chosen.digits.length, count: digitsAtOnce });
  if (chosen.label !== null) query.set("true", chosen.label);
  if (chosen.predicted !== null) query.set("predicted", chosen.predicted);
  const { digits, total } = await ask(`/v1/mistakes?${query}`, { signal });
  const first = chosen.digits.length;
  byId("gallery").append(...digits.map((digit, i) => card(digit, first + i)));
  chosen.digits.push(...digits);
  chosen.total = digits.length > 0 ? total : chosen.digits.length;
  showStatus();
}

/** The matrix, once, and the first digits of what is chosen. */
function showMistakes() {
  const text = (label) => (label === null ? "" : String(label));
  byId("true-label").value = text(chosen.label);
  byId("predicted-label").value = text(chosen.predicted);
  byId("show-all").disabled = chosen.label === null && chosen.predicted === null;
  for (const button of document.querySelectorAll("button.choice"))
    button.setAttribute("aria-pressed", String(!byId("show-all").disabled && button.dataset.true === text(chosen.label) &&
      button.dataset.predicted === text(chosen.predicted)));
  newestMistakes(async (signal) => {
    if (!matrixShown) {
      byId("mistakes-said").textContent = "The test digits are being classified…";
      const confusion = await ask("/v1/confusion", { signal });
      showMatrix(confusion);
      matrixShown = true;
    }
    chosen.digits = [];
    byId("gallery").replaceChildren();
    await addDigits(signal);
  });
}

function chooseCell(label, predicted) {
  [chosen.label, chosen.predicted] = [label, predicted];
  showMistakes();
  if (byId("gallery").getBoundingClientRect().top > innerHeight - 120)
    byId("mistakes-title").scrollIntoView({ block: "start" });
}

/* One digit, large, with its neighbors. */

let viewed = 0; // position in chosen.digits

function showViewed() {
  const digit = chosen.digits[viewed];
  byId("viewer-digit").replaceChildren(
    element("div", { class: "large" }, drawn(digit.pixels, described(digit)),
      element("div", {}, element("small", { "aria-hidden": "true" }, "true → predicted"),
        element("h2", { id: "viewer-title", "aria-label": described(digit) }, ...verdict(digit)),
        element("p", {}, `Test image ${digit.index}, confidence ${percent(digit.confidence, 0)}`))),
    element("h3", {}, "Nearest training digits", element("small", {}, " label, index, distance")),
    neighborList(digit.neighbors, digit));
  byId("position").textContent = `${whole.format(viewed + 1)} of ${whole.format(chosen.total)}`;
  byId("previous").disabled = viewed === 0;
  byId("next").disabled = viewed === chosen.digits.length - 1 && chosen.digits.length === chosen.total;
}

function openViewer(position) {
  viewed = position;
  showViewed();
  byId("viewer").showModal();
}

/** To the next digit or the one before, which may have to be asked for. */
function step(by) {
  const to = viewed + by;
  if (to < 0 || to >= chosen.total) return;
  newestMistakes(async (signal) => {
    if (to >= chosen.digits.length) await addDigits(signal);
    viewed = Math.min(to, chosen.digits.length - 1);
    showViewed();
  });
}

function watchMistakes() {
  const labelOf = (id) => (byId(id).value === "" ? null : Number(byId(id).value));
  for (const id of ["true-label", "predicted-label"])
    byId(id).addEventListener("change", () => chooseCell(labelOf("true-label"), labelOf("predicted-label")));
  byId("show-all").addEventListener("click", () => chooseCell(null, null));
  byId("more").addEventListener("click", () => newestMistakes(addDigits));
  moveByArrows(byId("gallery"), "button.card");
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("close").addEventListener("click", () => byId("viewer").close());
  byId("viewer").addEventListener("close", () => byId("gallery").querySelectorAll("button.card")[viewed]?.focus());
  byId("viewer").addEventListener("click", (event) => { if (event.target === byId("viewer")) byId("viewer").close(); });
  byId("viewer").addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, p: -1, ArrowRight: 1, n: 1 }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step(by);
  });
}
