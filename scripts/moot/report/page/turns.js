// One turn of a debate, and its call.

// Turns without words: the verdict of one of several judges, and the current answer of a member
// of a group.
const isVerdictOfSeveral = (turn) => turn.kind === "verdict" && Boolean(turn.readers);

function isAnswer(turn) {
  const hasWords = turn.text || turn.notice || turn.fields.length;
  return !hasWords && (turn.kind === "answer" || isVerdictOfSeveral(turn));
}

// Returns the items of the turns. Consecutive answers are one item with the current answers of
// all, in which changed answers are marked.
function createTurnItems(debate, turns, needles) {
  const answers = new Map();
  const items = [];
  let position = 0;
  while (position < turns.length) {
    if (!isAnswer(turns[position])) {
      items.push(createTurnItem(debate, turns[position], needles));
      position += 1;
      continue;
    }
    const group = takeAnswers(turns, position);
    items.push(createAnswersItem(debate, group, answers));
    position += group.length;
  }
  return items;
}

// Returns the consecutive answers of one kind that start at a position.
function takeAnswers(turns, start) {
  const { kind } = turns[start];
  let end = start;
  while (end < turns.length && isAnswer(turns[end]) && turns[end].kind === kind) end += 1;
  return turns.slice(start, end);
}

// Updates the current answers of all speakers by a group of turns, and lists them.
function createAnswersItem(debate, group, answers) {
  const changedSpeakers = new Set();
  for (const { speaker, stated } of group) {
    if (answers.get(speaker)?.label !== stated?.label) changedSpeakers.add(speaker);
    answers.set(speaker, stated);
  }
  const first = group[0];
  const isInGroup = state.turn >= first.number && state.turn <= group.at(-1).number;
  const isHere = state.debate === debate && isInGroup;
  const answerItems = [...answers].map(([speaker, answer]) => {
    const attributes = { class: changedSpeakers.has(speaker) ? "changed" : "" };
    return createElement("li", attributes, `${speaker}: `, createAnswer(debate, answer));
  });
  return createElement(
    "li",
    {
      class: `turn answers${isHere ? " here" : ""}`,
      "data-turn": first.number,
      tabindex: "-1",
    },
    createElement("h3", {}, first.kind === "answer" ? "Answers now" : "Answers at the end"),
    createElement("ul", {}, answerItems),
  );
}

function createAnswer(debate, answer) {
  const { target } = debate.case;
  const isGraded = answer && target;
  return createElement(
    "span",
    { class: "given" },
    answer ? answer.label : "no answer",
    isGraded ? [" ", createBadge(answer.label === target ? "right" : "wrong")] : "",
    " ",
  );
}

function createTurnItem(debate, turn, needles) {
  const isHere = state.debate === debate && state.turn === turn.number;
  const words = collectWords({ turns: [turn] }).toLowerCase();
  const isOpen = isHere || needles.some((needle) => words.includes(needle));
  const heading = [
    createElement("strong", {}, turn.speaker),
    turn.side ? ` for ${turn.side}` : "",
    `, ${turn.kind}`,
    turn.round ? `, round ${turn.round}` : "",
  ];
  const body = createElement("div", { class: "said" }, createTurnParts(debate, turn, needles));
  const item = createElement("li", {
    class: isHere ? "turn here" : "turn",
    "data-turn": turn.number,
    tabindex: "-1",
  });
  if (turn.readers) {
    const notice = `private: only ${turn.readers} may read it`;
    const secret = createElement("span", { class: "secret" }, notice);
    const summary = createElement("summary", {}, heading, secret);
    item.append(createElement("details", { class: "private", open: isOpen }, summary, body));
  } else {
    item.append(createElement("h3", {}, heading), body);
  }
  item.append(createFooter(debate, turn, isHere && state.call));
  return item;
}

