/* Requests to the server, and what went wrong with them in words for people. */

/** What kept an answer away; its message is shown as it is. `isLasting`: the same request would fail again. */
class Problem extends Error {
  constructor(message, isLasting = false) {
    super(message);
    this.isLasting = isLasting;
  }
}

const statusWords = {
  403: "The server does not accept requests from this address.",
  408: "The picture came too slowly.",
  413: "The picture is too large.",
  415: "This is no picture that the server can read.",
  422: "The server could not read this picture.",
  429: "The server is busy. Try again in a moment.",
  503: "The server is busy. Try again in a moment.",
};
const noAnswer = "The server does not answer. Is mnist-knn still running there?";
const patience = 60_000; // ms for one answer
const mostTries = 30; // while the server says when to ask again

const tokenName = "mnist-knn token";
let token = null;

/** Keeps the token for this tab. A browser may forbid that; then it is asked for each time the page is loaded. */
function keepToken(text) {
  token = text;
  try {
    sessionStorage.setItem(tokenName, text);
  } catch { /* the page has it */ }
}

/** Takes the token from the address that the program shows on a terminal, and out of it; otherwise the one that this tab had. */
function findToken() {
  const prefix = "#token=";
  if (location.hash.startsWith(prefix)) {
    const given = location.hash.slice(prefix.length);
    try {
      keepToken(decodeURIComponent(given));
    } catch { // written by hand, with a percent sign of its own
      keepToken(given);
    }
    history.replaceState(null, "", location.pathname);
  }
  try {
    token ??= sessionStorage.getItem(tokenName);
  } catch { /* none is kept */ }
}

let asking = null; // a promise while the dialog is open

/** Asks for the token; false if the reader declines. Requests that fail at the same time share one dialog. */
function askForToken(refused) {
  asking ??= new Promise((done) => {
    const dialog = byId("token-dialog");
    if (refused) byId("token-hint").textContent = "The server did not accept that token.";
    byId("token").value = "";
    dialog.returnValue = "";
    dialog.onclose = () => {
      const isGiven = dialog.returnValue === "given";
      if (isGiven) keepToken(byId("token").value.trim());
      done(isGiven);
    };
    dialog.showModal();
  }).finally(() => { asking = null; });
  return asking;
}

const wait = (ms, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, ms);
  signal.addEventListener("abort", () => { clearTimeout(timer); fail(signal.reason); }, { once: true });
});

/** JSON, or undefined if it is none. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the server says of an answer that is no success. */
function problemOf({ status, text }) {
  const said = parsed(text);
  const words = [said?.detail, said?.title].find((one) => typeof one === "string" && one !== "");
  return new Problem(words ?? statusWords[status] ?? `The server answered with an error (${status}).`,
    status < 500 && ![408, 429].includes(status));
}

/** One exchange, without retries: {status, headers, text} of the response, whatever its status. Throws Problem, and AbortError if `signal` says so. */
async function exchange(path, body, type, signal) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Problem(noAnswer)), patience);
  signal.addEventListener("abort", () => stop.abort(signal.reason), { once: true });
  const headers = {};
  // A browser refuses to send other characters; no token has them.
  if (token) headers.Authorization = `Bearer ${token.replace(/[^\x21-\x7e]/g, "?")}`;
  if (body) headers["Content-Type"] = type || "application/octet-stream";
  try {
    const response = await fetch(path,
      { method: body ? "POST" : "GET", body, headers, signal: stop.signal, redirect: "error" });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    throw new Problem(noAnswer);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The JSON that the server answers. Without `body` a GET, else a POST of it. Asks for a token where the server wants one,
 * and asks again where it says when. Throws Problem, and AbortError if `signal` says so.
 */
async function ask(path, { body, type, signal = new AbortController().signal } = {}) {
  for (let tries = 1; ; ++tries) {
    const used = token;
    const response = await exchange(path, body, type, signal);
    if (response.status === 401) {
      if (used !== token || await askForToken(used !== null)) continue;
      throw new Problem("The server answers only with its token.");
    }
    const seconds = Number(response.headers.get("Retry-After") ?? NaN);
    if ([429, 503].includes(response.status) && seconds >= 0 && tries < mostTries) {
      await wait(1000 * Math.min(Math.max(seconds, 0.1), 10), signal);
      continue;
    }
    if (response.status !== 200) throw problemOf(response);
    const answer = parsed(response.text);
    if (answer === undefined) throw new Problem("The server's answer could not be read.");
    return answer;
  }
}

/**
 * Makes a function that runs `work(signal)`, of which only the newest call counts: it aborts the one before. `show` gets
 * a Problem, or null at the start of a call.
 */
function newestOnly(show) {
  let current = null;
  return async (work) => {
    current?.abort();
    const mine = current = new AbortController();
    show(null);
    try {
      await work(mine.signal);
    } catch (error) {
      if (mine.signal.aborted) return;
      show(error instanceof Problem ? error : new Problem("The server's answer is not as expected."));
      if (!(error instanceof Problem)) console.warn(error);
    }
  };
}
