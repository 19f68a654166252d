// Scores of search results: public names that match, then titles and texts of pages, then other names.
var Scorer = {
  // A class that functions return has the path of its file, such as gradwalk.batching.vmapped.Vmap.
  score: ([, title, , , score]) => (/^gradwalk\.[a-z_]+\.[a-z_]+\.[A-Z]/.test(title) ? score / 1000 : score),
  objNameMatch: 1000,
  objPartialMatch: 4,
  objPrio: { 0: 0, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
