// One turn of a debate, and its call.

// Turns without words: the verdict of one of several judges, and the current answer of a member of a group.
const isOneOfSeveral = (turn) => turn.kind === "verdict" && Boolean(turn.readers);
const isAnswer = (turn) => !turn.text && !turn.notice && !turn.fields.length && (turn.kind === "answer" || isOneOfSeveral(turn));

// Returns the items of the turns. Consecutive answers are one item with the current answers of all, in which
// changed answers are marked.
function createTurnItems(debate, turns, needles) {
  const held = new Map(), items = [];
  for (let at = 0; at < turns.length; at++) {
    if (!isAnswer(turns[at])) { items.push(turnItem(debate, turns[at], needles)); continue; }
    const first = turns[at], changed = new Set();
    for (; at < turns.length && isAnswer(turns[at]) && turns[at].kind === first.kind; at++) {
      if (held.get(turns[at].speaker)?.label !== turns[at].stated?.label) changed.add(turns[at].speaker);
      held.set(turns[at].speaker, turns[at].stated);
    }
    at--;
    const here = state.debate === debate && state.turn >= first.number && state.turn <= turns[at].number;
    items.push(createElement("li", { class: `turn answers${here ? " here" : ""}`, "data-turn": first.number, tabindex: "-1" },
      createElement("h3", {}, first.kind === "answer" ? "Answers now" : "Answers at the end"),
      createElement("ul", {}, [...held].map(([speaker, stated]) => createElement("li", { class: changed.has(speaker) ? "changed" : "" }, `${speaker}: `, createAnswer(debate, stated))))));
  }
  return items;
}

const createAnswer = ({ case: { target } }, stated) => createElement("span", { class: "given" },
  stated ? stated.label : "no answer", stated && target ? [" ", createBadge(stated.label === target ? "right" : "wrong")] : "", " ");

function turnItem(debate, turn, needles) {
  const at = state.debate === debate, here = at && state.turn === turn.number;
  const opened = here || needles.some((needle) => collectWords({ turns: [turn] }).toLowerCase().includes(needle));
  const heading = [createElement("strong", {}, turn.speaker), `, ${turn.kind}`, turn.round ? `, round ${turn.round}` : ""];
  const body = createElement("div", { class: "said" }, saidIn(debate, turn, needles));
  const item = createElement("li", { class: here ? "turn here" : "turn", "data-turn": turn.number, tabindex: "-1" });
  if (turn.readers) {
    item.append(createElement("details", { class: "private", open: opened },
      createElement("summary", {}, heading, createElement("span", { class: "secret" }, `private: only ${turn.readers} may read it`)), body));
  } else item.append(createElement("h3", {}, heading), body);
  item.append(footer(debate, turn, here && state.call));
  return item;
}

function saidIn(debate, turn, needles) {
  const parts = [];
  if (turn.notice) parts.push(createElement("p", { class: "notice" }, `${turn.notice}${turn.text ? ":" : "."}`));
  if (turn.text || !(turn.notice || turn.fields.length)) parts.push(createElement("p", { class: "text", dir: "auto" }, underlined(debate, turn, turn.text, needles)));
  for (const [name, value] of turn.fields) {
    parts.push(createElement("p", { class: "field" }, name));
    parts.push(Array.isArray(value)
      ? createElement("ul", {}, value.map((entry) => createElement("li", { dir: "auto" }, underlined(debate, turn, entry, needles))))
      : createElement("p", { class: "text", dir: "auto" }, underlined(debate, turn, value, needles)));
  }
  if (turn.passages) parts.push(recordSummary(turn.passages));
  if (turn.stated) parts.push(statement(turn));
  for (const effect of turn.effects ?? []) if (!effect.quote) parts.push(effectBar(effect));
  if (turn.label) parts.push(createElement("p", { class: "stated" }, "Labelled ", createElement("strong", {}, turn.label.label), ` by ${turn.label.labeler}`));
  return parts;
}

