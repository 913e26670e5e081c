/* Everything but the digits is there at once; they wait for the sprite to be decoded. */

showHead();
showClasses();
showTiming();
sprite.decode().then(() => {
  showMatrix();
  showFilters();
  watchViewer();
  update();
  document.documentElement.dataset.ready = "yes";
});
