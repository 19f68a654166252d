// The scale of a drawing in the available room. Text is always large enough to read.

/** @typedef {{ width: number, height: number }} Size */

const SMALLEST_FONT = 12; // smallest font of the stage, in drawing units
const LEGIBLE = 11; // smallest legible font, in screen pixels

export const MARGIN = 20; // around the drawing, in screen pixels
export const LEAST_READABLE = (LEGIBLE + 0.05) / SMALLEST_FONT;
const LARGEST_FIT = 2;

/**
 * Limits of the scale: the least at which the whole drawing is shown, the least at which a part of it is shown, and the
 * most. NEAR is for a reader at a screen, AFAR for an audience in a room.
 */
export const NEAR = { whole: LEAST_READABLE, least: LEAST_READABLE, most: LARGEST_FIT };
export const AFAR = { whole: 1, least: 16 / SMALLEST_FONT, most: 4 };

/** Compute the scale at which a whole drawing fits its room. @param {Size} content @param {Size} room @param {number} [most] */
export function fittedScale(content, room, most = LARGEST_FIT) {
  const across = (room.width - 2 * MARGIN) / content.width;
  const down = (room.height - 2 * MARGIN) / content.height;
  return Math.min(across, down, most);
}
