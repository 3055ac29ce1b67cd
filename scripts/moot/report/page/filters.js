// The state of the page, which the address contains: #experiment/model/case/repeat/turn?filters. The short
// forms #case, #case/repeat and #case/repeat/turn mean the first debate of a case.

const VERDICTS = ["right", "wrong", "answered", "split", "invalid", "waiting"];
const MARKS = {
  changed: { words: "judge changed its mind", isSetFor: (debate) => debate.change & CHANGED },
  towrong: { words: "changed to wrong", isSetFor: (debate) => debate.change & TO_WRONG },
  toright: { words: "changed to right", isSetFor: (debate) => debate.change & TO_RIGHT },
  judges: { words: "judges disagree", isSetFor: (debate) => debate.change & DISAGREE },
  onone: { words: "verdict rests on one turn", isSetFor: (debate) => debate.change & ON_ONE_TURN },
  models: { words: "models disagree", isSetFor: (debate) => debate.modelsDisagree },
  experiments: { words: "experiments disagree", isSetFor: (debate) => debate.experimentsDisagree },
};
const ORDERS = {
  "": { words: "in the order of the run", key: null },
  mistakes: { words: "most confident mistakes first", key: (debate) => (debate.verdict === "wrong" ? 2 : 0) + (debate.probability ?? 0) },
  swing: { words: "largest change of belief first", key: (debate) => debate.swing },
};
const SELECTS = {
  experiment: (debate) => debate.experiment.name,
  model: (debate) => debate.model,
  label: (debate) => debate.case.target,
  answer: (debate) => debate.answer,
};
const MOST_VALUES = 60;

let state = readAddress();

function readAddress() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  const decode = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
  const parts = path.split("/").filter(Boolean).map(decode), params = new URLSearchParams(query);
  const { debate, turn } = findDebate(parts);
  const withParts = (params.get("with") ?? "").split("/").filter(Boolean).map(decode);
  return {
    debate, turn, unknown: parts.length > 0 && !debate ? parts.join("/") : "",
    secondDebate: withParts.length ? findDebate(withParts).debate : null, call: params.has("call"),
    toggles: new Set((params.get("show") ?? "").split(",").filter((name) => VERDICTS.includes(name) || name in MARKS)),
    ...Object.fromEntries(["experiment", "model", "label", "answer", "attribute", "q"].map((name) => [name, params.get(name) ?? ""])),
    order: params.get("order") in ORDERS ? params.get("order") : "", prompts: params.has("prompts"),
  };
}

function findDebate(parts) {
  if (parts.length >= 4) {
    return { debate: debatesByNames.get(JSON.stringify(parts.slice(0, 4))), turn: Number(parts[4] ?? 0) };
  }
  const [id, repeat = "", turn = 0] = parts;
  const found = debates.find((debate) => debate.case.id === id && (repeat === "" || String(debate.repeat) === repeat));
  return { debate: found, turn: Number(turn) };
}

// Returns the address of the current state with some changes.
function formatAddress(changes = {}) {
  const next = { ...state, ...changes }, params = new URLSearchParams();
  const path = (debate) => listNames(debate).map(encodeURIComponent).join("/");
  if (next.toggles.size) params.set("show", [...next.toggles].join(","));
  for (const name of ["experiment", "model", "label", "answer", "attribute", "q", "order"]) if (next[name]) params.set(name, next[name]);
  if (next.prompts && next.q) params.set("prompts", "");
  if (next.debate && next.secondDebate) params.set("with", path(next.secondDebate));
  if (next.debate && next.turn && next.call) params.set("call", "");
  const query = params.toString().replaceAll("=&", "&").replace(/=$/, "");
  return `#${next.debate ? path(next.debate) + (next.turn ? `/${next.turn}` : "") : ""}${query ? `?${query}` : ""}`;
}

// Filters replace the address; another debate adds an entry to the browser's history.
const refine = (changes) => location.replace(formatAddress(changes));
const goTo = (changes) => { location.hash = formatAddress(changes); };

let hits = null;
const attributeOf = (text) => { const at = text.indexOf("="); return [text.slice(0, at), text.slice(at + 1)]; };

