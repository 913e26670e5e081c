"use strict";
/* node serve_page_test.js CHROMIUM ADDRESS FOLDER [PART]...: what people do with the page of `serve`, whose server is at ADDRESS, with
   mouse, finger, keyboard and files; and what it says if the server does not answer as it should. FOLDER is for files.
   PART: the name of a function, instead of all. Ends with 1 at the first thing that is wrong. */

const assert = require("node:assert/strict");
const { writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { Browser } = require("../../page/browser.js");
const { bitmap, drawByMouse, drawByTouch, one, onPad, seven } = require("./handwriting.js");

const [program, address, folder, ...parts] = process.argv.slice(2);
const big = "document.querySelector('#draw-answer .big')?.textContent";
const text = (id) => `document.getElementById('${id}').textContent`;
const trouble = "(document.getElementById('trouble').hidden ? '' : document.getElementById('trouble').textContent)";

async function upload(browser, file, selector = "#file") {
  const { root } = await browser.send("DOM.getDocument");
  const { nodeId } = await browser.send("DOM.querySelector", { nodeId: root.nodeId, selector });
  await browser.send("DOM.setFileInputFiles", { nodeId, files: [file] });
}

/** Clicks a button of the page; nothing may move between the two. */
const click = (browser, selector) => browser.click(selector);

async function drawsByMouse(browser) {
  await browser.open(address);
  assert.match(await browser.value(text("program")), /^mnist-knn \S+ · method accurate · [\d,]+ training digits/);
  await drawByMouse(browser, seven);
  assert.equal(await browser.until(`${big} === "7"`), true, await browser.value(`${big} + ${trouble}`));
  assert.match(await browser.value(text("draw-said")), /^7, confidence (>\s)?[\d.]+\s%$/);
  const canvases = "[...document.querySelectorAll('#draw-answer canvas')]";
  assert.ok(await browser.value(`${canvases}.length`) >= 2, "the pixels and neighbors");
  assert.ok(await browser.value(`${canvases}.every((canvas) => canvas.width === 28 && canvas.getContext('2d')
    .getImageData(0, 0, 28, 28).data.some((value, i) => i % 4 < 3 && value > 150))`), "all are drawn");
  const distances = await browser.value("[...document.querySelectorAll('#draw-answer .distance')]" +
    ".map((one) => Number(one.textContent.replaceAll(',', '')))");
  assert.ok(distances.length > 0 && distances.every((one, i) => one > 0 && (i === 0 || one >= distances[i - 1])), distances.join());
}

async function undoesAndClears(browser) {
  const answered = await browser.value(text("draw-said"));
  await drawByMouse(browser, [[60, 440], [420, 440]]);
  assert.ok(await browser.until(`${text("draw-said")} !== ${JSON.stringify(answered)}`), "another stroke, another answer");
  await click(browser, "#undo");
  assert.ok(await browser.until(`${text("draw-said")} === ${JSON.stringify(answered)}`), "the answer of what is left");
  await browser.press("Delete");
  assert.equal(await browser.value(`${big} ?? "none"`), "none");
  assert.ok(await browser.value("document.getElementById('undo').disabled && document.getElementById('clear').disabled"));
  // A dot is a stroke too. Strokes that follow at once are one drawing, of which the last answer counts.
  await drawByMouse(browser, [[240, 240]]);
  const middle = "document.getElementById('pad').getContext('2d').getImageData(document.getElementById('pad').width / 2, " +
    "document.getElementById('pad').height / 2, 1, 1).data[3]";
  assert.equal(await browser.value(middle), 255);
  for (const stroke of [seven.slice(0, 8), seven.slice(7)]) await drawByMouse(browser, stroke);
  await click(browser, "#clear");
  for (const stroke of [seven.slice(0, 8), seven.slice(7)]) await drawByMouse(browser, stroke);
  assert.equal(await browser.until(`${big} === "7"`), true);
  assert.equal(await browser.value(trouble), "");
}

async function drawsByPen(browser) {
  const lastWidths = "strokes.at(-1).map((point) => point.width)";
  await browser.open(`${address}?pen`);
  const width = await browser.value("Number(document.getElementById('pen').value)");
  await drawByMouse(browser, seven, { pointerType: "pen", force: 0.9 });
  assert.ok((await browser.value(lastWidths)).every((one) => one === width));
  await drawByMouse(browser, seven);
  // Ctrl Z undoes; the width of the pen changes what is drawn.
  for (const type of ["keyDown", "keyUp"]) await browser.send("Input.dispatchKeyEvent", { type, key: "z", modifiers: 2 });
  assert.equal(await browser.value("strokes.length"), 1);
  await click(browser, "#clear");
  await browser.value("document.getElementById('pen').focus()");
  for (let i = 0; i < 10; ++i) await browser.press("ArrowLeft");
  await drawByMouse(browser, seven);
  assert.ok((await browser.value(lastWidths)).every((one) => one === width - 10));
  assert.ok(await browser.until(`${big} === "7"`));
}

async function worksOnPhones(browser) {
  for (const dark of [false, true]) {
    await browser.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    await browser.open(`${address}?phone`, { width: 360, height: 740, dark });
    for (const name of ["draw", "picture", "mistakes"]) {
      await click(browser, `#views a[href="#${name}"]`);
      if (name === "mistakes") await browser.until("document.querySelector('.card') !== null");
      assert.ok(await browser.value("document.documentElement.scrollWidth") <= 360, name);
      assert.equal(await browser.value(`[...document.querySelectorAll("main > section")].filter((one) => !one.hidden).length`), 1);
    }
    await click(browser, '#views a[href="#draw"]');
    await onPad(browser, seven);
    const scrolled = await browser.value("scrollY");
    await drawByTouch(browser, seven);
    assert.ok(await browser.until(`${big} === "7"`), await browser.value(`${text("draw-answer")} + ${trouble} + strokes.map((one) => one.length)`));
    assert.equal(await browser.value("scrollY"), scrolled, "the finger draws, it does not scroll");
    assert.ok(await browser.value("getComputedStyle(document.getElementById('camera-label')).display !== 'none'"), "a camera");
    assert.equal(await browser.value("document.getElementById('camera').getAttribute('capture')"), "environment");
    await browser.send("Emulation.setTouchEmulationEnabled", { enabled: false });
  }
}

/** A page of two rows, under a name that attempts HTML injection. */
async function readsPages(browser) {
  const name = "<img src=x onerror=alert(1)>&amp;.bmp";
  const file = join(folder, name);
  writeFileSync(file, bitmap([[seven, one, seven], [one, seven]]));
  await browser.open(`${address}?page#picture`);
  await upload(browser, file);
  assert.ok(await browser.until("!document.getElementById('picture-answers').hidden"), await browser.value(trouble));
  assert.equal(await browser.value("document.getElementById('rows').value"), "717\n17");
  assert.equal(await browser.value(text("picture-said")), `${name}: 5 digits in 2 rows`);
  const boxes = "[...document.querySelectorAll('#boxes button')]";
  assert.deepEqual(await browser.value(`${boxes}.map((box) => box.textContent)`), [..."71717"]);
  // Each box lies where the digit is in the picture, which is as wide as 480 units of three digits.
  const shares = await browser.value(`(() => {
    const frame = document.getElementById("seen").getBoundingClientRect();
    return ${boxes}.map((box) => { const at = box.getBoundingClientRect();
      return [(at.left + at.width / 2 - frame.left) / frame.width, (at.top + at.height / 2 - frame.top) / frame.height]; });
  })()`);
  const expected = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]].map(([column, row]) => [(column + 0.5) / 3, (row + 0.5) / 2]);
  shares.forEach(([x, y], i) => assert.ok(Math.abs(x - expected[i][0]) < 0.06 && Math.abs(y - expected[i][1]) < 0.06, `${shares}`));
  await browser.value(`${boxes}[0].focus()`);
  await browser.press("ArrowRight");
  await browser.press("Enter");
  assert.equal(await browser.value("document.querySelector('#picture-answer .big').textContent"), "1");
  assert.equal(await browser.value(`${boxes}[1].getAttribute("aria-pressed")`), "true");
  assert.match(await browser.value(`${boxes}[3].ariaLabel`), /^Row 2: 1, confidence/);
  await browser.send("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
  await click(browser, "#copy");
  assert.ok(await browser.until(`${text("copy")} === "Copied"`));
}

