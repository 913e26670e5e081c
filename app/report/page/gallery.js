/* The digits: which ones are shown, in which order, each as a card with its nearest neighbors. */

const cardsAtOnce = innerWidth < 640 ? 20 : 48;

const orders = {
  // Suspicious labels come in their order, in which probabilities may be equal.
  confidence: { name: words.order, compare: (a, b) => b.confidence - a.confidence || (page.audit ? 0 : a.index - b.index) },
  index: { name: "by index", compare: (a, b) => a.index - b.index },
  pair: {
    name: "by confusion",
    compare: (a, b) => a.label - b.label || a.predicted - b.predicted || b.confidence - a.confidence,
  },
};

/** The reader's choices; `shown` is derived from the rest. */
const chosen = { label: null, predicted: null, order: page.gallery.order, limit: cardsAtOnce, shown: [] };

const numberText = ({ index }) => page.dataset.pictures?.[index].split("/").pop() ?? `#${index}`;

function showStatus() {
  const held = page.gallery.digits.length;
  let text = counted(chosen.shown.length, "digit", "digits") + chosenText(chosen);
  if (held < page.gallery.total)
    text += `. The page holds ${whole.format(held)} of ${whole.format(page.gallery.total)}, ` + (words.held ??
      "the most sure ones; the other forms of the report have all.");
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
  markChosen(chosen, byId("clear"));
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
    ...labels.map((label) => element("option", { value: label }, className(label)))];
  return element("label", {}, `${name} `, element("select", { id, change }, ...options));
}

function showFilters() {
  const filter = () => chooseFilter(...selectedLabels());
  const occurring = (field) => [...new Set(page.gallery.digits.map((digit) => digit[field]))].sort((a, b) => a - b);
  const order = element("select", {
    id: "order", change: (event) => { chosen.order = event.target.value; update(); },
  }, ...Object.entries(orders).map(([key, { name }]) => element("option", { value: key }, name)));
  order.value = chosen.order;
  byId("filters").append(labelSelect("true-label", words.label, occurring("label"), filter),
    labelSelect("predicted-label", words.other, occurring("predicted"), filter),
    element("label", {}, "order ", order),
    element("button", { type: "button", id: "clear", click: () => chooseFilter(null, null) }, "Show all"));
  byId("gallery").classList.toggle("named", page.gallery.classes.length > 0);
  byId("gallery-title").textContent = page.gallery.title;
  byId("more").addEventListener("click", () => { chosen.limit += cardsAtOnce; showGallery(); });
  moveByArrows(byId("gallery"), "button.card");
}
/* One digit, large, with its votes and its neighbors; and the keys. */

let viewed = 0; // position in chosen.shown

function voteBars(digit) {
  const rows = digit.votes.map(({ label, share }) => {
    const bar = element("span", { class: `bar ${roleOf(label, digit)}`, "aria-hidden": "true" });
    bar.style.setProperty("--share", `${100 * share}%`);
    return element("li", {}, labelFor(label, digit), bar, element("span", {}, percent(share, 0)));
  });
  return element("ul", { class: "votes", "aria-label": "Share of the votes" }, ...rows);
}

function showViewed() {
  const digit = chosen.shown[viewed];
  const { k } = page.settings;
  const heading = digit.neighbors.length < k ? `Nearest ${digit.neighbors.length} of ${k} neighbors`
    : k === 1 ? "Nearest neighbor" : `${k} nearest neighbors`;
  const votes = element("h3", {}, k === 1 ? words.votes.slice(0, -1) : `${words.votes} of ${k} neighbors`);
  showLarge(digit, viewed, chosen.shown.length, [votes, voteBars(digit)], heading, `training image, ${page.gallery.distance}`);
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

function filterByKey(key) {
  const first = page.gallery.digits.find((digit) => className(digit.label) === key);
  if (!first) return;
  chooseFilter(first.label, null);
  if (viewer.open) openViewer(0);
}

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const move = viewer.open ? step : moveInGallery;
  if (event.key === "n") move(1);
  else if (event.key === "p") move(-1);
  else if (/^[0-9]$/.test(event.key)) filterByKey(event.key);
  else if (viewer.open && event.key === "ArrowRight") step(1);
  else if (viewer.open && event.key === "ArrowLeft") step(-1);
  else if (!viewer.open && event.key === "Escape") chooseFilter(null, null);
  else return;
  event.preventDefault();
}
