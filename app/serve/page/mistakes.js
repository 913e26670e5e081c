/* The test digits that the method gets wrong, by cell of the confusion matrix, with their nearest training digits. */

const digitsAtOnce = 24;
/** What is shown: of these labels, null for any, the first ones of `total`. */
const chosen = { label: null, predicted: null, digits: [], total: 0 };
let matrixShown = false;

const newestMistakes = newestOnly((problem) => {
  showTrouble(problem, showMistakes);
  if (problem) byId("mistakes-said").textContent = "";
});

const words = { label: "true", other: "predicted", share: "confidence" };
const called = ({ index }) => `Test image ${index}`;
const className = String;
const numberText = ({ index }) => `#${index}`;

function matrixCell(count, label, predicted, most) {
  if (count === 0) return element("td", { class: "none" });
  const isRight = label === predicted;
  const name = `true ${label}, predicted ${predicted}: ${whole.format(count)}`;
  const cell = element("td", { class: isRight ? "right" : "wrong", title: name },
    isRight ? String(count) : choiceButton(label, predicted, String(count), name));
  cell.style.setProperty("--strength", `${100 * Math.sqrt(count / most)}%`); // the root makes single errors visible
  return cell;
}

function showMatrix({ matrix, labels = matrix.map((_, i) => i), accuracy, correct, total, method }) {
  const wrongs = matrix.flatMap((row, i) => row.filter((_, j) => i !== j));
  const mostWrong = Math.max(...wrongs, 1);
  const mostRight = Math.max(...matrix.map((row, i) => row[i]), 1);
  const edge = (label, asTrue) => choiceButton(asTrue ? label : null, asTrue ? null : label, String(label),
    `All with ${asTrue ? "true" : "predicted"} label ${label}`);
  const head = element("tr", {}, element("td", { class: "corner", "aria-hidden": "true" }, "true \\ pred."),
    ...labels.map((label) => element("th", { scope: "col" }, edge(label, false))));
  const rows = matrix.map((row, i) => element("tr", {}, element("th", { scope: "row" }, edge(labels[i], true)),
    ...row.map((count, j) => matrixCell(count, labels[i], labels[j], i === j ? mostRight : mostWrong))));
  const table = element("table", { class: labels.length > 28 ? "matrix crowded" : "matrix" }, element("thead", {}, head), element("tbody", {}, ...rows));
  table.style.setProperty("--classes", String(labels.length));
  byId("matrix").replaceChildren(table);
  watchMatrix(table);
  for (const select of [byId("true-label"), byId("predicted-label")])
    select.append(...labels.map((label) => element("option", { value: label }, String(label))));
  byId("matrix-title").textContent = `Confusion matrix of ${method}`;
  byId("matrix-hint").before(element("p", { class: "lead" }, element("strong", {}, percent(accuracy)), " right: " +
    `${whole.format(correct)} of ${whole.format(total)} test digits`));
}

function showStatus() {
  byId("mistakes-said").textContent = counted(chosen.total, "digit", "digits") + chosenText(chosen);
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
  const hadFocus = document.activeElement === byId("more");
  showStatus();
  if (hadFocus && byId("more").hidden) byId("gallery").children[first]?.focus();
}

/** The matrix, once, and the first digits of what is chosen. */
function showMistakes() {
  markChosen(chosen, byId("show-all"));
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

/** As in the report: of these labels, null for any; with `toggle`, repeating a choice shows all. */
function chooseFilter(label, predicted, toggle = false) {
  const same = chosen.label === label && chosen.predicted === predicted;
  [chosen.label, chosen.predicted] = toggle && same ? [null, null] : [label, predicted];
  showMistakes();
  if (byId("gallery").getBoundingClientRect().top > innerHeight - 120)
    byId("mistakes-title").scrollIntoView({ block: "start" });
}

/* One digit, large, with its neighbors. */

let viewed = 0; // position in chosen.digits

function showViewed() {
  showLarge(chosen.digits[viewed], viewed, chosen.total, [], "Nearest training digits", "index, distance");
}

function openViewer(position) {
  viewed = position;
  showViewed();
  viewer.showModal();
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
  for (const id of ["true-label", "predicted-label"])
    byId(id).addEventListener("change", () => chooseFilter(...selectedLabels()));
  byId("show-all").addEventListener("click", () => chooseFilter(null, null));
  byId("more").addEventListener("click", () => newestMistakes(addDigits));
  moveByArrows(byId("gallery"), "button.card");
  watchViewer(step, () => byId("gallery").querySelectorAll("button.card")[viewed]?.focus());
  viewer.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, p: -1, ArrowRight: 1, n: 1 }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step(by);
  });
}
