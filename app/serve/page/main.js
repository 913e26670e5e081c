/* The three views, what went wrong, and what the server is. */

const views = ["draw", "picture", "mistakes"];

/** Shows a problem above all views, with a button that tries again where that may help; null: nothing is wrong. */
function showTrouble(problem, again) {
  const place = byId("trouble");
  place.hidden = !problem;
  place.replaceChildren(problem?.message ?? "");
  if (problem && !problem.isLasting) place.append(element("button", { type: "button", click: () => again() }, "Try again"));
}

/** The view that the address names. */
function showView() {
  const name = views.find((view) => location.hash === `#${view}`) ?? views[0];
  for (const view of views) byId(`${view}-view`).hidden = view !== name;
  for (const link of byId("views").querySelectorAll("a"))
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  showTrouble(null); // it is the other view's
  document.title = `${{ draw: "Draw", picture: "Picture", mistakes: "Mistakes" }[name]} (mnist-knn)`;
  if (name === "mistakes" && !matrixShown) showMistakes();
}

async function showServer() {
  const { program, method, dataset, limits } = await ask("/v1/info");
  if (limits?.body_bytes > 0) bodyLimit = limits.body_bytes;
  byId("program").textContent = [`${program.name} ${program.version}`, `method ${method}`,
    `${whole.format(dataset.train)} training digits${dataset.synthetic ? " drawn by the program" : ""}`].join(" · ");
}

findToken();
watchPad();
watchPictures();
watchMistakes();
addEventListener("hashchange", () => {
  findToken();
  showView();
});
byId("views").hidden = false;
showView();
showServer().catch((error) => {
  if (error instanceof Problem) showTrouble(error, () => location.reload());
  else console.warn(error);
}).finally(() => { document.documentElement.dataset.ready = "yes"; });
