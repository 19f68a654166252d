// Show the framed lesson in the theme that the reader has chosen for the site; the default is the theme of the system.
const chosen = document.body.dataset.theme;
const frame = document.querySelector("iframe.lesson");
if (frame && chosen !== "auto") frame.src += `#theme=${chosen}`;
