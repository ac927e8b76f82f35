// Writes src/skillyard/remote/install/data/collation.json: the order of characters, asked of Node's own
// collator, one character at a time.
//
//   node tests/remote/install/collation_table.mjs > src/skillyard/remote/install/data/collation.json
//
// What the fields mean stands in src/skillyard/remote/install/collation.py.

const variant = new Intl.Collator("en");
const accent = new Intl.Collator("en", { sensitivity: "accent" });
const base = new Intl.Collator("en", { sensitivity: "base" });

const BLOCKER = "\u034f"; // ignored, but it keeps two characters from being read as one
const SMALL_KANA =
  /[ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰ-ㇿ\u{1b132}\u{1b150}-\u{1b167}]/u;
const MANY = 100; // room between two marks for characters that lie between them

const hex = (character) => character.codePointAt(0).toString(16);
const isBasicHan = (code) => code >= 0x4e00 && code <= 0x9fff;

function characters() {
  const found = [];
  for (let code = 0; code < 0x110000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const character = String.fromCodePoint(code);
    if (!/[\p{Cn}\p{Co}]/u.test(character)) found.push(character);
  }
  return found;
}

function runs(list) {
  const found = [];
  for (const character of list) {
    const code = character.codePointAt(0);
    const last = found.at(-1);
    if (last && last[1] + 1 === code) last[1] = code;
    else found.push([code, code]);
  }
  return found.map(([from, to]) => from.toString(16) + (to > from ? "-" + to.toString(16) : ""));
}

function lines(tokens) {
  const found = [];
  for (const token of tokens) {
    const last = found.length - 1;
    if (last >= 0 && found[last].length + token.length < 90) found[last] += " " + token;
    else found.push(token);
  }
  return found;
}

const ignorable = [];
const marks = [];
const atoms = [];
const otherHan = [];
for (const one of characters()) {
  const code = one.codePointAt(0);
  const canonical = one.normalize("NFD");
  const compatible = one.normalize("NFKD");
  if (variant.compare(one, "") === 0) ignorable.push(one);
  else if (canonical !== one) {
    if (code >= 0xac00 && code <= 0xd7a3) continue; // Hangul: its parts say all
    if (base.compare(one, [...canonical].join(BLOCKER)) !== 0) atoms.push(one);
  } else if (base.compare(one, "") === 0) marks.push(one);
  else if (/\p{UIdeo}/u.test(one) && !isBasicHan(code)) otherHan.push(one);
  else if (compatible === one || base.compare(one, compatible) !== 0) atoms.push(one);
}

// Marks: one weight for each group of equals, in order.
marks.sort(accent.compare);
const markGroups = [];
for (const mark of marks) {
  const last = markGroups.at(-1);
  if (last && accent.compare(last[0], mark) === 0) last.push(mark);
  else markGroups.push([mark]);
}

// Letters that are written as two or three others (æ, ß): these share the others' first weights.
const letters = [..."abcdefghijklmnopqrstuvwxyz"];
const pairs = letters.flatMap((a) => letters.map((b) => a + b));
const spelled = {};
const single = atoms.filter((one) => {
  if (!/\p{sc=Latin}/u.test(one)) return true;
  const spelling = pairs.find((pair) => base.compare(pair, one) === 0);
  if (spelling) spelled[one] = spelling;
  return !spelling;
});

// Which mark stands for what makes `one` differ from its group's leader on the second level.
function secondary(one, leader) {
  if (accent.compare(one, leader) === 0) return 0;
  let place = 0;
  for (const group of markGroups) {
    const order = accent.compare(one, leader + group[0]);
    if (order === 0) return MANY * (place + 1);
    if (order < 0) break;
    place++;
  }
  return MANY * place + MANY / 2;
}

// The third level within one group: small letters 2, capitals 8, kana by size and kind.
function tertiary(one, leader, rank) {
  if (/[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(one)) {
    const small = SMALL_KANA.test(one);
    if (/\p{sc=Hiragana}/u.test(one)) return small ? 13 : 14;
    return small ? 15 : 17;
  }
  if (rank === 0) return 2;
  return one.toLowerCase() === leader || one.toLowerCase() !== one ? 8 : 3 + rank;
}

single.sort(variant.compare);
const leaders = [];
const variants = {};
let group = null;
for (const one of single) {
  if (!group || base.compare(group.leader, one) !== 0) {
    group = { leader: one, last: one, second: 0, bump: 0, rank: 0 };
    leaders.push(one);
    if (/[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(one)) {
      variants[one] = [hex(one), 0, tertiary(one, one, 0)];
    }
    continue;
  }
  if (variant.compare(group.last, one) !== 0) group.rank++;
  let second = secondary(one, group.leader);
  if (second !== 0 && second % MANY !== 0 && second === group.second) {
    if (accent.compare(group.last, one) !== 0) group.bump++;
  } else group.bump = 0;
  group.second = second;
  if (second % MANY !== 0) second += group.bump;
  const same = accent.compare(group.last, one) === 0;
  if (!same) group.rank = 0;
  variants[one] = [hex(group.leader), second, tertiary(one, group.leader, group.rank)];
  group.last = one;
}

const byVariant = new Map();
for (const [one, [leader, second, third]] of Object.entries(variants)) {
  const key = `${leader} ${second} ${third}`;
  byVariant.set(key, [...(byVariant.get(key) ?? []), one]);
}
const variantLines = [...byVariant].map(([key, list]) => `${key} ${runs(list).join(" ")}`);

const table = {
  unicode: process.versions.unicode,
  icu: process.versions.icu,
  ignorable: lines(runs(ignorable)),
  marks: markGroups.map((list) => runs(list).join(" ")),
  order: lines(runs(leaders)),
  variants: variantLines,
  spelled: Object.entries(spelled).map(([one, pair]) => `${hex(one)} ${pair}`),
  han: lines(runs(otherHan)),
};
process.stdout.write(JSON.stringify(table, null, 1) + "\n");
