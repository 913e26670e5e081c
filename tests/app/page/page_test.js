"use strict";
/* node page_test.js CHROMIUM PAGE ALL AUDIT NAMED: what a reader does with the page of the report, with a page of all
   digits, right and wrong, with the page of `audit`, and with a report of classes that have names. Ends with 1 at the first thing that is wrong. */

const assert = require("node:assert/strict");
const { resolve } = require("node:path");
const { pathToFileURL } = require("node:url");
const { Browser } = require("./browser.js");

const [program, ...files] = process.argv.slice(2);
const [address, addressOfAll, addressOfAudit, addressOfNamed] = files.map((file) => pathToFileURL(resolve(file)).href);
const cards = "[...document.querySelectorAll('.card')]";
const status = "document.getElementById('status').textContent";
const mistakes = "JSON.parse(document.getElementById('data').textContent).gallery.digits";

async function showsEverything(browser) {
  await browser.open(address);
  assert.match(await browser.value("document.querySelector('h1').textContent"), /<\/script><img src=x onerror/);
  assert.equal(await browser.value("document.querySelectorAll('#matrix tbody tr').length"), 10);
  assert.equal(await browser.value("document.querySelectorAll('#classes tbody tr').length"), 10);
  assert.equal(await browser.value("document.querySelectorAll('#timing tbody tr').length"), 2);
  for (const [share, text] of [[0.97, "97 %"], [0.9951, "99.5 %"], [0.9996, "> 99.9 %"], [1, "100 %"], [0.125, "12 %"], [0.375, "38 %"]])
    assert.equal(await browser.value(`percent(${share}, 0)`), text.replaceAll(" ", "\u00a0"));
  for (const [distance, text] of [[4294967295, "4,294,967,295"], [0.125, "0.125"], [4.4786e30, "4.4786e+30"]])
    assert.equal(await browser.value(`distanceText(${distance})`), text);
  await browser.value("page.settings.threads = 1, byId('facts').replaceChildren(), showReportHead()");
  assert.match(await browser.value("byId('facts').textContent"), /, 1 threadTime/);
  assert.ok(await browser.value(`${status}.startsWith(${mistakes}.length + ' digits')`));
  assert.ok(await browser.value("document.querySelector('.card canvas').getContext('2d')" +
    ".getImageData(0, 0, 7, 9).data.some((value, i) => i % 4 < 3 && value > 150)"), "the first digit is drawn");
}

async function cellsFilter(browser) {
  const [label, predicted, count] = await browser.value(`(() => {
    const { label, predicted } = ${mistakes}[0];
    return [label, predicted, ${mistakes}.filter((d) => d.label === label && d.predicted === predicted).length];
  })()`);
  const cell = `#matrix td button[data-true="${label}"][data-predicted="${predicted}"]`;
  await browser.click(cell);
  assert.equal(await browser.value(`document.querySelector('${cell}').textContent`), String(count));
  assert.equal(await browser.value(`document.querySelector('${cell}').ariaPressed`), "true");
  assert.equal(await browser.value(`${cards}.length`), count);
  assert.ok(await browser.value(`${cards}.every((card) =>
    card.ariaLabel.includes("true ${label}, predicted ${predicted}"))`));
  await browser.click(cell);
  assert.ok(await browser.value(`${cards}.length > ${count}`), "the second click shows all");

  await browser.click("#matrix th[scope=row] button");
  const focused = "document.activeElement.getAttribute('aria-label')";
  const first = await browser.value(focused);
  await browser.press("ArrowDown");
  assert.notEqual(await browser.value(focused), first);
  await browser.press("Escape");
}

async function keysNavigate(browser) {
  const position = "document.getElementById('position').textContent";
  const open = "document.getElementById('viewer').open";
  await browser.value(`${cards}[0].focus()`);
  await browser.press("ArrowRight");
  await browser.press("Enter");
  assert.equal(await browser.until(open), true);
  assert.match(await browser.value(position), /^2 of/);
  assert.equal(await browser.value("document.querySelectorAll('#viewer .neighbors li').length"), 5);
  for (const [key, place] of [["n", 3], ["ArrowRight", 4], ["p", 3], ["ArrowLeft", 2], ["p", 1], ["p", 1]]) {
    await browser.press(key);
    assert.match(await browser.value(position), new RegExp(`^${place} of`), `after ${key}`);
  }
  await browser.press("3");
  assert.ok(await browser.value(`${cards}.length > 0 && ${cards}.every((card) => card.ariaLabel.includes("true 3"))`));
  await browser.press("Escape");
  assert.ok(await browser.until(`!${open}`));
  assert.ok(await browser.until(`document.activeElement === ${cards}[0]`));
  await browser.press("Escape");
  assert.ok(await browser.value(`${status}.startsWith(${mistakes}.length + ' digits')`));
}