// Returns the parts of a turn: its notice, text, fields, record summary, prediction, effects and
// label.
function createTurnParts(debate, turn, needles) {
  const createText = (text) => {
    const pieces = underlinePassages(debate, turn, text, needles);
    return createElement("p", { class: "text", dir: "auto" }, pieces);
  };
  const parts = [];
  if (turn.notice) {
    const notice = `${turn.notice}${turn.text ? ":" : "."}`;
    parts.push(createElement("p", { class: "notice" }, notice));
  }
  const isEmpty = !(turn.text || turn.notice || turn.fields.length);
  if (turn.text || isEmpty) parts.push(createText(turn.text));
  for (const [name, value] of turn.fields) {
    parts.push(createElement("p", { class: "field" }, name));
    if (Array.isArray(value)) {
      const entries = value.map((entry) => {
        const pieces = underlinePassages(debate, turn, entry, needles);
        return createElement("li", { dir: "auto" }, pieces);
      });
      parts.push(createElement("ul", {}, entries));
    } else {
      parts.push(createText(value));
    }
  }
  if (turn.cut) {
    const notice = "The limit of tokens cut this reply off.";
    parts.push(createElement("p", { class: "notice" }, notice));
  }
  if (turn.passages) parts.push(createRecordSummary(turn.passages));
  if (turn.stated) parts.push(createPrediction(turn));
  for (const effect of turn.effects ?? []) parts.push(createEffectBar(effect));
  if (turn.label) {
    const label = createElement("strong", {}, turn.label.label);
    const labeler = ` by ${turn.label.labeler}`;
    parts.push(createElement("p", { class: "stated" }, "Labelled ", label, labeler));
  }
  return parts;
}

// Returns the pieces of a text in which the passages that `record_check` looked up in the record
// are underlined, by the result.
function underlinePassages(debate, turn, text, needles) {
  const marks = locatePassages(turn.passages ?? [], text);
  marks.sort((first, second) => first.start - second.start);
  const pieces = [];
  let end = 0;
  for (const { start, words, passage } of marks) {
    if (start < end) continue;
    pieces.push(...highlight(text.slice(end, start), needles));
    pieces.push(createPassageMark(debate, passage, needles));
    end = start + words.length;
  }
  return [...pieces, ...highlight(text.slice(end), needles)];
}

// Returns the passages that were looked up in the record, with their positions in a text.
function locatePassages(passages, text) {
  let searchStart = 0;
  return passages.map((passage) => {
    const start = locatePassage(passage, text, searchStart);
    searchStart = Math.max(searchStart, start + passage.text.length);
    return { start, words: passage.text, passage };
  });
}

