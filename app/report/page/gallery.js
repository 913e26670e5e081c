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

const described = (digit) => `${called(digit)}: ${words.label} ${digit.label}, ` +
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
    element("span", { class: "number" }, page.dataset.pictures?.[digit.index].split("/").pop() ?? `#${digit.index}`)),
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
/* One digit, large, with its votes and its neighbors; and the keys. */

const viewer = byId("viewer");
let viewed = 0; // position in chosen.shown

function voteBars(digit) {
  const rows = digit.votes.map(({ label, share }) => {
    const bar = element("span", { class: `bar ${roleOf(label, digit)}`, "aria-hidden": "true" });
    bar.style.setProperty("--share", `${100 * share}%`);
    return element("li", {}, labelFor(label, digit), bar, element("span", {}, percent(share, 0)));
  });
  return element("ul", { class: "votes", "aria-label": "Share of the votes" }, ...rows);
}

/** An integer, or with enough digits after the point to distinguish neighbors. */
function distanceText(distance) {
  const digits = { lp: 2, cosine: 5, pearson: 5 }[page.settings.metric] ?? 0;
  const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat("en-US", form).format(distance);
}

function neighborList(digit) {
  return element("ol", { class: "neighbors" }, ...digit.neighbors.map((neighbor) => element("li", {},
    drawn(neighbor.tile, `training image ${neighbor.index}, labeled ${neighbor.label}`),
    labelFor(neighbor.label, digit), element("span", { class: "number" }, `#${neighbor.index}`),
    element("span", { class: "distance" }, distanceText(neighbor.distance)))));
}

function showViewed() {
  const digit = chosen.shown[viewed];
  const { k } = page.settings;
  const heading = digit.neighbors.length < k ? `Nearest ${digit.neighbors.length} of ${k} neighbors`
    : k === 1 ? "Nearest neighbor" : `${k} nearest neighbors`;
  byId("viewer-digit").replaceChildren(
    element("div", { class: "large" }, drawn(digit.tile, described(digit)),
      element("div", {},
        element("small", { "aria-hidden": "true" }, `${words.label} → ${words.other}`),
        element("h2", { id: "viewer-title", "aria-label": described(digit) }, ...verdict(digit)),
        element("p", {}, `${called(digit)}, ${words.share} ${percent(digit.confidence, 0)}`),
        element("h3", {}, k === 1 ? words.votes.slice(0, -1) : `${words.votes} of ${k} neighbors`), voteBars(digit))),
    element("h3", {}, heading, element("small", {}, ` label, training image, ${page.gallery.distance}`)),
    neighborList(digit));
  byId("position").textContent = `${whole.format(viewed + 1)} of ${whole.format(chosen.shown.length)}`;
  byId("previous").disabled = viewed === 0;
  byId("next").disabled = viewed === chosen.shown.length - 1;
}

function openViewer(position) {
  viewed = position;
  showViewed();
  if (!viewer.open) viewer.showModal();
}

function step(by) {
  viewed = Math.min(Math.max(viewed + by, 0), chosen.shown.length - 1);
  showViewed();
}

/** Back to the page, with the focus on the card of the last digit. */
function viewerClosed() {
  if (viewed >= chosen.limit) {
    chosen.limit = viewed + 1;
    showGallery();
  }
  byId("gallery").querySelectorAll("button.card")[viewed]?.focus();
}

function moveInGallery(by) {
  const cards = [...byId("gallery").querySelectorAll("button.card")];
  const at = cards.indexOf(document.activeElement);
  cards[at < 0 ? 0 : Math.min(Math.max(at + by, 0), cards.length - 1)]?.focus();
}

function filterByKey(label) {
  if (!page.gallery.digits.some((digit) => digit.label === label)) return;
  chooseFilter(label, null);
  if (viewer.open) openViewer(0);
}

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const move = viewer.open ? step : moveInGallery;
  if (event.key === "n") move(1);
  else if (event.key === "p") move(-1);
  else if (/^[0-9]$/.test(event.key)) filterByKey(Number(event.key));
  else if (viewer.open && event.key === "ArrowRight") step(1);
  else if (viewer.open && event.key === "ArrowLeft") step(-1);
  else if (!viewer.open && event.key === "Escape") chooseFilter(null, null);
  else return;
  event.preventDefault();
}

function watchViewer() {
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("close").addEventListener("click", () => viewer.close());
  viewer.addEventListener("click", (event) => { if (event.target === viewer) viewer.close(); });
  viewer.addEventListener("close", viewerClosed);
  document.addEventListener("keydown", keyPressed);
}
