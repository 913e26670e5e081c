/* The data embedded by the program, and what shows it. */

const page = JSON.parse(document.getElementById("data").textContent);
const sprite = document.getElementById("sprite");

/** What the digits of the gallery are called; other pages than the report's have words of their own. */
const words = {
  image: page.dataset.pictures ? "Picture" : "Test image", label: "true", other: "predicted", share: "confidence",
  order: "most sure first", votes: "Votes", ...page.words,
};

/** The name of the class with this label. */
const className = (label) => page.gallery.classes[label] ?? String(label);

/** "Test image 7"; of pictures "Picture 7 (in/a_3.png)". */
const called = (digit) => `${words.image} ${digit.index}` +
  (page.dataset.pictures ? ` (${page.dataset.pictures[digit.index]})` : "");

/** One image of the sprite as a separate canvas; the style sheet sets its size. */
function drawn({ tile }, description) {
  const { rows, cols } = page.dataset;
  const canvas = element("canvas",
    { width: cols, height: rows, role: description && "img", "aria-label": description, "aria-hidden": !description && "true" });
  if (rows > 2 * cols) canvas.style.aspectRatio = "1 / 2"; // one of 1000 x 1 would be as high as a thousand lines
  const x = (tile % page.sprite.columns) * cols;
  const y = Math.floor(tile / page.sprite.columns) * rows;
  canvas.getContext("2d").drawImage(sprite, x, y, cols, rows, 0, 0, cols, rows);
  return canvas;
}
