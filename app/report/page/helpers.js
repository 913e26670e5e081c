"use strict";

/* What the scripts of all pages use. It needs no data. */

const byId = (id) => document.getElementById(id);

/** Creates an element. Functions become listeners; children are elements or text, never parsed as HTML. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const whole = new Intl.NumberFormat("en-US");
const counted = (count, one, many) => `${whole.format(count)} ${count === 1 ? one : many}`;

const fixed = [0, 1, 2].map((places) => new Intl.NumberFormat("en-US",
  { minimumFractionDigits: places, maximumFractionDigits: places, roundingMode: "halfEven" }));

/** As `percent` of data/core/format.cpp: a half is rounded to the even digit, less than all never up to 100 %. */
function percent(share, places = 2) {
  const text = fixed[places].format(100 * share);
  if (share >= 1 || Number(text) < 100) return `${text}\u00a0%`;
  return places < 1 ? percent(share, 1) : `>\u00a0${(100 - 10 ** -places).toFixed(places)}\u00a0%`;
}

/** Three significant digits, and never an exponent: 0.0123, 4.56, 78.9, 1,230. */
function brief(number) {
  if (number === 0) return "0";
  return new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 }).format(number);
}

/** The role of a label, which gives it its color: the true one, the one wrongly predicted, or any other. */
function roleOf(label, digit) {
  return label === digit.label ? "right" : label === digit.predicted ? "wrong" : "other";
}

function labelFor(label, digit) {
  return element("bdi", { class: `label ${roleOf(label, digit)}` }, className(label));
}

/** "4 → 9" with colors; the containing element has the text for screen readers. */
function verdict(digit) {
  return [labelFor(digit.label, digit), " → ", labelFor(digit.predicted, digit)];
}

/**
 * Lets the arrow keys move the focus to the nearest element that matches, in the direction of the key;
 * the Tab key treats all of them as one stop.
 */
function moveByArrows(container, selector) {
  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const middle = (rect) => [rect.left + rect.width / 2, rect.top + rect.height / 2];
  container.addEventListener("keydown", (event) => {
    const direction = directions[event.key];
    if (!direction || !event.target.matches(selector)) return;
    event.preventDefault();
    const [fromX, fromY] = middle(event.target.getBoundingClientRect());
    let nearest = null;
    let shortest = Infinity;
    for (const candidate of container.querySelectorAll(selector)) {
      const [x, y] = middle(candidate.getBoundingClientRect());
      const ahead = (x - fromX) * direction[0] + (y - fromY) * direction[1];
      const aside = Math.abs((x - fromX) * direction[1]) + Math.abs((y - fromY) * direction[0]);
      if (ahead > 1 && ahead + 4 * aside < shortest) {
        shortest = ahead + 4 * aside;
        nearest = candidate;
      }
    }
    nearest?.focus();
  });
  container.addEventListener("focusin", (event) => {
    if (!event.target.matches(selector)) return;
    for (const stop of container.querySelectorAll(`${selector}[tabindex="0"]`)) stop.tabIndex = -1;
    event.target.tabIndex = 0;
  });
}

/* Digits as cards, and one of them large in the viewer. A page that shows them says in which `words`, how one is `called` and `drawn`, with
   its `numberText` and the `className` of a label, and what to do in `openViewer` and `chooseFilter`. */

const viewer = byId("viewer");
const neighborsOnCard = 5;

const described = (digit) => `${called(digit)}: ${words.label} ${className(digit.label)}, ` +
  `${words.other} ${className(digit.predicted)}, ${words.share} ${percent(digit.confidence, 0)}`;

function card(digit, position) {
  const neighbors = digit.neighbors.slice(0, neighborsOnCard).map((neighbor) =>
    element("span", { class: "neighbor" }, drawn(neighbor), labelFor(neighbor.label, digit)));
  return element("button", {
    type: "button", class: "card", tabindex: position === 0 ? 0 : -1, "data-index": digit.index,
    "aria-label": described(digit), click: () => openViewer(position),
  },
  drawn(digit),
  element("span", { class: "words" }, element("span", { class: "verdict" }, ...verdict(digit)),
    element("span", { class: "share" }, percent(digit.confidence, 0)),
    element("span", { class: "number" }, numberText(digit))),
  element("span", { class: "neighbors" }, ...neighbors));
}

