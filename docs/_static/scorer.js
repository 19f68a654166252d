// Scores of search results: a name of the reference comes before pages that mention it.
var Scorer = {
  objNameMatch: 1000,
  objPartialMatch: 60,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
