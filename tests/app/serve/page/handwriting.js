"use strict";
/* Digits as a hand writes them: points of strokes in a square of 480 units; drawn on the page's pad in a browser, and as pictures. */

/** Points along a line, as a pointer reports them. */
function along(corners, each = 6) {
  const points = [corners[0]];
  for (let i = 1; i < corners.length; ++i)
    for (let step = 1; step <= each; ++step)
      points.push([0, 1].map((axis) => corners[i - 1][axis] + (corners[i][axis] - corners[i - 1][axis]) * step / each));
  return points;
}

const seven = along([[120, 110], [350, 105], [300, 220], [250, 310], [215, 400]]);
const one = along([[265, 90], [240, 240], [220, 395]]);

/** The distance of a point from a piece of a line. */
function distance(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const at = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x - ax - at * dx, y - ay - at * dy);
}

/** A BMP file, dark on white, of rows of digits; a digit is 120 pixels wide and high. */
function bitmap(rows, scale = 4) {
  const cell = 480 / scale;
  const columns = Math.max(...rows.map((row) => row.length));
  const [width, height] = [columns * cell, rows.length * cell];
  const stride = Math.ceil(width * 3 / 4) * 4;
  const file = Buffer.alloc(54 + stride * height, 255);
  file.fill(0, 0, 54);
  file.write("BM");
  file.writeUInt32LE(file.length, 2);
  [54, 40, width, height].forEach((value, i) => file.writeUInt32LE(value, 10 + 4 * i));
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x) {
      const stroke = rows[Math.floor(y / cell)][Math.floor(x / cell)];
      if (!stroke) continue;
      const at = [x % cell * scale, y % cell * scale];
      const nearest = Math.min(...stroke.slice(1).map((point, i) => distance(...at, stroke[i], point)));
      const gray = Math.round(20 + 235 * Math.max(0, Math.min(1, (nearest - 17) / scale + 0.5)));
      file.fill(gray, 54 + (height - 1 - y) * stride + 3 * x, 54 + (height - 1 - y) * stride + 3 * x + 3); // from the bottom
    }
  return file;
}

/** From a stroke's points, 0 to 480, to those of the window. */
async function onPad(browser, stroke) {
  const [left, top, side] = await browser.value(`(() => {
    const pad = document.getElementById("pad");
    pad.scrollIntoView({ block: "center" });
    const box = pad.getBoundingClientRect();
    return [box.left, box.top, box.width];
  })()`);
  await browser.drawn();
  return stroke.map(([x, y]) => ({ x: left + x * side / 480, y: top + y * side / 480 }));
}

/** `pen`: what else its events have, such as the force of a pen. */
async function drawByMouse(browser, stroke, pen = {}) {
  const [first, ...rest] = await onPad(browser, stroke);
  const mouse = (type, at, buttons) =>
    browser.send("Input.dispatchMouseEvent", { type, ...at, button: "left", buttons, clickCount: 1, ...pen });
  await mouse("mousePressed", first, 1);
  for (const at of rest) await mouse("mouseMoved", at, 1);
  await mouse("mouseReleased", rest.at(-1) ?? first, 0);
}

async function drawByTouch(browser, stroke) {
  const touch = (type, touchPoints) => browser.send("Input.dispatchTouchEvent", { type, touchPoints });
  const [first, ...rest] = await onPad(browser, stroke);
  await touch("touchStart", [first]);
  for (const at of rest) await touch("touchMove", [at]);
  await touch("touchEnd", []);
}

module.exports = { bitmap, drawByMouse, drawByTouch, one, onPad, seven };
