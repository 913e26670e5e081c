/* A digit with its answer, and the training digits that are nearest to it. */

const side = 28; // pixels of an image

/** An image with 28 × 28 `pixels`, base64 of bytes with 255 for ink, as a canvas; the style sheet sets its size. */
function drawn({ pixels }, description) {
  const canvas = element("canvas",
    { width: side, height: side, role: description && "img", "aria-label": description, "aria-hidden": !description && "true" });
  const bytes = atob(pixels);
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  for (let i = 0; i < side * side; ++i) {
    image.data.fill(bytes.charCodeAt(i), 4 * i, 4 * i + 3);
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** "7" or "?"; of an answer of /v1/classify. */
const symbolOf = ({ digit }) => (digit === null ? "?" : String(digit));

/** One sentence for screen readers. */
function spoken(answer) {
  const sure = percent(answer.confidence, 0);
  if (answer.digit !== null) return `${answer.digit}, confidence ${sure}`;
  const guess = answer.guess === undefined ? "" : ` The best guess is ${answer.guess}, ${sure}.`;
  return `No answer: ${answer.reason}.${guess}`;
}

/** The answer with all that belongs to it. */
function answerBlock(answer) {
  const label = answer.digit ?? answer.guess;
  const isRejected = answer.digit === null;
  const sure = percent(answer.confidence, 0);
  const likely = label === undefined ? [] : [element("strong", {}, isRejected ? `${label}, ${sure}` : sure), element("br"),
    element("small", {}, isRejected ? "best guess" : "confidence")];
  const parts = [element("div", { class: "answer" }, drawn(answer, "28 × 28 pixels that were searched for"),
    element("span", { class: isRejected ? "big wrong" : "big right" }, symbolOf(answer)), element("p", {}, ...likely))];
  if (isRejected) parts.push(element("p", { class: "reason" }, `No answer: ${answer.reason}.`));
  if (answer.neighbors.length > 0)
    parts.push(element("h3", {}, "Nearest training digits", element("small", {}, " label, index, distance")),
      neighborList(answer.neighbors, { label, predicted: null }));
  return parts;
}