// Returns the pieces of a text in which two kinds of passages are underlined: sentences whose effect on the judge
// was measured, by the size of the effect, and passages that were looked up in the record, by the result.
function underlined(debate, turn, text, needles) {
  const pieces = [], from = new Map();
  const sentences = (turn.effects ?? []).filter((one) => one.quote).map((one) => {
    const key = `${one.judge} ${one.quote}`, at = text.indexOf(one.quote, from.get(key) ?? 0);
    from.set(key, at + 1);
    return { ...one, at, words: one.quote };
  });
  let last = 0;
  const passages = (turn.passages ?? []).map((one) => {
    const at = placeOf(one, text, last);
    last = Math.max(last, at + one.text.length);
    return { ...one, at, words: one.text };
  });
  let end = 0;
  for (const mark of [...sentences, ...passages].sort((one, other) => one.at - other.at)) {
    if (mark.at < end) continue;
    pieces.push(...highlight(text.slice(end, mark.at), needles), mark.quote ? sentenceMark(mark, needles) : passageMark(debate, mark, needles));
    end = mark.at + mark.words.length;
  }
  return [...pieces, ...highlight(text.slice(end), needles)];
}

// Returns the position of a passage in a text: at `start`, counted in characters, or else, in a field of a reply, at
// the next whole word; -1 if the text does not contain it.
function placeOf({ text: words, start }, text, from) {
  const at = [...text].slice(0, start).join("").length;
  if (text.startsWith(words, at)) return at;
  const escaped = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), whole = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "gu");
  whole.lastIndex = from;
  return whole.exec(text)?.index ?? -1;
}

function sentenceMark({ quote, effect, moved, judge }, needles) {
  const line = createElement("span", { class: moved ? "sentence moved" : "sentence", title: `Without it the verdict of ${judge} is ${less(effect)}` }, highlight(quote, needles));
  line.style.textDecorationThickness = `${1 + Math.round(5 * Math.abs(effect))}px`;
  return line;
}

// Returns a line with the numbers of quotations and figures by result. It also explains the underlining.
function recordSummary(passages) {
  const parts = ["verbatim", "altered", "not locatable"].map((result) => [result, passages.filter((one) => one.result === result).length]);
  return createElement("p", { class: "record" }, "In the record: ", parts.filter(([, number]) => number).flatMap(([result, number], place) => [
    place ? ", " : "", createElement("span", { class: `passage ${result.replace(" ", "-")}` }, `${number} ${result}`)]), ".");
}

// Returns a quotation or figure as a link to the words of the record that support it, or that it alters.
function passageMark(debate, { text, result, found_turn: turn, found_words: words }, needles) {
  const where = turn < 0 ? "" : turn ? `, turn ${turn}: “${words}”` : `, the case: “${words}”`;
  const attributes = { class: `passage ${result.replace(" ", "-")}`, title: `${capitalize(result)}${where}` };
  if (turn < 0) return createElement("span", attributes, highlight(text, needles));
  const follow = (event) => {
    event.preventDefault();
    selectWords(event.target.closest("article").querySelector(turn ? `[data-turn="${turn}"]` : ".facts"), words);
  };
  return createElement("a", { ...attributes, href: formatAddress({ ...moveToFirstColumn(debate), turn, call: false }), click: follow }, highlight(text, needles));
}

// Selects words within an element, unfolds the details that contain them, and scrolls to them.
function selectWords(container, words) {
  if (!container) return;
  for (const details of [container, ...container.querySelectorAll("details")]) if (details.tagName === "DETAILS") details.open = true;
  const nodes = [], range = document.createRange(), walker = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const start = nodes.map((node) => node.data).join("").indexOf(revealInvisible(words)), end = start + revealInvisible(words).length;
  let passed = 0;
  for (const node of nodes) {
    const inside = (at) => start >= 0 && at >= passed && at <= passed + node.length;
    if (inside(start)) range.setStart(node, start - passed);
    if (inside(end)) { range.setEnd(node, end - passed); break; }
    passed += node.length;
  }
  getSelection().removeAllRanges();
  if (start >= 0) getSelection().addRange(range);
  (start >= 0 ? range.startContainer.parentElement : container).scrollIntoView({ block: "center" });
}

const less = (effect) => `${effect >= 0 ? "less" : "more"} probable by ${points(Math.abs(effect))} points`;
const points = (share) => Math.round(100 * share);
const signed = (share) => `${points(Math.abs(share))} ${share < 0 ? "more" : "less"}`;

