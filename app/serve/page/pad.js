/* The pad: strokes of mouse, pen or finger, answered one after another. */

const padSide = 480; // units of a stroke's points and of the pen's width
const sentSide = 160; // pixels of the picture that is sent: the least that is not enlarged before its digit is found
const paperGray = 255, inkGray = 20; // of that picture, as `draw` has them
const padHint = "The answer, its confidence and the nearest training digits follow each stroke.";

const pad = byId("pad");
const strokes = []; // each an array of {x, y, width}
let drawing = null; // pointerId of the stroke that is being drawn

/** Draws a stroke, from its point `from` on; a single point is a dot. */
function trace(context, stroke, from = 0) {
  context.lineCap = "round";
  context.strokeStyle = context.fillStyle = "#fff"; // white on black, as in MNIST; the style sheet inverts it in the light theme
  if (stroke.length === 1) {
    const [{ x, y, width }] = stroke;
    context.beginPath();
    context.arc(x, y, width / 2, 0, 2 * Math.PI);
    context.fill();
  }
  for (let i = Math.max(from, 1); i < stroke.length; ++i) {
    context.lineWidth = stroke[i].width;
    context.beginPath();
    context.moveTo(stroke[i - 1].x, stroke[i - 1].y);
    context.lineTo(stroke[i].x, stroke[i].y);
    context.stroke();
  }
}

function scaled(canvas, pixels) {
  if (canvas.width !== pixels) canvas.width = canvas.height = pixels;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.setTransform(pixels / padSide, 0, 0, pixels / padSide, 0, 0);
  return context;
}

function redraw() {
  const context = scaled(pad, Math.max(1, Math.round(pad.clientWidth * devicePixelRatio)));
  context.clearRect(0, 0, padSide, padSide);
  for (const stroke of strokes) trace(context, stroke);
  byId("pad-hint").hidden = strokes.length > 0;
  byId("undo").disabled = byId("clear").disabled = strokes.length === 0;
}

const sent = document.createElement("canvas");

/** The drawing as a PGM file, dark on white. A PNG by toBlob would wait until the browser is idle. */
function pgmOfPad() {
  const context = scaled(sent, sentSide);
  context.clearRect(0, 0, padSide, padSide);
  for (const stroke of strokes) trace(context, stroke);
  const ink = context.getImageData(0, 0, sentSide, sentSide).data;
  const head = new TextEncoder().encode(`P5 ${sentSide} ${sentSide} 255\n`);
  const file = new Uint8Array(head.length + sentSide * sentSide);
  file.set(head);
  for (let i = 0; i < sentSide * sentSide; ++i)
    file[head.length + i] = paperGray - Math.round((paperGray - inkGray) * ink[4 * i + 3] / 255);
  return file;
}

const newestDrawing = newestOnly((problem) => {
  showTrouble(problem, answerPad);
  if (problem) byId("draw-panel").removeAttribute("aria-busy");
});

/** Asks for the answer of what is drawn now. `since`: the time of the event that it follows. */
function answerPad(since = performance.now()) {
  newestDrawing(async (signal) => {
    if (strokes.length === 0) {
      byId("draw-answer").replaceChildren(element("p", { class: "notice" }, padHint));
      byId("draw-said").textContent = "";
      byId("draw-panel").removeAttribute("aria-busy");
      return;
    }
    byId("draw-panel").setAttribute("aria-busy", "true"); // the style sheet shows it if it lasts
    const { pictures: [picture] } = await ask("/v1/classify?neighbors=1&limit=5",
      { body: pgmOfPad(), type: "image/x-portable-graymap", signal });
    if (picture.error) throw new Problem(picture.error, true);
    byId("draw-answer").replaceChildren(...answerBlock(picture));
    byId("draw-said").textContent = spoken(picture);
    byId("draw-panel").removeAttribute("aria-busy");
    performance.clearMeasures();
    performance.measure("stroke to answer", { start: since, end: performance.now() });
  });
}

function removeStrokes(count, since) {
  if (strokes.length === 0 || drawing !== null) return;
  strokes.splice(-count);
  const hadFocus = [byId("undo"), byId("clear")].includes(document.activeElement);
  redraw();
  if (hadFocus && strokes.length === 0) byId("pen").focus();  // both are disabled now
  answerPad(since);
}

/** Where a pointer is, in units of the pad, with the width that the pen has there. */
function pointOf(event, box) {
  return {
    x: (event.clientX - box.left) * padSide / box.width, y: (event.clientY - box.top) * padSide / box.height,
    width: Number(byId("pen").value),
  };
}

function watchPad() {
  pad.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || drawing !== null) return;
    event.preventDefault();
    drawing = event.pointerId;
    pad.setPointerCapture(drawing);
    strokes.push([pointOf(event, pad.getBoundingClientRect())]);
    redraw();
  });
  pad.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drawing) return;
    const stroke = strokes.at(-1);
    const from = stroke.length;
    const box = pad.getBoundingClientRect();
    const moves = event.getCoalescedEvents?.() ?? [];
    stroke.push(...(moves.length > 0 ? moves : [event]).map((move) => pointOf(move, box)));
    trace(pad.getContext("2d"), stroke, from);
  });
  pad.addEventListener("pointerup", (event) => {
    if (event.pointerId !== drawing) return;
    drawing = null;
    answerPad(event.timeStamp);
  });
  pad.addEventListener("pointercancel", (event) => { // the system took the finger for something else
    if (event.pointerId !== drawing) return;
    drawing = null;
    strokes.pop();
    redraw();
  });
  byId("undo").addEventListener("click", (event) => removeStrokes(1, event.timeStamp));
  byId("clear").addEventListener("click", (event) => removeStrokes(strokes.length, event.timeStamp));
  document.addEventListener("keydown", (event) => {
    if (byId("draw-view").hidden || document.querySelector("dialog[open]")) return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z") {
      event.preventDefault();
      removeStrokes(1, event.timeStamp);
    } else if (event.key === "Delete") {
      removeStrokes(strokes.length, event.timeStamp);
    }
  });
  new ResizeObserver(redraw).observe(pad);
  answerPad();
}