async function fitsPhonesAndThemes(browser) {
  const ground = "getComputedStyle(document.body).backgroundColor";
  const light = await browser.value(ground);
  await browser.open(address, { width: 375, height: 740, dark: true });
  assert.notEqual(await browser.value(ground), light);
  assert.equal(await browser.value("document.documentElement.scrollWidth"), 375);
  await browser.click(".card");
  await browser.open(address, { width: 360, height: 740 });
  await browser.click(".card");
  await browser.value(`page.gallery.classes = Array.from({ length: 10 }, (_, label) => "x".repeat(2 * label)), showViewed()`);
  assert.ok(await browser.value("viewer.open && viewer.scrollWidth <= viewer.clientWidth"), "nothing is cut, whatever the names");
  await browser.value("page.gallery.classes = [], showViewed()");
  assert.ok(await browser.value("viewer.scrollWidth <= viewer.clientWidth"));
}

async function diagonalFilters(browser) {
  await browser.open(addressOfAll);
  assert.ok(await browser.value("[...document.querySelectorAll('#classes tbody tr')].every(({ cells }) =>" +
    "(cells[2].textContent === '0') === (getComputedStyle(cells[3], '::before').content === 'none'))"), "bars of errors");
  const total = await browser.value("JSON.parse(document.getElementById('data').textContent).result.total");
  assert.equal(await browser.value(`${mistakes}.length`), total);
  assert.equal(await browser.value("document.getElementById('gallery-title').textContent"), "All test digits");
  const labels = await browser.value("[...document.querySelectorAll('#matrix td.right button')].map((b) => b.dataset.true)");
  assert.ok(labels.length > 5);
  for (const label of labels) {
    const cell = `#matrix td.right button[data-true="${label}"][data-predicted="${label}"]`;
    await browser.click(cell);
    const count = await browser.value(`Number(document.querySelector('${cell}').textContent)`);
    assert.ok(await browser.value(`${status}.startsWith('${count} digit')`), label);
    assert.ok(await browser.value(`${cards}.length > 0 && ${cards}.every((card) =>
      card.ariaLabel.includes("true ${label}, predicted ${label}"))`), label);
  }
  await browser.press("Escape");
  await browser.value(`${cards}[0].focus()`);
  await browser.press("Enter");
  assert.match(await browser.value("document.getElementById('position').textContent"), new RegExp(`^1 of ${total}$`));
  await browser.press("Escape");
}

/** The page of `audit`, with 20 planted labels among 400 images: the order of the cards is that of the data, sorted here. */
async function auditSorts(browser) {
  await browser.open(addressOfAudit);
  assert.match(await browser.value("document.querySelector('h1').textContent"), /^\d+ labels that their neighbors contradict$/);
  assert.match(await browser.value("document.getElementById('facts').textContent"), /Planted20 wrong labels/);
  const digits = await browser.value(mistakes);
  assert.equal(digits.length, 400);
  assert.ok(digits.filter((digit) => digit.predicted !== digit.label).length >= 20);
  const shown = `${cards}.map((card) => Number(card.dataset.index))`;
  const expect = async (compare, which) => {
    const sorted = digits.filter(which ?? (() => true)).sort(compare).map((digit) => digit.index);
    const now = await browser.value(shown);
    assert.ok(now.length > 0 && now.length <= sorted.length);
    assert.deepEqual(now, sorted.slice(0, now.length));
  };
  const order = (key) => browser.value(`(() => {
    const order = document.getElementById("order");
    order.value = "${key}";
    order.dispatchEvent(new Event("change"));
  })()`);
  const suspicious = (a, b) => b.confidence - a.confidence; // equal ones as in the data
  await expect(suspicious);
  assert.ok(await browser.value(`${cards}[0].ariaLabel.includes("probability that the label is wrong")`));
  await order("index");
  await expect((a, b) => a.index - b.index);
  await order("pair");
  await expect((a, b) => a.label - b.label || a.predicted - b.predicted || b.confidence - a.confidence);
  await order("confidence");
  const { label } = digits[0];
  await browser.press(String(label));
  await expect(suspicious, (digit) => digit.label === label);
  await browser.press("Escape");
  await expect(suspicious);

  await browser.click(".card");
  assert.equal(await browser.until("document.getElementById('viewer').open"), true);
  assert.match(await browser.value("document.getElementById('position').textContent"), /^1 of 400$/);
  const first = [...digits].sort(suspicious)[0];
  const neighbors = "[...document.querySelectorAll('#viewer .neighbors li')]";
  assert.equal(await browser.value(`${neighbors}.length`), first.neighbors.length);
  assert.ok(await browser.value(`document.getElementById('viewer-title').ariaLabel.startsWith("Training image ${first.index}:")`));
  assert.ok(await browser.value("[...document.querySelectorAll('#viewer canvas')].every((canvas) => canvas.getContext('2d')" +
    ".getImageData(0, 0, canvas.width, canvas.height).data.some((value, i) => i % 4 < 3 && value > 150))"), "all are drawn");
  await browser.press("Escape");
  await browser.value("page.gallery.digits.forEach((digit) => { digit.confidence = 0.5; }), update()");
  await expect(() => 0);
}

