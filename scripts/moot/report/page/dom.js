// Elements. Text of models, people and data enters the page only here, as text nodes and attribute values.

const JOINED = "[\\u0590-\\u1fff\\u2600-\\u27bf\\ufe0f\\u{1f000}-\\u{1faff}]";
const INVISIBLE = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180e\\u200b\\u200e\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]" +
    `|(?<!${JOINED})[\\u200c\\u200d]|[\\u200c\\u200d](?!${JOINED})`, "gu");

// Shows control characters, characters that change the direction of writing, and characters without width by
// their code points. Joiners within Persian and Indian words and within emoji are part of the spelling and stay.
function revealInvisible(value) {
  const code = (sign) => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  return String(value).replace(/\r\n?/g, "\n").replace(INVISIBLE, code);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, revealInvisible(value));
  }
  node.append(...children.flat().filter((child) => child != null && child !== "").map(
    (child) => (child instanceof Node ? child : document.createTextNode(revealInvisible(child)))));
  return node;
}

// An element with attributes, event handlers (functions) and children (nodes or text).
const createElement = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const createSvg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Returns the pieces of a text in which the needles, which are in lower case, are marked.
function highlight(text, needles) {
  const shown = revealInvisible(text), lower = shown.toLowerCase();
  if (!needles.length || lower.length !== shown.length) return [shown];
  const found = [];
  for (const needle of needles) {
    for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, at + needle.length)) {
      found.push([at, at + needle.length]);
    }
  }
  const pieces = [];
  let end = 0;
  for (const [from, to] of found.sort((one, other) => one[0] - other[0])) {
    if (from < end) continue;
    pieces.push(shown.slice(end, from), createElement("mark", {}, shown.slice(from, to)));
    end = to;
  }
  return [...pieces, shown.slice(end)];
}

const formatCount = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const formatPercent = (share) => `${Math.round(share * 100)} %`;
const capitalize = (words) => words && words[0].toUpperCase() + words.slice(1);