// Returns the position of a passage in a text: at its start, counted in characters, or else, in a
// field of a reply, at the next whole word; -1 if the text does not contain it.
function locatePassage(passage, text, searchStart) {
  const position = [...text].slice(0, passage.start).join("").length;
  if (text.startsWith(passage.text, position)) return position;
  const escapedWords = passage.text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escapedWords}(?![\\p{L}\\p{N}])`, "gu");
  pattern.lastIndex = searchStart;
  return pattern.exec(text)?.index ?? -1;
}

const formatPassageClass = (result) => `passage ${result.replace(" ", "-")}`;

// Returns a line with the numbers of quotations and figures by result. It also explains the
// underlining.
function createRecordSummary(passages) {
  const parts = [];
  for (const result of ["verbatim", "altered", "not locatable"]) {
    const count = passages.filter((passage) => passage.result === result).length;
    if (!count) continue;
    if (parts.length) parts.push(", ");
    const attributes = { class: formatPassageClass(result) };
    parts.push(createElement("span", attributes, `${count} ${result}`));
  }
  return createElement("p", { class: "record" }, "In the record: ", parts, ".");
}

// Returns a quotation or figure as a link to the words of the record that support it, or that it
// alters. The turn is 0 for the text of the case, and negative if the record has no such words.
function createPassageMark(debate, passage, needles) {
  const { text, result, found_turn: turn, found_words: words } = passage;
  const source = turn ? `turn ${turn}` : "the case";
  const reference = turn < 0 ? "" : `, ${source}: “${words}”`;
  const attributes = {
    class: formatPassageClass(result),
    title: `${capitalize(result)}${reference}`,
  };
  if (turn < 0) return createElement("span", attributes, highlight(text, needles));
  const selectSource = (event) => {
    event.preventDefault();
    const article = event.target.closest("article");
    selectWords(article.querySelector(turn ? `[data-turn="${turn}"]` : ".facts"), words);
  };
  return createElement(
    "a",
    {
      ...attributes,
      href: formatAddress({ ...moveToFirstColumn(debate), turn, call: false }),
      click: selectSource,
    },
    highlight(text, needles),
  );
}

// Selects words within an element, unfolds the details that contain them, and scrolls to them.
function selectWords(container, words) {
  if (!container) return;
  for (const node of [container, ...container.querySelectorAll("details")]) {
    if (node.tagName === "DETAILS") node.open = true;
  }
  const range = findWords(container, revealInvisible(words));
  getSelection().removeAllRanges();
  if (range) getSelection().addRange(range);
  (range ? range.startContainer.parentElement : container).scrollIntoView({ block: "center" });
}

// Returns the range of the first occurrence of words in the text nodes of an element, or null.
function findWords(container, words) {
  const walker = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const start = nodes.map((node) => node.data).join("").indexOf(words);
  if (start < 0) return null;
  const end = start + words.length;
  const range = document.createRange();
  let offset = 0;
  for (const node of nodes) {
    const isInNode = (position) => position >= offset && position <= offset + node.length;
    if (isInNode(start)) range.setStart(node, start - offset);
    if (isInNode(end)) {
      range.setEnd(node, end - offset);
      break;
    }
    offset += node.length;
  }
  return range;
}

const toPoints = (share) => Math.round(100 * share);

function describeEffect(effect) {
  const direction = effect >= 0 ? "less" : "more";
  return `${direction} probable by ${toPoints(Math.abs(effect))} points`;
}

function formatDifference(share) {
  return `${toPoints(Math.abs(share))} ${share < 0 ? "more" : "less"}`;
}

// Returns the effect of a turn on the verdict: a bar from the middle, its interval, and the shaded
// noise floor.
function createEffectBar({ effect, low, high, floor, moved: hasMovedJudge, judge, verdict }) {
  const toX = (value) => 100 + 100 * Math.max(-1, Math.min(1, value));
  const createBar = (from, to, y, height, name) =>
    createSvg("rect", {
      x: Math.min(toX(from), toX(to)),
      width: Math.abs(toX(to) - toX(from)),
      y,
      height,
      class: name,
    });
  const hasInterval = low != null;
  const interval = hasInterval
    ? ` (95 % interval: ${formatDifference(low)} to ${formatDifference(high)})`
    : "";
  const words = [
    `Without this turn the verdict “${verdict}” of ${judge} is ${describeEffect(effect)}`,
    `${interval}; repeating the call alone changes it by up to ${toPoints(floor)} points.`,
    hasMovedJudge ? " The turn moved the judge." : "",
  ].join("");
  return createElement(
    "p",
    { class: hasMovedJudge ? "effect moved" : "effect" },
    createSvg(
      "svg",
      { viewBox: "0 0 200 14", width: 200, height: 14, "aria-hidden": "true" },
      createBar(-floor, floor, 0, 14, "floor"),
      createBar(0, effect, 3, 8, "size"),
      hasInterval ? createSvg("line", { x1: toX(low), x2: toX(high), y1: 7, y2: 7 }) : "",
      createSvg("line", { class: "zero", x1: 100, x2: 100, y1: 0, y2: 14 }),
    ),
    ` ${words}`,
  );
}

function createPrediction({ stated: prediction, readers }) {
  const { label, confidence, verdict } = prediction;
  const certainty =
    confidence == null ? "" : `, stated confidence ${Math.round(confidence)} %`;
  const badge = verdict ? [" ", createBadge(verdict === "CORRECT" ? "right" : "wrong")] : [];
  return createElement(
    "p",
    { class: "stated" },
    readers ? "Belief: " : "Prediction: ",
    createElement("strong", {}, label),
    certainty,
    badge,
  );
}

const SIGNS = {
  right: "✓",
  wrong: "✗",
  answered: "•",
  split: "=",
  invalid: "∅",
  waiting: "…",
};

function createBadge(verdict) {
  return createElement("span", { class: `badge ${verdict}` }, `${SIGNS[verdict]} ${verdict}`);
}

function createFooter(debate, turn, isCallOpen) {
  const formatLink = (call) =>
    formatAddress({ ...moveToFirstColumn(debate), turn: turn.number, call });
  const anchor = {
    href: formatLink(false),
    class: "anchor",
    "aria-label": `address of turn ${turn.number}`,
  };
  const links = [createElement("a", anchor, `turn ${turn.number}`)];
  if (!turn.call) {
    links.push(createElement("span", {}, turn.origin));
  } else if (isCallOpen) {
    links.push(createElement("a", { href: formatLink(false) }, "close the call"));
  } else {
    const attributes = { href: formatLink(true), class: "call-link" };
    links.push(createElement("a", attributes, `call ${turn.origin}`));
  }
  const footer = createElement("div", { class: "foot" }, links);
  if (isCallOpen && turn.call) footer.append(createCallSection(debate, turn));
  return footer;
}

// Returns a section that shows the call of a turn when its chunk is unpacked.
function createCallSection(debate, turn) {
  const attributes = { class: "call", "aria-label": "Call" };
  const section = createElement("section", attributes, "Opening the call ...");
  loadCall(debate, turn.call).then((call) => {
    section.replaceChildren(...createCallParts(call, turn.call));
  });
  return section;
}

// If the reader opens a turn in the second column, its debate moves to the first column.
function moveToFirstColumn(debate) {
  return debate === state.debate ? { debate } : { debate, secondDebate: state.debate };
}

const FIELDS = {
  model: "model",
  served_model: "served as",
  provider: "provider",
  prompt_tokens: "prompt tokens",
  cached_tokens: "cached prompt tokens",
  completion_tokens: "generated tokens",
  reasoning_tokens: "reasoning tokens",
  seconds: "seconds",
  cost_usd: "US dollars",
  attempts: "attempts",
  finish_reason: "finish reason",
  replicate: "replicate",
  created_at: "created at",
  logprobs: "log-probabilities",
};

function createCallParts(call, id) {
  if (!call) {
    const notice = "There is no record of this call: it failed, or its file is missing.";
    return [createElement("p", {}, notice)];
  }
  const createBlock = (title, text) => [
    createElement("h4", {}, title),
    createElement("pre", { dir: "auto", tabindex: "0" }, text),
  ];
  const blocks = call.prompt.map(({ role, text }) =>
    createBlock(`Prompt as sent: ${role}`, text));
  if (call.reasoning) blocks.push(createBlock("Reasoning as it came", call.reasoning));
  blocks.push(createBlock("Reply as it came", call.reply));
  return [
    createCallFields(call, id),
    ...blocks.flat(),
    createElement(
      "details",
      {},
      createElement("summary", {}, "The other fields of the request"),
      createElement("pre", { tabindex: "0" }, call.sent),
    ),
  ];
}

function createCallFields(call, id) {
  const entries = [];
  for (const [name, words] of Object.entries(FIELDS)) {
    const value = call.fields[name];
    if (value == null) continue;
    const text = name === "seconds" ? value.toFixed(1) : String(value);
    entries.push(createElement("dt", {}, words), createElement("dd", {}, text));
  }
  entries.push(createElement("dt", {}, "id in calls/"), createElement("dd", {}, id));
  return createElement("dl", {}, entries);
}
