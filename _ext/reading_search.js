// Words of a query, split as those of the pages are: see reading_search.py, which puts this into
// Sphinx's language_data.js, behind its stemmer, and fills in the names of the Greek letters.
const GREEK = __GREEK__;
const WORD = /(?<![\p{L}\p{N}_])E\[[\p{L}\p{N}_]+[^\]\s]*\]?|\p{N}+(?:\.\p{N}+)+|[\p{L}\p{N}_]+/giu;

/** @param {string} query @returns {string[]} its words, symbols by name and numbers whole */
function splitQuery(query) {
  const named = query
    .replace(/[\u0391-\u03c9]/g, (letter) => GREEK[letter] ?? letter)
    .replace(/(\d),(?=\d{3}(?!\d))/g, "$1");
  return (named.match(WORD) ?? []).map((word) => word.replace(/\[(\w+).*/u, "[$1]"));
}

// Only plain words have endings: a symbol, a number or a name of the code is taken as it stands.
const PlainStemmer = Stemmer;
Stemmer = function () {
  const plain = new PlainStemmer();
  this.stemWord = (word) => (/^[a-z]+$/.test(word) ? plain.stemWord(word) : word);
};

// Sphinx's script of the search asks whether found words are highlighted; the one that would do
// it, and say so, is not part of these pages.
globalThis.SPHINX_HIGHLIGHT_ENABLED ??= false;

// Sphinx drops numbers from a query, though it indexes them.
if (typeof Search !== "undefined") {
  const parse = Search._parseQuery;
  Search._parseQuery = (query) => {
    const parsed = parse(query);
    const [, searched, , highlighted] = parsed;
    for (const word of splitQuery(query).filter((one) => /^\d+$/.test(one))) {
      searched.add(word);
      highlighted.add(word);
    }
    return parsed;
  };
}