async function readsOneDigit(browser) {
  const file = join(folder, "seven.bmp");
  writeFileSync(file, bitmap([[seven]]));
  await click(browser, "input[name=many][value='']");
  await upload(browser, file);
  const answered = "document.querySelector('#picture-answer .big')?.textContent";
  assert.ok(await browser.until(`${text("picture-said")}.startsWith("seven.bmp: 7, confidence") && ${answered} === "7"`));
  assert.ok(await browser.value("document.getElementById('rows-panel').hidden"));
  assert.equal(await browser.value("document.querySelectorAll('#boxes button').length"), 1);
  // Paste and drop, as far as a script may make such events: the page takes their files as it takes a chosen one.
  for (const [kind, property] of [["paste", "clipboardData"], ["drop", "dataTransfer"]]) {
    await browser.value(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(${JSON.stringify([...bitmap([[one]])])})], "${kind}.bmp", { type: "image/bmp" }));
      const event = new Event("${kind}", { bubbles: true, cancelable: true });
      Object.defineProperty(event, "${property}", { value: transfer });
      document.body.dispatchEvent(event);
    })()`);
    assert.ok(await browser.until(`${text("picture-said")}.startsWith("${kind}.bmp: 1, confidence")`), kind);
  }
}

async function readsNoOtherFiles(browser) {
  const file = join(folder, "notes.txt");
  writeFileSync(file, "These are no digits.\n");
  await upload(browser, file);
  assert.ok(await browser.until(`${trouble}.length > 20`));
  assert.doesNotMatch(await browser.value(trouble), /--|undefined|\[object|Error/);
  writeFileSync(join(folder, "empty.png"), "");
  await upload(browser, join(folder, "empty.png"));
  assert.ok(await browser.until(`${trouble}.startsWith("empty.png is empty.")`));
  writeFileSync(join(folder, "large.png"), Buffer.alloc(25e6));
  await upload(browser, join(folder, "large.png"));
  assert.ok(await browser.until(`${trouble}.startsWith("large.png has 25 MB. The server takes at most 20 MB.")`), await browser.value(trouble));
}

async function showsMistakes(browser) {
  await browser.open(`${address}?mistakes#mistakes`);
  assert.ok(await browser.until("document.querySelector('.card') !== null"), await browser.value(trouble));
  const counts = await browser.value("[...document.querySelectorAll('#matrix td.wrong button')].map((one) => " +
    "[one.dataset.true, one.dataset.predicted, Number(one.textContent)])");
  const all = counts.reduce((sum, [, , count]) => sum + count, 0);
  assert.ok(all > 0);
  const said = text("mistakes-said");
  assert.ok(await browser.value(`${said}.startsWith("${all} digit")`));
  for (const [label, predicted, count] of counts.slice(0, 5)) {
    const cell = `#matrix button[data-true="${label}"][data-predicted="${predicted}"]`;
    await click(browser, cell);
    assert.ok(await browser.until(`${said} === "${count} digit${count === 1 ? "" : "s"}: true ${label}, predicted ${predicted}"`));
    const labels = await browser.value("[...document.querySelectorAll('.card')].map((one) => one.ariaLabel)");
    assert.equal(labels.length, Math.min(count, 24));
    assert.ok(labels.every((one) => one.includes(`true ${label}, predicted ${predicted}`)));
    assert.equal(await browser.value(`document.querySelector('${cell}').getAttribute("aria-pressed")`), "true");
  }
  await click(browser, "#show-all");
  assert.ok(await browser.until(`${said}.startsWith("${all} digit")`));
  await browser.value("document.querySelector('.card').focus()");
  await browser.press("Enter");
  assert.ok(await browser.until("document.getElementById('viewer').open"));
  const position = text("position");
  for (let i = 2; i <= Math.min(all, 26); ++i) { // beyond the digits that were asked for at first
    await browser.press("ArrowRight");
    assert.ok(await browser.until(`${position} === "${i} of ${all}"`), await browser.value(position));
  }
  assert.ok(await browser.value("document.querySelectorAll('#viewer ol.neighbors li').length") > 0);
  await browser.press("Escape");
  assert.equal(await browser.value("document.getElementById('viewer').open"), false);
  assert.ok(await browser.value("document.activeElement.matches('.card')"));
}

