/* The page of `audit`: what was judged, then the gallery, the most suspicious label first. */

function showAuditHead() {
  const { dataset, audit } = page;
  document.title = `Suspicious labels: ${dataset.name} (mnist-knn)`;
  byId("program").textContent = `${page.program.name} ${page.program.version}`;
  byId("headline").append(element("strong", {}, whole.format(audit.improbable)), " labels that their neighbors contradict");
  byId("lead").textContent = `${audit.judged}. In ${whole.format(audit.improbable)} of them another label is more ` +
    "probable than the given one.";
  const facts = { "Settings": audit.settings, "Neighbors": `the nearest ${audit.each} of each class`, "Made":
    page.created.replace("T", " ").replace("Z", " UTC") };
  if (audit.planted) facts["Planted"] = audit.planted;
  for (const [name, value] of Object.entries(facts))
    byId("facts").append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
}

showAuditHead();
sprite.decode().then(() => {
  showFilters();
  watchViewer();
  update();
  document.documentElement.dataset.ready = "yes";
});