// Returns the effect of a turn on the verdict: a bar from the middle, its interval, and the shaded noise floor.
function effectBar({ effect, low, high, floor, moved, judge, verdict }) {
  const x = (value) => 100 + 100 * Math.max(-1, Math.min(1, value));
  const bar = (from, to, y, height, name) => createSvg("rect", { x: Math.min(x(from), x(to)), width: Math.abs(x(to) - x(from)), y, height, class: name });
  const interval = low == null ? "" : ` (95 % interval: ${signed(low)} to ${signed(high)})`;
  const words = `Without this turn the verdict “${verdict}” of ${judge} is ${less(effect)}${interval}; repeating the call alone changes it by up to ${points(floor)} points.${moved ? " The turn moved the judge." : ""}`;
  return createElement("p", { class: moved ? "effect moved" : "effect" },
    createSvg("svg", { viewBox: "0 0 200 14", width: 200, height: 14, "aria-hidden": "true" },
      bar(-floor, floor, 0, 14, "floor"), bar(0, effect, 3, 8, "size"),
      low == null ? "" : createSvg("line", { x1: x(low), x2: x(high), y1: 7, y2: 7 }), createSvg("line", { class: "zero", x1: 100, x2: 100, y1: 0, y2: 14 })),
    ` ${words}`);
}

function statement({ stated, readers }) {
  const sure = stated.confidence == null ? "" : `, stated confidence ${Math.round(stated.confidence)} %`;
  const verdict = stated.verdict ? [" ", createBadge(stated.verdict === "CORRECT" ? "right" : "wrong")] : [];
  return createElement("p", { class: "stated" }, readers ? "Belief: " : "Prediction: ", createElement("strong", {}, stated.label), sure, verdict);
}

const SIGNS = { right: "✓", wrong: "✗", answered: "•", split: "=", invalid: "∅", waiting: "…" };
const createBadge = (verdict) => createElement("span", { class: `badge ${verdict}` }, `${SIGNS[verdict]} ${verdict}`);

function footer(debate, turn, opened) {
  const to = (call) => formatAddress({ ...moveToFirstColumn(debate), turn: turn.number, call });
  const links = [createElement("a", { href: to(false), class: "anchor", "aria-label": `address of turn ${turn.number}` }, `turn ${turn.number}`)];
  if (!turn.call) links.push(createElement("span", {}, turn.origin));
  else if (opened) links.push(createElement("a", { href: to(false) }, "close the call"));
  else links.push(createElement("a", { href: to(true), class: "call-link" }, `call ${turn.origin}`));
  const node = createElement("div", { class: "foot" }, links);
  if (opened && turn.call) {
    const shown = createElement("section", { class: "call", "aria-label": "Call" }, "Opening the call ...");
    node.append(shown);
    loadCall(debate, turn.call).then((call) => shown.replaceChildren(...callParts(call, turn.call)));
  }
  return node;
}

// If the reader opens a turn in the second column, its debate moves to the first column.
const moveToFirstColumn = (debate) => (debate === state.debate ? { debate } : { debate, secondDebate: state.debate });

const FIELDS = {
  model: "model", served_model: "served as", provider: "provider", prompt_tokens: "prompt tokens",
  cached_tokens: "cached prompt tokens", completion_tokens: "generated tokens", reasoning_tokens: "reasoning tokens",
  seconds: "seconds", cost_usd: "US dollars", attempts: "attempts", finish_reason: "finish reason", replicate: "replicate",
  created_at: "created at", logprobs: "log-probabilities",
};

function callParts(call, id) {
  if (!call) return [createElement("p", {}, "There is no record of this call: it failed, or its file is missing.")];
  const facts = Object.entries(FIELDS).filter(([name]) => call.fields[name] != null)
    .flatMap(([name, words]) => [createElement("dt", {}, words), createElement("dd", {}, name === "seconds" ? call.fields[name].toFixed(1) : String(call.fields[name]))]);
  const block = (title, text) => [createElement("h4", {}, title), createElement("pre", { dir: "auto", tabindex: "0" }, text)];
  return [
    createElement("dl", {}, facts, createElement("dt", {}, "id in calls/"), createElement("dd", {}, id)),
    call.prompt.map(({ role, text }) => block(`Prompt as sent: ${role}`, text)),
    call.reasoning ? block("Reasoning as it came", call.reasoning) : [],
    block("Reply as it came", call.reply),
    createElement("details", {}, createElement("summary", {}, "The other fields of the request"), createElement("pre", { tabindex: "0" }, call.sent)),
  ].flat(3);
}