/** Every control is reached by the Tab key alone, and says what it is. */
async function worksByKeyboard(browser) {
  for (const view of ["draw", "picture", "mistakes"]) {
    await browser.open(`${address}?keys#${view}`);
    if (view === "mistakes") await browser.until("document.querySelector('.card') !== null");
    const reached = new Set();
    for (let i = 0; i < 40; ++i) {
      await browser.press("Tab");
      const at = await browser.value(`(() => {
        const at = document.activeElement;
        if (at === document.body) return null;
        const name = at.ariaLabel || [...at.labels ?? []].map((one) => one.textContent.trim()).join() || at.textContent.trim();
        const shown = getComputedStyle(at.matches("input.unseen") ? at.nextElementSibling : at).outlineStyle;
        return { is: at.id || at.getAttribute("href") || at.className || at.name + at.value, name, shown };
      })()`);
      if (!at) continue;
      assert.ok(at.name, `${at.is} has no name`);
      assert.notEqual(at.shown, "none", `${at.is} does not show the focus`);
      reached.add(at.is);
    }
    const wanted = { draw: ["#draw", "#picture", "#mistakes", "pen"], picture: ["file", "many1"],
      mistakes: ["choice", "true-label", "predicted-label", "card"] }[view];
    for (const one of wanted) assert.ok(reached.has(one), `${view}: ${one} is not reached, but ${[...reached]}`);
  }
}

