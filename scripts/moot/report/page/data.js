// The data of the page: the index, and chunks that are unpacked when they are needed.

const MOST_UNPACKED = 60;
const unpacked = new Map();

async function unpackChunk(id) {
  const packed = index?.parts ? await loaded(id) : (await packedElement(id)).textContent;
  const letters = atob(packed), bytes = new Uint8Array(letters.length);
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// The code runs before the browser has read the whole page, so it may have to wait for a chunk.
async function packedElement(id) {
  for (;;) {
    const found = document.getElementById(id);
    if (found && (document.readyState !== "loading" || found.nextElementSibling)) return found;
    if (document.readyState !== "loading") throw new Error(`the page has no part ${id}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// If there are many debates, a chunk is a script in the folder of parts, which a page on the disk may load.
globalThis.arrived = new Map();
function loaded(id) {
  return new Promise((resolve, reject) => {
    const address = `${encodeURIComponent(index.parts)}/${id}.js`;
    const script = createElement("script", { src: address,
      load: () => { resolve(arrived.get(id)); arrived.delete(id); script.remove(); },
      error: () => { unpacked.delete(id); reject(new Error(`${address} is missing: copy this folder together with the page`)); } });
    document.head.append(script);
  });
}

// Returns the values of a chunk, and keeps the most recently used chunks.
function loadChunk(id) {
  const values = unpacked.get(id) ?? unpackChunk(id);
  unpacked.delete(id);
  unpacked.set(id, values);
  if (unpacked.size > MOST_UNPACKED) unpacked.delete(unpacked.keys().next().value);
  return values;
}

let index = null;
index = await unpackChunk("index");
const { experiments, datasets, cases, debates: columns } = index;
const locateChunk = (kind, number) => {
  const starts = index.chunks[kind];
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= number) low = middle; else high = middle - 1;
  }
  return { number: low, place: number - starts[low] };
};

// All debates, from the index, each with its experiment and case.
const CHANGED = 1, TO_WRONG = 2, TO_RIGHT = 4, DISAGREE = 8, ON_ONE_TURN = 16;
const debates = columns.case.map((caseNumber, number) => {
  const experiment = experiments[columns.experiment[number]], found = cases[caseNumber];
  const answer = columns.answer[number], status = columns.status[number], change = columns.change[number];
  const without = { waiting: "waiting", "no majority": "split" }[status] ?? "invalid";
  const verdict = answer ? (!found.target ? "answered" : answer === found.target ? "right" : "wrong") : without;
  return {
    number, experiment, case: found, answer, status, verdict, change, caseNumber,
    model: columns.model[number], repeat: columns.repeat[number],
    probability: columns.probability[number], swing: columns.swing[number],
  };
});

// Marks debates whose answers differ between models of an experiment, or between experiments with a model.
function disagreements(group, differing) {
  const answers = new Map();
  for (const debate of debates) {
    if (!debate.answer) continue;
    const key = JSON.stringify([...group(debate), debate.caseNumber, debate.repeat]);
    if (!answers.has(key)) answers.set(key, { debates: [], given: new Set() });
    answers.get(key).debates.push(debate);
    answers.get(key).given.add(debate.answer);
  }
  for (const { debates: same, given } of answers.values()) {
    if (given.size > 1) for (const debate of same) debate[differing] = true;
  }
}
disagreements((debate) => [debate.experiment.name], "modelsDisagree");
disagreements((debate) => [debate.model], "experimentsDisagree");

// The debates by case, and by the names in an address.
const debatesByCase = new Map(), debatesByNames = new Map();
const listNames = (debate) => [debate.experiment.name, debate.model, debate.case.id, String(debate.repeat)];
for (const debate of debates) {
  if (!debatesByCase.has(debate.caseNumber)) debatesByCase.set(debate.caseNumber, []);
  debatesByCase.get(debate.caseNumber).push(debate);
  debatesByNames.set(JSON.stringify(listNames(debate)), debate);
}

async function loadContent(debate) {
  const { number, place } = locateChunk("debates", debate.number);
  return (await loadChunk(`debates-${number}`))[place];
}
async function loadFacts(debate) {
  const { number, place } = locateChunk("cases", debate.caseNumber);
  return (await loadChunk(`cases-${number}`))[place];
}
async function loadCall(debate, id) {
  const [{ lines, calls }] = await loadChunk(`calls-${locateChunk("debates", debate.number).number}`);
  const call = calls[id], text = (numbers) => numbers.map((line) => lines[line]).join("\n");
  return call && {
    prompt: call.prompt.map(([role, content]) => ({ role, text: text(content) })),
    sent: text(call.sent), reply: text(call.reply), reasoning: text(call.reasoning), fields: call.fields,
  };
}

// The needles of a search: words, or phrases in quotation marks. A debate or its case must contain all.
const parseNeedles = (query) =>
  [...query.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)].map((found) => found[1] ?? found[2]);

const collectWords = (content) => content.turns.flatMap((turn) =>
  [turn.speaker, turn.text, turn.notice, ...turn.fields.flatMap(([name, value]) => [name, ...[value].flat()]),
    turn.stated?.label ?? "", turn.label?.label ?? ""]).join("\n");

// Searches all debates, chunk by chunk, so that the page stays responsive. Returns a map from the number of
// a debate to the words around the first hit.
async function searchDebates(query, prompts, cancelled, progress) {
  const needles = parseNeedles(query), hits = new Map(), starts = index.chunks.debates;
  const holding = index.indexed && !prompts ? chunksHolding(needles, await loadChunk("words")) : () => true;
  for (const at of starts.keys()) {
    if (!holding(at)) continue;
    const asked = prompts ? await promptsHolding(`calls-${at}`, needles) : null;
    for (const [place, content] of (await loadChunk(`debates-${at}`)).entries()) {
      const debate = debates[starts[at] + place], words = collectWords(content), facts = await loadFacts(debate);
      const [inWords, inFacts] = [words.toLowerCase(), facts.toLowerCase()].map((text) => needles.map((needle) => text.indexOf(needle)));
      const held = (which) => inWords[which] >= 0 || inFacts[which] >= 0
        || (asked && content.turns.some((turn) => asked[which].has(turn.call)));
      if (!needles.every((_, which) => held(which))) continue;
      const [text, first] = inWords[0] >= 0 ? [words, inWords[0]] : [facts, Math.max(0, inFacts[0])];
      hits.set(debate.number, `${first > 30 ? "… " : ""}${text.slice(Math.max(0, first - 30), first + 90)}`);
    }
    if (cancelled()) return null;
    progress((at + 1) / starts.length);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return hits;
}

// Returns a function that tells whether a chunk may contain all needles: each word of a needle is part of a
// word of the chunk. An empty list of chunks means that more than half of them contain the word.
function chunksHolding(needles, words) {
  const pieces = needles.flatMap((needle) => needle.match(/[\p{L}\p{N}_]+/gu) ?? []), all = Object.entries(words);
  const sets = pieces.map((piece) => {
    const found = all.filter(([word]) => word.includes(piece)).map(([, held]) => held);
    return found.some((held) => !held.length) ? null : new Set(found.flat());
  }).filter(Boolean);
  return (at) => sets.every((set) => set.has(at));
}

// Returns, for each needle, the calls of a chunk whose prompt or reply contains it.
async function promptsHolding(id, needles) {
  const [{ lines, calls }] = await loadChunk(id);
  const lower = lines.map((line) => line.toLowerCase());
  return needles.map((needle) => {
    const holding = lower.map((line) => line.includes(needle));
    const holds = (call) => [...call.prompt.map(([, text]) => text), call.reply, call.reasoning].flat().some((line) => holding[line]);
    return new Set(Object.entries(calls).filter(([, call]) => holds(call)).map(([name]) => name));
  });
}
