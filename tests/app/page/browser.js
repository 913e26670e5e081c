"use strict";
/* A headless Chromium, driven over two pipes (file descriptors 3 and 4) by messages of its DevTools protocol:
   no port, no socket, no library. https://chromedevtools.github.io/devtools-protocol/ */

const { spawn } = require("node:child_process");
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"];

class Browser {
  #folder = mkdtempSync(join(tmpdir(), "mnist-knn-page-"));
  #waiting = new Map(); // command id → resolve and reject of its promise
  #unread = "";
  #lastId = 0;
  #session;
  #process;
  #listeners = new Set(); // of events: {method, hear}
  complaints = []; // exceptions, console messages and refused requests of the page

  constructor(program) {
    this.#process = spawn(program, [...flags, `--user-data-dir=${this.#folder}`, "about:blank"],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#process.stdio[4].setEncoding("utf8");
    this.#process.stdio[4].on("data", (text) => this.#receive(text));
    this.#process.on("exit", () => {
      for (const { fail } of this.#waiting.values()) fail(new Error("the browser ended"));
    });
  }

  #receive(text) {
    const messages = (this.#unread + text).split("\0");
    this.#unread = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
      const { id, method, params, result, error } = message;
      if (id !== undefined) {
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (error) waiting?.fail(new Error(error.message));
        else waiting?.done(result);
      } else if (["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"].includes(method)) {
        this.complaints.push(JSON.stringify(params));
      }
      for (const listener of this.#listeners) if (listener.method === method) listener.hear(params);
    }
  }

  send(method, params = {}) {
    const id = ++this.#lastId;
    this.#process.stdio[3].write(JSON.stringify({ id, method, params, sessionId: this.#session }) + "\0");
    // A page that shows an alert no longer answers.
    const timer = setTimeout(() => this.#waiting.get(id)?.fail(new Error(`${method}: no answer`)), 60_000);
    return new Promise((done, fail) => this.#waiting.set(id, { done, fail })).finally(() => clearTimeout(timer));
  }

  /** Calls `hear` with each event of this name, until `stop` of what it returns. */
  on(method, hear) {
    const listener = { method, hear, stop: () => this.#listeners.delete(listener) };
    this.#listeners.add(listener);
    return listener;
  }

  /** Opens a page at a width and in a color scheme, and waits until it says that it is ready. */
  async open(address, { width = 1280, height = 900, dark = false } = {}) {
    if (!this.#session) {
      const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
      this.#session = (await this.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
      await Promise.all(["Runtime", "Log", "Page"].map((domain) => this.send(`${domain}.enable`)));
      await this.send("Emulation.setFocusEmulationEnabled", { enabled: true }); // keys go to this page
    }
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    await this.send("Emulation.setEmulatedMedia",
      { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    await this.send("Page.navigate", { url: address });
    if (!await this.until("document.documentElement?.dataset.ready === 'yes'"))
      throw new Error(`${address} did not get ready: ${this.complaints.join("\n")}`);
  }

  /** What an expression, or the promise that it is, gives in the page. */
  async value(expression) {
    const { result, exceptionDetails } =
      await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception.description}`);
    return result.value;
  }

  /** Waits up to 20 s until an expression is true. */
  async until(expression) {
    for (let tries = 0; tries < 400 && !(await this.value(expression)); ++tries)
      await new Promise((done) => setTimeout(done, 50));
    return this.value(expression);
  }

  /** Waits until what was laid out and scrolled is drawn: a touch goes to what lies under it in the last frame. */
  async drawn() {
    await this.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))");
  }

  /** A key as a person presses it. */
  async press(key) {
    const codes = { Enter: 13, Escape: 27, Tab: 9, Delete: 46, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };
    const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
    const event = { key, text, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0) };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event, text: undefined });
  }

  /** A click with the mouse in the middle of the first element that matches. */
  async click(selector) {
    const [x, y] = await this.value(`(() => {
      const found = document.querySelector(${JSON.stringify(selector)});
      found.scrollIntoView({ block: "center" });
      const box = found.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    })()`);
    for (const type of ["mousePressed", "mouseReleased"])
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }

  async close() {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = new Promise((done) => this.#process.on("exit", done));
      this.#session = undefined;
      this.send("Browser.close").catch(() => {});
      const timer = setTimeout(() => this.#process.kill("SIGKILL"), 5000);
      await ended;
      clearTimeout(timer);
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

module.exports = { Browser };