/** Answers the requests whose address matches with `answer` until the function that it returns is called. */
async function pretend(browser, pattern, answer) {
  await browser.send("Fetch.enable", { patterns: [{ urlPattern: pattern }] });
  const heard = browser.on("Fetch.requestPaused", ({ requestId, request }) => {
    const { status, headers = {}, body = "", fail } = answer(request);
    if (fail) return browser.send("Fetch.failRequest", { requestId, errorReason: fail });
    if (!status) return browser.send("Fetch.continueRequest", { requestId });
    return browser.send("Fetch.fulfillRequest", { requestId, responseCode: status, body: Buffer.from(body).toString("base64"),
      responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })) });
  });
  return async () => { heard.stop(); await browser.send("Fetch.disable"); };
}

async function saysWhatIsWrong(browser) {
  await browser.open(`${address}?wrong`);
  const problem = JSON.stringify({ title: "Too large", status: 413, detail: "<b>The picture</b> is too large." });
  const cases = [
    [{ fail: "ConnectionRefused" }, /^The server does not answer. Is mnist-knn still running there\?/],
    [{ status: 200, body: "{\"pictures\": [" }, /^The server's answer could not be read/],
    [{ status: 200, body: "null" }, /^The server's answer is not as expected/],
    [{ status: 200, body: "{\"pictures\": [{\"digit\": 7}]}" }, /^The server's answer is not as expected/],
    [{ status: 413, body: problem }, /^<b>The picture<\/b> is too large\.$/],
    [{ status: 503, body: "<html>" }, /^The server is busy/],
    [{ status: 500, body: "{\"detail\": {\"a\": 1}}" }, /^The server answered with an error \(500\)/],
  ];
  for (const [answer, expected] of cases) {
    const stop = await pretend(browser, "*/v1/classify*", () => answer);
    await drawByMouse(browser, seven);
    assert.ok(await browser.until(`${expected}.test(${trouble})`), `${JSON.stringify(answer)}: ${await browser.value(trouble)}`);
    await stop();
    if (answer.status === 413) { // which would come again
      await browser.press("Delete");
      await drawByMouse(browser, seven);
    } else {
      await click(browser, "#trouble button");
    }
    assert.ok(await browser.until(`${big} === "7" && ${trouble} === ""`), "the same drawing, answered when the server is back");
    await browser.press("Delete");
  }
  // Busy for a moment: asked again when the server said so.
  let asked = 0;
  const stop = await pretend(browser, "*/v1/classify*", () => (++asked <= 2 ? { status: 429, headers: { "Retry-After": "0" } } : {}));
  await drawByMouse(browser, seven);
  assert.ok(await browser.until(`${big} === "7"`));
  assert.equal(asked, 3);
  await stop();
}

/** A server with a token, which the browser plays. */
async function asksForToken(browser) {
  const given = [];
  const guard = ({ headers }) => {
    given.push(headers.Authorization ?? "none");
    return headers.Authorization === "Bearer right" ? {} : { status: 401, headers: { "WWW-Authenticate": "Bearer" } };
  };
  const stop = await pretend(browser, "*/v1/*", guard);
  await browser.send("Page.navigate", { url: `${address}?token` });
  const dialog = "document.getElementById('token-dialog')?.open";
  assert.ok(await browser.until(dialog));
  for (const key of "wrong") await browser.press(key);
  await browser.press("Enter");
  assert.ok(await browser.until(`${text("token-hint")} === "The server did not accept that token." && ${dialog}`));
  for (const key of "right") await browser.press(key);
  await browser.press("Enter");
  assert.ok(await browser.until(`${text("program")}.includes("accurate")`));
  assert.equal(await browser.value(dialog), false);
  await drawByMouse(browser, seven);
  assert.ok(await browser.until(`${big} === "7"`));
  await browser.open(`${address}?again`);
  assert.equal(given.filter((one) => one === "Bearer wrong").length, 1);
  assert.equal(given.at(-1), "Bearer right", "this tab keeps it");
  await browser.value("sessionStorage.clear()");
  await browser.open(`${address}?hash#token=rig%68t`);
  assert.equal(await browser.value("location.hash"), "");
  assert.ok(await browser.until(`${text("program")}.includes("accurate")`));
  await stop();
  await browser.value("sessionStorage.clear()");
}

/** Does what loads a page, and waits for it: a page that is being replaced does not answer. */
async function loaded(browser, act) {
  const done = new Promise((resolve) => { const heard = browser.on("Page.loadEventFired", () => { heard.stop(); resolve(); }); });
  await act();
  await done;
}

/** Labels of three digits, as a training set of any classes has them. */
async function showsLongLabels(browser) {
  for (const count of [12, 28, 40, 156]) {
    await browser.value(`showMatrix({ matrix: Array.from({ length: ${count} }, () => Array(${count}).fill(1)), accuracy: 0.5, correct: 1,
      total: 2, method: "raw", labels: Array.from({ length: ${count} }, (_, i) => 100 + i) })`);
    assert.equal(await browser.value("[...document.querySelectorAll('#matrix th button')].filter((one) => one.scrollWidth > one.clientWidth" +
      " || one.scrollWidth > one.parentElement.clientWidth).length"), 0, `${count} classes`);
  }
}

async function saysItNeedsScripts(browser) {
  await browser.send("Emulation.setScriptExecutionDisabled", { value: true });
  await loaded(browser, () => browser.send("Page.navigate", { url: `${address}?plain` }));
  assert.match(await browser.value("document.querySelector('noscript').textContent"), /needs JavaScript/);
  assert.ok(await browser.value("document.getElementById('draw-view').getBoundingClientRect().height === 0"));
  await browser.send("Emulation.setScriptExecutionDisabled", { value: false });
}

async function main() {
  const browser = new Browser(program);
  const expected = [saysWhatIsWrong, asksForToken, readsNoOtherFiles]; // the browser complains about their answers too
  try {
    await browser.open(address);
    for (const part of [drawsByMouse, undoesAndClears, drawsByPen, worksOnPhones, readsPages, readsOneDigit, readsNoOtherFiles,
      showsMistakes, worksByKeyboard, showsLongLabels, saysWhatIsWrong, asksForToken, saysItNeedsScripts]) {
      if (parts.length > 0 && !parts.includes(part.name)) continue;
      await part(browser);
      const complaints = browser.complaints.splice(0);
      if (!expected.includes(part)) assert.deepEqual(complaints, [], part.name);
      assert.ok(!complaints.some((one) => /Content Security Policy|Uncaught/.test(one)), complaints.join("\n"));
      console.log(`${part.name}: passed`);
    }
  } finally {
    await browser.close();
  }
}

process.exitCode = 1; // until all checks have passed
main().then(() => { process.exitCode = 0; }, console.error);