function passesFilters(debate, leftOut = "") {
  if (hits && !hits.has(debate.number)) return false;
  for (const [name, value] of Object.entries(SELECTS)) if (name !== leftOut && state[name] && value(debate) !== state[name]) return false;
  if (state.attribute && leftOut !== "attribute") {
    const [name, value] = attributeOf(state.attribute);
    if (debate.case.attributes[name] !== value) return false;
  }
  const verdicts = VERDICTS.filter((name) => state.toggles.has(name));
  if (leftOut !== "verdicts" && verdicts.length && !verdicts.includes(debate.verdict)) return false;
  return Object.entries(MARKS).every(([name, mark]) => !state.toggles.has(name) || mark.isSetFor(debate));
}

function filterDebates() {
  const found = debates.filter((debate) => passesFilters(debate)), { key } = ORDERS[state.order];
  if (!key) return found;
  const keys = new Map(found.map((debate) => [debate, key(debate)]));
  return found.sort((one, other) => keys.get(other) - keys.get(one) || one.number - other.number);
}

// The form

function showFilters() {
  const form = document.getElementById("filters"), focused = document.activeElement?.id;
  if (document.activeElement?.name === "q" && form.contains(document.activeElement)) {
    document.getElementById("toggles").replaceWith(toggles());
    return;
  }
  const box = createElement("input", { type: "search", name: "q", id: "f-q", value: state.q, placeholder: "Search all text", "aria-label": "Search all text", autocomplete: "off", input: typed });
  const prompts = createElement("input", { type: "checkbox", id: "f-prompts", checked: state.prompts, change: (event) => refine({ prompts: event.target.checked }) });
  form.replaceChildren(
    createElement("div", { class: "search" }, box, createElement("label", {}, prompts, "prompts and raw replies too")),
    toggles(),
    createElement("div", { class: "selects" },
      select("experiment", "Experiment", "all experiments", values(SELECTS.experiment)),
      select("model", "Model", "all models", values(SELECTS.model)),
      select("label", "Actual", "any actual label", values(SELECTS.label)),
      select("answer", "Answer", "any answer", values(SELECTS.answer).filter(([value]) => value)),
      attributes.length ? select("attribute", "Attribute", "any attribute", attributes) : "",
      select("order", "Order", null, Object.entries(ORDERS).map(([name, { words }]) => [name, words]))),
    formatAddress({ debate: null }) === "#" ? "" : createElement("a", { href: "#", class: "clear" }, "Clear search and filters"));
  if (focused) document.getElementById(focused)?.focus();
}

const values = (value) => [...new Set(debates.map(value))].sort().map((name) => [name, name]);

function select(name, words, every, options) {
  const all = every === null ? options : [["", every], ...options];
  const chosenFirst = state[name] && !all.some(([value]) => value === state[name]) ? [[state[name], state[name]], ...all] : all;
  return createElement("label", {}, createElement("span", {}, words),
    createElement("select", { id: `f-${name}`, change: (event) => refine({ [name]: event.target.value }) },
      chosenFirst.map(([value, text]) => createElement("option", { value, selected: state[name] === value }, text))));
}

function toggles() {
  const names = [...VERDICTS.filter((name) => debates.some((debate) => debate.verdict === name)),
    ...Object.keys(MARKS).filter((name) => debates.some(MARKS[name].isSetFor))];
  const without = debates.filter((debate) => passesFilters(debate, "verdicts")), shown = debates.filter((debate) => passesFilters(debate));
  const count = (name) => (VERDICTS.includes(name) ? without.filter((debate) => debate.verdict === name) : shown.filter(MARKS[name].isSetFor)).length;
  return createElement("div", { class: "toggles", id: "toggles", role: "group", "aria-label": "Show only" }, names.map((name) =>
    createElement("button", { type: "button", id: `f-show-${name}`, "aria-pressed": String(state.toggles.has(name)), class: name, click: () => toggle(name) },
      MARKS[name]?.words ?? name, createElement("span", { class: "number" }, ` ${count(name)}`))));
}

function toggle(name) {
  const show = new Set(state.toggles);
  if (!show.delete(name)) show.add(name);
  refine({ toggles: show });
}

let typing = 0;
function typed(event) {
  const q = event.target.value.trim();
  clearTimeout(typing);
  typing = setTimeout(() => refine({ q }), 250);
}

// The attributes with few values, as name=value.
const attributes = (() => {
  const found = new Map();
  for (const { attributes: own } of cases) {
    for (const [name, value] of Object.entries(own)) {
      if (!found.has(name)) found.set(name, new Set());
      found.get(name).add(value);
    }
  }
  return [...found].filter(([, given]) => given.size > 1 && given.size <= MOST_VALUES)
    .flatMap(([name, given]) => [...given].sort().map((value) => [`${name}=${value}`, `${name}: ${value}`]));
})();
