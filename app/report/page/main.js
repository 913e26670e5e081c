/* Shows everything except the digits immediately; they wait for the sprite to be decoded. */

showReportHead();
showClasses();
showTiming();
showTrust();
sprite.decode().then(() => {
  showMatrix();
  showDigits();
});
