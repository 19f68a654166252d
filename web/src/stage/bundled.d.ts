// What build.js puts in place: the worker's text, and stylesheets as text.

declare const LAYOUT_WORKER: string;

declare module "*.css" {
  const text: string;
  export default text;
}
