/* The page of `audit`: what was judged, then the gallery, the most suspicious label first. */

function showAuditHead() {
  const { audit } = page;
  const facts = { "Settings": audit.settings, "Neighbors": `the nearest ${audit.each} of each class`, "Made": timeMade };
  if (audit.planted) facts["Planted"] = audit.planted;
  showHead(`Suspicious labels: ${page.dataset.name}`, whole.format(audit.improbable), " labels that their neighbors contradict",
    `${audit.judged}. In ${whole.format(audit.improbable)} of them another label is more probable than the given one.`, facts);
}

showAuditHead();
sprite.decode().then(showDigits);
