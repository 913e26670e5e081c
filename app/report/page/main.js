/* Shows everything except the digits immediately; they wait for the sprite to be decoded. */

if (page.audit) {
  showAuditHead();
} else {
  showReportHead();
  showClasses();
  showTiming();
  showTrust();
}
sprite.decode().then(() => {
  if (!page.audit) showMatrix();
  showFilters();
  watchViewer();
  update();
  document.documentElement.dataset.ready = "yes";
});
