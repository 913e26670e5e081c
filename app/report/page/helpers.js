"use strict";

/* What the scripts of all pages use. It needs no data. */

const byId = (id) => document.getElementById(id);

/** Creates an element. Functions become listeners; children are elements or text, never parsed as HTML. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const whole = new Intl.NumberFormat("en-US");

/** As `percent` of data/core/format.cpp: less than all is never rounded up to 100 %. */
function percent(share, places = 2) {
  const text = (100 * share).toFixed(places);
  if (share >= 1 || Number(text) < 100) return `${text}\u00a0%`;
  return places < 1 ? percent(share, 1) : `>\u00a0${(100 - 10 ** -places).toFixed(places)}\u00a0%`;
}

/** Three significant digits, and never an exponent: 0.0123, 4.56, 78.9, 1,230. */
function brief(number) {
  if (number === 0) return "0";
  return new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 }).format(number);
}

/** The role of a label, which gives it its color: the true one, the one wrongly predicted, or any other. */
function roleOf(label, digit) {
  return label === digit.label ? "right" : label === digit.predicted ? "wrong" : "other";
}

function labelFor(label, digit) {
  return element("span", { class: `label ${roleOf(label, digit)}` }, String(label));
}

/** "4 → 9" with colors; the containing element has the text for screen readers. */
function verdict(digit) {
  return [labelFor(digit.label, digit), " → ", labelFor(digit.predicted, digit)];
}

/**
 * Lets the arrow keys move the focus to the nearest element that matches, in the direction of the key;
 * the Tab key treats all of them as one stop.
 */
function moveByArrows(container, selector) {
  const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const middle = (rect) => [rect.left + rect.width / 2, rect.top + rect.height / 2];
  container.addEventListener("keydown", (event) => {
    const direction = directions[event.key];
    if (!direction || !event.target.matches(selector)) return;
    event.preventDefault();
    const [fromX, fromY] = middle(event.target.getBoundingClientRect());
    let nearest = null;
    let shortest = Infinity;
    for (const candidate of container.querySelectorAll(selector)) {
      const [x, y] = middle(candidate.getBoundingClientRect());
      const ahead = (x - fromX) * direction[0] + (y - fromY) * direction[1];
      const aside = Math.abs((x - fromX) * direction[1]) + Math.abs((y - fromY) * direction[0]);
      if (ahead > 1 && ahead + 4 * aside < shortest) {
        shortest = ahead + 4 * aside;
        nearest = candidate;
      }
    }
    nearest?.focus();
  });
  container.addEventListener("focusin", (event) => {
    if (!event.target.matches(selector)) return;
    for (const stop of container.querySelectorAll(`${selector}[tabindex="0"]`)) stop.tabIndex = -1;
    event.target.tabIndex = 0;
  });
}
