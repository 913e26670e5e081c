"use strict";
/* node stroke_time.js ADDRESS [COUNT [CHROMIUM]]: how long after a stroke the page of `serve` at ADDRESS shows its answer, with
   neighbors: from the event that the pen was lifted until the page has been changed, and until the next frame was drawn. */

const { Browser } = require("../../page/browser.js");
const { drawByMouse, one, seven } = require("./handwriting.js");

const [address, count = "100", program = "/usr/bin/chromium"] = process.argv.slice(2);

/** The value below which this share of the sorted ones lies. */
const quantile = (sorted, share) => sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)].toFixed(1);

async function main() {
  const browser = new Browser(program);
  try {
    await browser.open(address);
    await browser.value(`
      var times = [];
      new PerformanceObserver((list) => {
        for (const { name, startTime, duration } of list.getEntries())
          if (name === "stroke to answer")
            requestAnimationFrame(() => setTimeout(() => times.push([duration, performance.now() - startTime])));
      }).observe({ type: "measure" });`);
    const strokes = [seven, one, seven.slice(0, 8), seven.slice(7)];
    for (let i = 0; i < Number(count) + 5; ++i) { // the first five warm up
      await browser.press("Delete");
      await drawByMouse(browser, strokes[i % strokes.length].map(([x, y]) => [x + i % 7 * 5, y - i % 5 * 5]));
      if (!await browser.until(`times.length > ${i}`)) throw new Error("no answer");
    }
    const times = (await browser.value("times")).slice(5);
    for (const [i, what] of ["answered", "on screen"].entries()) {
      const sorted = times.map((one) => one[i]).sort((a, b) => a - b);
      console.log(`${what}: p50 ${quantile(sorted, 0.5)} ms, p95 ${quantile(sorted, 0.95)} ms, most ${sorted.at(-1).toFixed(1)} ms, of ${sorted.length} strokes`);
    }
  } finally {
    await browser.close();
  }
}

main().catch((error) => { console.error(error); process.exitCode = 1; });