/** An integer of 32 bits, or with enough digits to distinguish neighbors: roots of a small exponent have an exponent. */
function distanceText(distance) {
  if (distance >= 2 ** 32) return distance.toPrecision(5);
  return Number.isInteger(distance) ? whole.format(distance) : String(Number(distance.toPrecision(5)));
}

/** `digit`: has the labels that give the neighbors their colors. */
function neighborList(neighbors, digit) {
  return element("ol", { class: "neighbors" }, ...neighbors.map((neighbor) => element("li", {},
    drawn(neighbor, `training image ${neighbor.index}, labeled ${className(neighbor.label)}`),
    labelFor(neighbor.label, digit), element("span", { class: "number" }, `#${neighbor.index}`),
    element("span", { class: "distance" }, distanceText(neighbor.distance)))));
}

/** A digit at a position among `total` in the viewer, with what is `beside` it; its neighbors below a heading. */
function showLarge(digit, position, total, beside, heading, columns) {
  byId("viewer-digit").replaceChildren(
    element("div", { class: "large" }, drawn(digit, described(digit)), element("div", {},
      element("small", { "aria-hidden": "true" }, `${words.label} → ${words.other}`),
      element("h2", { id: "viewer-title", "aria-label": described(digit) }, ...verdict(digit)),
      element("p", {}, `${called(digit)}, ${words.share} ${percent(digit.confidence, 0)}`), ...beside)),
    element("h3", {}, heading, element("small", {}, ` label, ${columns}`)),
    neighborList(digit.neighbors, digit));
  byId("position").textContent = `${whole.format(position + 1)} of ${whole.format(total)}`;
  byId("previous").disabled = position === 0;
  byId("next").disabled = position === total - 1;
}

/** The buttons of the viewer; `step` goes so many digits further. */
function watchViewer(step, closed) {
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("close").addEventListener("click", () => viewer.close());
  viewer.addEventListener("click", (event) => { if (event.target === viewer) viewer.close(); });
  viewer.addEventListener("close", closed);
}

/** A button that shows only digits of these labels, null for any, and, pressed again, all. */
function choiceButton(label, predicted, text, description) {
  return element("button", {
    type: "button", class: "choice", "data-true": label ?? "", "data-predicted": predicted ?? "",
    "aria-pressed": "false", "aria-label": description,
    click: () => chooseFilter(label, predicted, true),
  }, text);
}

/** The buttons of a matrix are one stop of the Tab key. */
function watchMatrix(table) {
  moveByArrows(table, "button");
  table.querySelectorAll("button").forEach((button, i) => { button.tabIndex = i === 0 ? 0 : -1; });
}

/** The labels that the selections have; null: any. */
const selectedLabels = () => ["true-label", "predicted-label"].map((id) => (byId(id).value === "" ? null : Number(byId(id).value)));

/** Shows the chosen labels in the selections and on the buttons; `clear` chooses all again. */
function markChosen({ label, predicted }, clear) {
  const text = (one) => (one === null ? "" : String(one));
  byId("true-label").value = text(label);
  byId("predicted-label").value = text(predicted);
  clear.disabled = label === null && predicted === null;
  for (const button of document.querySelectorAll("button.choice"))
    button.setAttribute("aria-pressed", String(!clear.disabled && button.dataset.true === text(label) &&
      button.dataset.predicted === text(predicted)));
}

/** ": true 4, predicted 9"; of all digits nothing. */
function chosenText({ label, predicted }) {
  const parts = [label === null ? "" : `${words.label} ${className(label)}`,
    predicted === null ? "" : `${words.other} ${className(predicted)}`];
  const text = parts.filter((part) => part !== "").join(", ");
  return text === "" ? "" : `: ${text}`;
}
