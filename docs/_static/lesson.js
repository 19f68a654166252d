// The lesson in a frame begins in the theme that the reader has chosen for the site; else in that of the system.
const chosen = document.body.dataset.theme;
const frame = document.querySelector("iframe.lesson");
if (frame && chosen !== "auto") frame.src += `#theme=${chosen}`;
