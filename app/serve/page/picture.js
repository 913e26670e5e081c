/* A picture of one digit or of many: boxes over it, its rows as text, and the digit that is chosen. */

const pictureHint = byId("picture-said").textContent;
let bodyLimit = 20e6; // bytes, until /v1/info says it
let taken = null; // what is shown: {file, name, address of its preview}

const newestPicture = newestOnly((problem) => {
  showTrouble(problem, classifyTaken);
  byId("picture-view").removeAttribute("aria-busy");
  if (problem) byId("picture-said").textContent = taken ? `No answer: ${taken.name}` : pictureHint;
});

const severalDigits = () => document.querySelector("input[name=many]:checked").value === "1";

/** Shows the picture with its size, which its boxes refer to; without one the browser cannot show it. */
function showPicture(width, height) {
  const frame = byId("picture");
  frame.hidden = false;
  frame.style.setProperty("--aspect", String(width / height));
  frame.style.setProperty("--most", `${Math.max(width, 384)}px`);
  frame.classList.toggle("coarse", width < 200);
}

/** The digit whose answer is shown beside the picture. */
function choose(digits, position) {
  [...byId("boxes").children].forEach((box, i) => box.setAttribute("aria-pressed", String(i === position)));
  byId("picture-answer").replaceChildren(...answerBlock(digits[position]));
}

function box(answer, i, digits, width, height) {
  const [x, y, w, h] = answer.box;
  const where = digits.length === 1 ? "" : `Row ${answer.row + 1}: `;
  const made = element("button", {
    type: "button", class: answer.digit === null ? "box wrong" : "box right", tabindex: i === 0 ? 0 : -1,
    "aria-label": where + spoken(answer), click: () => choose(digits, i),
  }, element("span", { "aria-hidden": "true" }, symbolOf(answer)));
  const lengths = { left: x / width, top: y / height, width: w / width, height: h / height };
  for (const [name, share] of Object.entries(lengths)) made.style.setProperty(name, `${100 * share}%`);
  made.style.setProperty("--tall", String(100 * h / width));
  return made;
}

/** Whether the answers above boxes would cover more than half of the boxes above them. */
function isDense(digits, width) {
  const tag = 12 * width / byId("picture").clientWidth; // its height in pixels of the picture
  const covers = ([x, y, w], [otherX, otherY, otherW, otherH]) => otherY < y && otherY + otherH > y - tag &&
    otherX < x + w && otherX + otherW > x;
  return 2 * digits.filter((one) => digits.some((other) => covers(one.box, other.box))).length > digits.length;
}

/** "12 digits and 1 mark without an answer in 3 rows". */
function summary(digits, lines) {
  const unanswered = digits.filter(({ digit }) => digit === null).length;
  return counted(digits.length - unanswered, "digit", "digits") +
    (unanswered > 0 ? ` and ${counted(unanswered, "mark", "marks")} without an answer` : "") +
    ` in ${counted(lines.length, "row", "rows")}`;
}

function showDigits(digits, lines, width, height) {
  byId("boxes").replaceChildren(...digits.map((answer, i) => box(answer, i, digits, width, height)));
  byId("boxes").classList.toggle("dense", isDense(digits, width));
  byId("rows").value = (lines ?? []).join("\n");
  byId("rows").rows = Math.min(Math.max(lines?.length ?? 1, 1), 16);
  byId("rows-panel").hidden = !lines;
  byId("picture-answers").hidden = digits.length === 0;
  if (digits.length > 0) choose(digits, 0);
  const said = lines ? summary(digits, lines) : spoken(digits[0]);
  byId("picture-said").textContent = digits.length > 0 ? `${taken.name}: ${said}`
    : "No digits were found. If the picture shows just one, choose One digit above";
}

/** Sends the picture that was taken, and shows what is found in it. */
function classifyTaken() {
  newestPicture(async (signal) => {
    byId("picture-answers").hidden = true;
    byId("boxes").replaceChildren();
    if (!taken) return;
    const { file, name } = taken;
    if (file.size === 0) throw new Problem(`${name} is empty.`, true);
    if (file.size > bodyLimit)
      throw new Problem(`${name} has ${brief(file.size / 1e6)} MB. The server takes at most ${brief(bodyLimit / 1e6)} MB.`, true);
    byId("picture-view").setAttribute("aria-busy", "true");
    byId("picture-said").textContent = `Reading ${name}…`;
    const many = severalDigits();
    // What a picture is, its bytes say, not its name. A file may have changed since it was chosen.
    const body = await file.arrayBuffer().catch(() => { throw new Problem(`${name} cannot be read. Choose it again.`, true); });
    const { pictures: [picture] } = await ask(`/v1/classify?neighbors=1&limit=5${many ? "&many=1" : ""}`,
      { body, signal });
    if (picture.error) throw new Problem(picture.error, true);
    const seen = byId("seen");
    seen.hidden = !await seen.decode().then(() => true, () => false);
    if (signal.aborted) return;
    const width = picture.width ?? seen.naturalWidth;
    const height = picture.height ?? seen.naturalHeight;
    showPicture(width, height);
    showDigits(many ? picture.digits : [picture], many ? picture.lines : null, width, height);
    byId("picture-view").removeAttribute("aria-busy");
    if (seen.hidden) byId("picture-said").textContent += ". This browser cannot show the picture itself.";
  });
}

/** Takes the first of these files. */
function takeFile(files) {
  if (!files || files.length === 0) return;
  if (taken) URL.revokeObjectURL(taken.address);
  const name = (files[0].name || "Picture") + (files.length > 1 ? ` (the first of ${files.length} files)` : "");
  taken = { file: files[0], name, address: URL.createObjectURL(files[0]) };
  byId("picture").hidden = true;
  byId("seen").src = taken.address;
  location.hash = "#picture";
  classifyTaken();
}

async function copyRows() {
  const rows = byId("rows");
  try {
    await navigator.clipboard.writeText(rows.value);
  } catch { // no permission, or the page came without encryption from another computer
    rows.select();
    document.execCommand("copy");
  }
  byId("copy").textContent = "Copied";
  setTimeout(() => { byId("copy").textContent = "Copy"; }, 1500);
}

function watchPictures() {
  for (const input of [byId("file"), byId("camera")])
    input.addEventListener("change", () => {
      takeFile([...input.files]);
      input.value = ""; // the same file may be chosen again
    });
  for (const radio of document.querySelectorAll("input[name=many]")) radio.addEventListener("change", classifyTaken);
  byId("copy").addEventListener("click", copyRows);
  // Anywhere on the page: a file that misses the frame must not replace the page.
  const over = (is) => byId("drop").classList.toggle("over", is);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    takeFile(event.dataTransfer.files);
  });
  document.addEventListener("paste", (event) => takeFile(event.clipboardData?.files));
  moveByArrows(byId("boxes"), "button");
}
