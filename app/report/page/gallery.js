/* The digits: which ones are shown, in which order, each as a card with its nearest neighbors. */

const cardsAtOnce = innerWidth < 640 ? 20 : 48;
const neighborsOnCard = 5;

const orders = {
  confidence: { name: words.order, compare: (a, b) => b.confidence - a.confidence || a.index - b.index },
  index: { name: "by index", compare: (a, b) => a.index - b.index },
  pair: {
    name: "by confusion",
    compare: (a, b) => a.label - b.label || a.predicted - b.predicted || b.confidence - a.confidence,
  },
};

/** The reader's choices; `shown` is derived from the rest. */
const chosen = { label: null, predicted: null, order: page.gallery.order, limit: cardsAtOnce, shown: [] };

const described = (digit) => `${words.image} ${digit.index}: ${words.label} ${digit.label}, ` +
  `${words.other} ${digit.predicted}, ${words.share} ${percent(digit.confidence, 0)}`;

function card(digit, position) {
  const neighbors = digit.neighbors.slice(0, neighborsOnCard).map((neighbor) =>
    element("span", { class: "neighbor" }, drawn(neighbor.tile, `neighbor labeled ${neighbor.label}`),
      labelFor(neighbor.label, digit)));
  return element("button", {
    type: "button", class: "card", tabindex: position === 0 ? 0 : -1, "data-index": digit.index,
    "aria-label": described(digit), click: () => openViewer(position),
  },
  drawn(digit.tile, ""),
  element("span", { class: "words" }, element("span", { class: "verdict" }, ...verdict(digit)),
    element("span", { class: "share" }, percent(digit.confidence, 0)),
    element("span", { class: "number" }, `#${digit.index}`)),
  element("span", { class: "neighbors" }, ...neighbors));
}

function showStatus() {
  const parts = [];
  if (chosen.label !== null) parts.push(`${words.label} ${chosen.label}`);
  if (chosen.predicted !== null) parts.push(`${words.other} ${chosen.predicted}`);
  const number = chosen.shown.length;
  const held = page.gallery.digits.length;
  let text = `${whole.format(number)} ${number === 1 ? "digit" : "digits"}`;
  if (parts.length > 0) text += `: ${parts.join(", ")}`;
  if (held < page.gallery.total)
    text += `. The page holds ${whole.format(held)} of ${whole.format(page.gallery.total)}, ` + (words.held ??
      "from every cell of the matrix the most sure ones; the other forms of the report have all.");
  byId("status").textContent = text;
}

function showGallery() {
  const visible = chosen.shown.slice(0, chosen.limit);
  byId("gallery").replaceChildren(...visible.map(card));
  if (chosen.shown.length === 0)
    byId("gallery").append(element("p", { class: "notice" }, page.gallery.total === 0 ? "There are none." : "None here."));
  const rest = chosen.shown.length - visible.length;
  byId("more").hidden = rest <= 0;
  byId("more").textContent = `Show ${whole.format(Math.min(rest, cardsAtOnce))} more of ${whole.format(rest)}`;
}

/** Applies the choices to everything that depends on them. */
function update() {
  const fits = (digit) => (chosen.label === null || digit.label === chosen.label) &&
    (chosen.predicted === null || digit.predicted === chosen.predicted);
  chosen.shown = page.gallery.digits.filter(fits).sort(orders[chosen.order].compare);
  const text = (label) => (label === null ? "" : String(label));
  byId("true-label").value = text(chosen.label);
  byId("predicted-label").value = text(chosen.predicted);
  byId("clear").disabled = chosen.label === null && chosen.predicted === null;
  for (const button of document.querySelectorAll("button.choice"))
    button.setAttribute("aria-pressed", String(!byId("clear").disabled && button.dataset.true === text(chosen.label) &&
      button.dataset.predicted === text(chosen.predicted)));
  showStatus();
  showGallery();
}

/** Filters by labels, null for any. With `toggle`, repeating a choice shows all. */
function chooseFilter(label, predicted, toggle = false) {
  const same = chosen.label === label && chosen.predicted === predicted;
  [chosen.label, chosen.predicted] = toggle && same ? [null, null] : [label, predicted];
  chosen.limit = cardsAtOnce;
  update();
  if (toggle && byId("gallery").getBoundingClientRect().top > innerHeight - 120)
    byId("gallery-title").scrollIntoView({ block: "start" });
}

function labelSelect(id, name, labels, change) {
  const options = [element("option", { value: "" }, "any"),
    ...labels.map((label) => element("option", { value: label }, String(label)))];
  return element("label", {}, `${name} `, element("select", { id, change }, ...options));
}

function showFilters() {
  const chosenLabel = (id) => (byId(id).value === "" ? null : Number(byId(id).value));
  const filter = () => chooseFilter(chosenLabel("true-label"), chosenLabel("predicted-label"));
  const occurring = (field) => [...new Set(page.gallery.digits.map((digit) => digit[field]))].sort((a, b) => a - b);
  const order = element("select", {
    id: "order", change: (event) => { chosen.order = event.target.value; update(); },
  }, ...Object.entries(orders).map(([key, { name }]) => element("option", { value: key }, name)));
  order.value = chosen.order;
  byId("filters").append(labelSelect("true-label", words.label, occurring("label"), filter),
    labelSelect("predicted-label", words.other, occurring("predicted"), filter),
    element("label", {}, "order ", order),
    element("button", { type: "button", id: "clear", click: () => chooseFilter(null, null) }, "Show all"));
  byId("gallery-title").textContent = page.gallery.title;
  byId("more").addEventListener("click", () => { chosen.limit += cardsAtOnce; showGallery(); });
  moveByArrows(byId("gallery"), "button.card");
}
