// The data of the page: the index, and chunks that are unpacked when they are needed.

const MAX_UNPACKED_CHUNKS = 60;
const unpackedChunks = new Map();

async function unpackChunk(id) {
  const hasParts = Boolean(index?.parts);
  const packedText = hasParts ? await loadScript(id) : (await findPackedElement(id)).textContent;
  const characters = atob(packedText);
  const bytes = new Uint8Array(characters.length);
  for (let position = 0; position < characters.length; position++) {
    bytes[position] = characters.charCodeAt(position);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// The code runs before the browser has read the whole page, so it may have to wait for a chunk.
async function findPackedElement(id) {
  for (;;) {
    const isLoading = document.readyState === "loading";
    const node = document.getElementById(id);
    if (node && (!isLoading || node.nextElementSibling)) return node;
    if (!isLoading) throw new Error(`the page has no part ${id}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// If there are many debates, a chunk is a script in the folder of parts, which a page on the disk
// may load. The script puts its packed text into this map.
globalThis.arrived = new Map();

function loadScript(id) {
  return new Promise((resolve, reject) => {
    const source = `${encodeURIComponent(index.parts)}/${id}.js`;
    const resolveChunk = () => {
      resolve(arrived.get(id));
      arrived.delete(id);
      script.remove();
    };
    const rejectChunk = () => {
      unpackedChunks.delete(id);
      reject(new Error(`${source} is missing: copy this folder together with the page`));
    };
    const script = createElement("script", {
      src: source,
      load: resolveChunk,
      error: rejectChunk,
    });
    document.head.append(script);
  });
}

// Returns the values of a chunk, and keeps the most recently used chunks.
function loadChunk(id) {
  const values = unpackedChunks.get(id) ?? unpackChunk(id);
  unpackedChunks.delete(id);
  unpackedChunks.set(id, values);
  if (unpackedChunks.size > MAX_UNPACKED_CHUNKS) {
    const [oldestId] = unpackedChunks.keys();
    unpackedChunks.delete(oldestId);
  }
  return values;
}

let index = null;
index = await unpackChunk("index");
const { experiments, datasets, cases, debates: columns } = index;

// Returns the number of the chunk that contains an item, and the item's position in the chunk.
function locateChunk(kind, itemNumber) {
  const starts = index.chunks[kind];
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= itemNumber) low = middle;
    else high = middle - 1;
  }
  return { number: low, position: itemNumber - starts[low] };
}

// Flags of a debate's change of opinions.
const CHANGED = 1;
const TO_WRONG = 2;
const TO_RIGHT = 4;
const DISAGREE = 8;

// All debates, from the index, each with its experiment and case.
const debates = columns.case.map((caseNumber, number) => {
  const debateCase = cases[caseNumber];
  const answer = columns.answer[number];
  const status = columns.status[number];
  return {
    number,
    experiment: experiments[columns.experiment[number]],
    case: debateCase,
    caseNumber,
    answer,
    status,
    verdict: gradeAnswer(answer, status, debateCase.target),
    change: columns.change[number],
    model: columns.model[number],
    repeat: columns.repeat[number],
    probability: columns.probability[number],
    swing: columns.swing[number],
  };
});

function gradeAnswer(answer, status, target) {
  if (!answer) {
    if (status === "waiting") return "waiting";
    return status === "no majority" ? "split" : "invalid";
  }
  if (!target) return "answered";
  return answer === target ? "right" : "wrong";
}

// Returns a map from each key to its items, in their order.
function groupBy(items, getKey) {
  const groups = new Map();
  for (const item of items) {
    const key = getKey(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

// Marks debates whose answers differ within a group. The debates of a group have the same key,
// case and repeat.
function markDisagreements(getGroupKey, flagName) {
  const answeredDebates = debates.filter((debate) => debate.answer);
  const groups = groupBy(answeredDebates, (debate) =>
    JSON.stringify([getGroupKey(debate), debate.caseNumber, debate.repeat]));
  for (const group of groups.values()) {
    const answers = new Set(group.map((debate) => debate.answer));
    if (answers.size <= 1) continue;
    for (const debate of group) debate[flagName] = true;
  }
}
markDisagreements((debate) => debate.experiment.name, "modelsDisagree");
markDisagreements((debate) => debate.model, "experimentsDisagree");

// The debates by case, and by the names in an address.
const debatesByCase = groupBy(debates, (debate) => debate.caseNumber);
const debatesByNames = new Map(
  debates.map((debate) => [JSON.stringify(listNames(debate)), debate]),
);

function listNames(debate) {
  return [debate.experiment.name, debate.model, debate.case.id, String(debate.repeat)];
}

async function loadContent(debate) {
  const { number, position } = locateChunk("debates", debate.number);
  return (await loadChunk(`debates-${number}`))[position];
}

async function loadFacts(debate) {
  const { number, position } = locateChunk("cases", debate.caseNumber);
  return (await loadChunk(`cases-${number}`))[position];
}

// Returns a call by its id, or undefined if there is no record of it. A chunk has each line of
// its calls once, and a call has the numbers of its lines.
async function loadCall(debate, id) {
  const { number } = locateChunk("debates", debate.number);
  const [{ lines, calls }] = await loadChunk(`calls-${number}`);
  const call = calls[id];
  if (!call) return undefined;
  const joinLines = (lineNumbers) =>
    lineNumbers.map((lineNumber) => lines[lineNumber]).join("\n");
  return {
    prompt: call.prompt.map(([role, content]) => ({ role, text: joinLines(content) })),
    sent: joinLines(call.sent),
    reply: joinLines(call.reply),
    reasoning: joinLines(call.reasoning),
    fields: call.fields,
  };
}

// Returns the needles of a search: words, or phrases in quotation marks. A debate or its case must
// contain all.
function parseNeedles(query) {
  const matches = query.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g);
  return [...matches].map(([, phrase, word]) => phrase ?? word);
}

// Returns the text of a debate that a search looks through.
function collectWords(content) {
  const words = [];
  for (const turn of content.turns) {
    words.push(turn.speaker, turn.text, turn.notice);
    for (const [name, value] of turn.fields) words.push(name, ...[value].flat());
    words.push(turn.stated?.label ?? "", turn.label?.label ?? "");
  }
  return words.join("\n");
}

// Searches all debates, chunk by chunk, so that the page stays responsive. Returns a map from the
// number of a debate to the words around the first hit, or null if the search was cancelled.
async function searchDebates(query, hasPrompts, isCancelled, reportProgress) {
  const needles = parseNeedles(query);
  const matches = new Map();
  const starts = index.chunks.debates;
  const chunks = await findChunksWithNeedles(needles, hasPrompts);
  for (const number of chunks) {
    const calls = hasPrompts ? await findCallsWithNeedles(`calls-${number}`, needles) : null;
    const contents = await loadChunk(`debates-${number}`);
    for (const [position, content] of contents.entries()) {
      const debate = debates[starts[number] + position];
      const excerpt = findExcerpt(content, await loadFacts(debate), needles, calls);
      if (excerpt !== null) matches.set(debate.number, excerpt);
    }
    if (isCancelled()) return null;
    reportProgress((number + 1) / starts.length);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return matches;
}

// Returns the words around the first needle, or null if neither the debate nor its case nor its
// calls contain all needles. Without needles there are no such words.
function findExcerpt(content, facts, needles, calls) {
  if (!needles.length) return "";
  const words = collectWords(content);
  const lowerWords = words.toLowerCase();
  const lowerFacts = facts.toLowerCase();
  const hasNeedle = (needle, position) =>
    lowerWords.includes(needle)
    || lowerFacts.includes(needle)
    || (calls && content.turns.some((turn) => calls[position].has(turn.call)));
  if (!needles.every(hasNeedle)) return null;
  const isInWords = lowerWords.includes(needles[0]);
  const text = isInWords ? words : facts;
  const start = Math.max(0, (isInWords ? lowerWords : lowerFacts).indexOf(needles[0]));
  return `${start > 30 ? "… " : ""}${text.slice(Math.max(0, start - 30), start + 90)}`;
}

// Returns the numbers of the chunks that may contain all needles. Each word of a needle is part of
// a word of the chunk. An empty list of chunks in the index of words means that more than half of
// them contain the word.
async function findChunksWithNeedles(needles, hasPrompts) {
  let numbers = [...index.chunks.debates.keys()];
  if (!index.indexed || hasPrompts) return numbers;
  const entries = Object.entries(await loadChunk("words"));
  const parts = needles.flatMap((needle) => needle.match(/[\p{L}\p{N}_]+/gu) ?? []);
  for (const part of parts) {
    const matches = entries.filter(([word]) => word.includes(part));
    const chunkLists = matches.map(([, chunkNumbers]) => chunkNumbers);
    if (chunkLists.some((chunkNumbers) => !chunkNumbers.length)) continue;
    const candidates = new Set(chunkLists.flat());
    numbers = numbers.filter((number) => candidates.has(number));
  }
  return numbers;
}

// Returns, for each needle, the calls of a chunk whose prompt or reply contains it.
async function findCallsWithNeedles(id, needles) {
  const [{ lines, calls }] = await loadChunk(id);
  const lowerLines = lines.map((line) => line.toLowerCase());
  return needles.map((needle) => {
    const hasNeedle = lowerLines.map((line) => line.includes(needle));
    const names = new Set();
    for (const [name, call] of Object.entries(calls)) {
      const contents = call.prompt.map(([, content]) => content);
      const lineNumbers = [...contents, call.reply, call.reasoning].flat();
      if (lineNumbers.some((lineNumber) => hasNeedle[lineNumber])) names.add(name);
    }
    return names;
  });
}