/** Images of one column are no higher than twice their width. */
async function limitsHeights(browser) {
  await browser.open(address);
  const shape = await browser.value("(() => { Object.assign(page.dataset, { rows: 1000, cols: 1 }); update(); const box = " +
    "document.querySelector('.card canvas').getBoundingClientRect(); return box.height / box.width; })()");
  assert.ok(shape > 1.9 && shape < 2.1, String(shape));
}

/** Classes named zero, one, <two>, 7, four, five, six, 2015, eight, nine: their names are shown, chosen and typed. */
async function namesClasses(browser) {
  await browser.open(addressOfNamed);
  const digits = await browser.value(mistakes);
  const names = await browser.value("[...document.querySelectorAll('#matrix tbody th')].map((head) => head.textContent)");
  assert.deepEqual(names, ["zero", "one", "<two>", "7", "four", "five", "six", "2015", "eight", "nine"]);
  assert.deepEqual(await browser.value("[...document.querySelectorAll('#true-label option')].map((one) => one.textContent)"),
    ["any", ...names.filter((_, label) => digits.some((digit) => digit.label === label))]);
  assert.ok(await browser.value("[...document.querySelectorAll('#pairs button')].every((button) => !button.disabled)"));
  for (const label of [2, 7]) {
    const { predicted } = digits.find((digit) => digit.label === label);
    const count = digits.filter((digit) => digit.label === label && digit.predicted === predicted).length;
    const wanted = JSON.stringify(`true ${names[label]}, predicted ${names[predicted]}`);
    await browser.click(`#matrix td button[data-true="${label}"][data-predicted="${predicted}"]`);
    assert.ok(await browser.value(`${cards}.length === ${count} && ${cards}.every((card) => card.ariaLabel.includes(${wanted}))`));
    assert.ok(await browser.value(`${status}.endsWith(${wanted})`));
    assert.equal(await browser.value(`${cards}[0].querySelector('.verdict').textContent`), `${names[label]} → ${names[predicted]}`);
  }
  await browser.press("7"); // the class of this name, whose label is 3
  assert.ok(await browser.value(`${cards}.length > 0 && ${cards}.every((card) => card.ariaLabel.includes("true 7,"))`));
  await browser.click(".card");
  assert.equal(await browser.until("document.getElementById('viewer').open"), true);
  assert.match(await browser.value("document.querySelector('#viewer .votes').textContent"), /[a-z]/);
  await browser.press("Escape");
  // Names that are written from right to left stay on their sides of the arrow, and the number of mistakes behind them.
  await browser.value("page.gallery.classes = page.gallery.classes.map((_, i) => String.fromCharCode(0x5d0 + i).repeat(3)), update()");
  await browser.value("byId('pairs').replaceChildren(), showPairs([{ count: 12, i: 0, j: 1 }], page.gallery.labels)");
  for (const parts of [".card:first-child .verdict .label", "#pairs bdi, #pairs small"])
    assert.ok(await browser.value(`[...document.querySelectorAll("${parts}")].map((part) => part.getBoundingClientRect().left)` +
      ".every((left, i, all) => i === 0 || left > all[i - 1])"), parts);
  await browser.value("page.gallery.total = 5000, update()"); // of many mistakes the surest, whatever their cells
  assert.match(await browser.value(status), /\. The page holds \d+ of 5,000, the most sure ones; the other forms/);
}

async function main() {
  const browser = new Browser(program);
  try {
    for (const part of [showsEverything, cellsFilter, keysNavigate, fitsPhonesAndThemes, diagonalFilters, auditSorts,
      namesClasses, limitsHeights]) {
      await part(browser);
      assert.deepEqual(browser.complaints, [], part.name);
    }
  } finally {
    await browser.close();
  }
}

process.exitCode = 1; // until all checks have passed
main().then(() => { process.exitCode = 0; }, console.error);
