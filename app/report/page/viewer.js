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
        element("p", {}, `${words.image} ${digit.index}, ${words.share} ${percent(digit.confidence, 0)}`),
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
