// How large a drawing is shown in the room there is for it. Text is never smaller than a reader can make out.

/** @typedef {{ width: number, height: number }} Size */

const SMALLEST_FONT = 12; // of the stage, in its own pixels
const LEGIBLE = 11; // pixels of the screen

export const MARGIN = 20; // around the drawing, in pixels of the screen
export const LEAST_READABLE = (LEGIBLE + 0.05) / SMALLEST_FONT;
const LARGEST_FIT = 2;

/** Between which scales a drawing is shown when all of it is: for one reader, and at the front of a room. */
export const NEAR = { least: LEAST_READABLE, most: LARGEST_FIT };
export const AFAR = { least: 16 / SMALLEST_FONT, most: 4 };

/** The scale at which all of a drawing can be seen, however small. @param {Size} content @param {Size} room @param {number} [most] */
export function fittedScale(content, room, most = LARGEST_FIT) {
  const across = (room.width - 2 * MARGIN) / content.width;
  const down = (room.height - 2 * MARGIN) / content.height;
  return Math.min(across, down, most);
}
