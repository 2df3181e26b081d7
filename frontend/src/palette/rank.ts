/** How well texts answer what was typed. Nothing is fuzzy beyond letters left out: what is found can be explained. */
const WHOLE_START = 8;
const WORD_START = 6;
const INSIDE = 4;
const LETTERS = 2;
// What stands beside the title counts, but less.
const BESIDE = 0.5;
// Letters left out of a text: only for words long enough to mean something.
const MIN_LETTERS = 2;

/**
 * A score above 0 when each typed word is found in the title or beside it,
 * else 0. Case does not count.
 */
export function score(query: string, title: string, beside = ""): number {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  let sum = 0;
  for (const word of words) {
    const best = Math.max(
      scoreWord(word, title.toLowerCase(), true),
      BESIDE * scoreWord(word, beside.toLowerCase(), false),
    );
    if (best === 0) return 0;
    sum += best;
  }
  return words.length === 0 ? 1 : sum;
}

function scoreWord(word: string, text: string, letters: boolean): number {
  const at = text.indexOf(word);
  if (at === 0) return WHOLE_START;
  if (at > 0) return startsWord(text, word) ? WORD_START : INSIDE;
  return letters && word.length >= MIN_LETTERS && hasLetters(word, text) ? LETTERS : 0;
}

const startsWord = (text: string, word: string) =>
  text.split(/[\s/\\._-]+/).some((part) => part.startsWith(word));

/** The letters of the word, in order, the first at the beginning of a word of the text: "nc" is "New chat". */
function hasLetters(word: string, text: string): boolean {
  const initials = text
    .split(/[\s/\\._-]+/)
    .map((part) => part.charAt(0))
    .join("");
  return initials.includes(word);
}
