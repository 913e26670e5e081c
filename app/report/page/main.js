/* Shows everything except the digits immediately; they wait for the sprite to be decoded. The tables of the report are HTML. */

if (page.audit) {
  showAuditHead();
} else {
  showReportHead();
  byId("classes").classList.toggle("tall", page.result.per_class.length > 20);
  showTrust();
}
sprite.decode().then(() => {
  if (!page.audit) showMatrix();
  if (page.dataset.columns) {
    document.querySelector(".gallery-panel").hidden = true; // vectors are no pictures
  } else {
    showFilters();
    watchViewer(step, viewerClosed);
    document.addEventListener("keydown", keyPressed);
    update();
  }
  document.documentElement.dataset.ready = "yes";
});
