// Lays out away from the page, which stays awake meanwhile.

import { layered } from "./layered.js";

addEventListener("message", ({ data: { id, request } }) => postMessage({ id, layout: layered(request) }));
