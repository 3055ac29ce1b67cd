// Elements. Text of models, people and data enters the page only here, as text nodes and attribute
// values.

const JOINED = "[\\u0590-\\u1fff\\u2600-\\u27bf\\ufe0f\\u{1f000}-\\u{1faff}]";
const INVISIBLE = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4" +
    "\\u17b5\\u180b-\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff" +
    "\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]" +
    `|(?<!${JOINED})[\\u200c\\u200d]|[\\u200c\\u200d](?!${JOINED})`,
  "gu",
);

// Replaces control characters, characters that change the direction of writing, and characters
// without width by their code points. Joiners within Persian and Indian words and within emoji are
// part of the spelling and stay.
function revealInvisible(value) {
  return String(value).replace(/\r\n?/g, "\n").replace(INVISIBLE, formatCodePoint);
}

function formatCodePoint(character) {
  const digits = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return `⟨U+${digits}⟩`;
}

// Returns an element with attributes, event handlers (functions) and children (nodes or text).
function createElement(tag, attributes = {}, ...children) {
  return fillNode(document.createElement(tag), attributes, children);
}

function createSvg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fillNode(node, attributes, children);
}

function fillNode(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, revealInvisible(value));
  }
  for (const child of children.flat()) {
    if (child == null || child === "") continue;
    const isNode = child instanceof Node;
    node.append(isNode ? child : document.createTextNode(revealInvisible(child)));
  }
  return node;
}

// Returns the pieces of a text in which the needles, which are in lower case, are marked.
function highlight(text, needles) {
  const visibleText = revealInvisible(text);
  const lowerText = visibleText.toLowerCase();
  if (!needles.length || lowerText.length !== visibleText.length) return [visibleText];
  const pieces = [];
  let pieceStart = 0;
  for (const { start, end } of findMatches(lowerText, needles)) {
    if (start < pieceStart) continue;
    pieces.push(visibleText.slice(pieceStart, start));
    pieces.push(createElement("mark", {}, visibleText.slice(start, end)));
    pieceStart = end;
  }
  return [...pieces, visibleText.slice(pieceStart)];
}

// Returns the matches of all needles in a text, by their start.
function findMatches(text, needles) {
  const matches = [];
  for (const needle of needles) {
    let start = text.indexOf(needle);
    while (start >= 0) {
      const end = start + needle.length;
      matches.push({ start, end });
      start = text.indexOf(needle, end);
    }
  }
  return matches.sort((first, second) => first.start - second.start);
}

const formatNumber = (number) => number.toLocaleString("en");
const formatCount = (number, noun) => `${formatNumber(number)} ${noun}${number === 1 ? "" : "s"}`;
// Returns a share in whole per cent; 99.5 % is not rounded to certainty.
function formatPercent(share) {
  const whole = Math.round(share * 100);
  const isRoundedToBound = [0, 100].includes(whole) && share * 100 !== whole;
  return `${isRoundedToBound ? (share * 100).toFixed(1) : whole} %`;
}

const capitalize = (words) => words && words[0].toUpperCase() + words.slice(1);
