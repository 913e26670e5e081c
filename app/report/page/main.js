/* Shows everything except the digits immediately; they wait for the sprite to be decoded. */

showHead();
showClasses();
showTiming();
showTrust();
sprite.decode().then(() => {
  showMatrix();
  showFilters();
  watchViewer();
  update();
  document.documentElement.dataset.ready = "yes";
});
