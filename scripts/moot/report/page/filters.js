// The state of the page, which the address contains: #experiment/model/case/repeat/turn?filters.
// The short forms #case, #case/repeat and #case/repeat/turn mean the first debate of a case.

const VERDICTS = ["right", "wrong", "answered", "split", "invalid", "waiting"];
const hasFlag = (flag) => (debate) => Boolean(debate.change & flag);
const MARKS = {
  changed: { words: "judge changed its mind", isSetFor: hasFlag(CHANGED) },
  towrong: { words: "changed to wrong", isSetFor: hasFlag(TO_WRONG) },
  toright: { words: "changed to right", isSetFor: hasFlag(TO_RIGHT) },
  judges: { words: "judges disagree", isSetFor: hasFlag(DISAGREE) },
  models: { words: "models disagree", isSetFor: (debate) => debate.modelsDisagree },
  experiments: { words: "experiments disagree", isSetFor: (debate) => debate.experimentsDisagree },
};
const ORDERS = {
  "": { words: "in the order of the run", getKey: null },
  mistakes: {
    words: "most confident mistakes first",
    getKey: (debate) => (debate.verdict === "wrong" ? 2 : 0) + (debate.probability ?? 0),
  },
  swing: { words: "largest change of belief first", getKey: (debate) => debate.swing },
};
const SELECTS = {
  experiment: (debate) => debate.experiment.name,
  model: (debate) => debate.model,
  label: (debate) => debate.case.target,
  answer: (debate) => debate.answer,
};
const SELECT_NAMES = [...Object.keys(SELECTS), "attribute"];
const MAX_ATTRIBUTE_VALUES = 60;
const TYPING_PAUSE_MS = 250;

let state = readAddress();

function readAddress() {
  const [path, queryString = ""] = location.hash.slice(1).split("?");
  const params = new URLSearchParams(queryString);
  const parts = splitPath(path);
  const { debate, turn } = findDebate(parts);
  const secondParts = splitPath(params.get("with") ?? "");
  const toggleNames = (params.get("show") ?? "").split(",");
  const order = params.get("order");
  const newState = {
    debate,
    turn,
    unknownPath: parts.length > 0 && !debate ? parts.join("/") : "",
    secondDebate: secondParts.length ? findDebate(secondParts).debate : null,
    call: params.has("call"),
    toggles: new Set(toggleNames.filter((name) => VERDICTS.includes(name) || name in MARKS)),
    query: params.get("q") ?? "",
    order: order in ORDERS ? order : "",
    prompts: params.has("prompts"),
  };
  for (const name of SELECT_NAMES) newState[name] = params.get(name) ?? "";
  return newState;
}

function splitPath(path) {
  return path.split("/").filter(Boolean).map(decodePart);
}

function decodePart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Returns the debate and the turn of the parts of a path. The debate is undefined if the page does
// not have it.
function findDebate(parts) {
  if (parts.length >= 4) {
    const key = JSON.stringify(parts.slice(0, 4));
    return { debate: debatesByNames.get(key), turn: Number(parts[4] ?? 0) };
  }
  const [id, repeat = "", turn = 0] = parts;
  const debate = debates.find((candidate) => {
    const hasRepeat = repeat === "" || String(candidate.repeat) === repeat;
    return candidate.case.id === id && hasRepeat;
  });
  return { debate, turn: Number(turn) };
}

// Returns the address of the current state with some changes.
function formatAddress(changes = {}) {
  const newState = { ...state, ...changes };
  const params = new URLSearchParams();
  if (newState.toggles.size) params.set("show", [...newState.toggles].join(","));
  for (const name of SELECT_NAMES) {
    if (newState[name]) params.set(name, newState[name]);
  }
  if (newState.query) params.set("q", newState.query);
  if (newState.order) params.set("order", newState.order);
  if (newState.prompts && newState.query) params.set("prompts", "");
  let path = "";
  if (newState.debate) {
    path = formatPath(newState.debate) + (newState.turn ? `/${newState.turn}` : "");
    if (newState.secondDebate) params.set("with", formatPath(newState.secondDebate));
    if (newState.turn && newState.call) params.set("call", "");
  }
  const queryString = params.toString().replaceAll("=&", "&").replace(/=$/, "");
  return `#${path}${queryString ? `?${queryString}` : ""}`;
}

function formatPath(debate) {
  return listNames(debate).map(encodeURIComponent).join("/");
}

// Filters replace the address.
function refine(changes) {
  location.replace(formatAddress(changes));
}

// Another debate adds an entry to the browser's history.
function goTo(changes) {
  location.hash = formatAddress(changes);
}

// The result of the current search, or null without a search.
let hits = null;

// Returns whether a debate passes the search and all filters, except one that is ignored.
function passesFilters(debate, ignoredFilter = "") {
  if (hits && !hits.has(debate.number)) return false;
  for (const [name, getValue] of Object.entries(SELECTS)) {
    const isActive = name !== ignoredFilter && state[name];
    if (isActive && getValue(debate) !== state[name]) return false;
  }
  if (ignoredFilter !== "attribute" && !hasSelectedAttribute(debate)) return false;
  if (ignoredFilter !== "verdicts" && !hasSelectedVerdict(debate)) return false;
  const selectedMarks = Object.keys(MARKS).filter((name) => state.toggles.has(name));
  return selectedMarks.every((name) => MARKS[name].isSetFor(debate));
}

function hasSelectedAttribute(debate) {
  if (!state.attribute) return true;
  const separator = state.attribute.indexOf("=");
  const name = state.attribute.slice(0, separator);
  return debate.case.attributes[name] === state.attribute.slice(separator + 1);
}

function hasSelectedVerdict(debate) {
  const verdicts = VERDICTS.filter((name) => state.toggles.has(name));
  return !verdicts.length || verdicts.includes(debate.verdict);
}

// Returns the debates that pass the filters, in the selected order.
function filterDebates() {
  const matches = debates.filter((debate) => passesFilters(debate));
  const { getKey } = ORDERS[state.order];
  if (!getKey) return matches;
  const keys = new Map(matches.map((debate) => [debate, getKey(debate)]));
  return matches.sort(
    (first, second) => keys.get(second) - keys.get(first) || first.number - second.number,
  );
}

// The form

function showFilters() {
  const form = document.getElementById("filters");
  const focusedNode = document.activeElement;
  if (focusedNode?.name === "q" && form.contains(focusedNode)) {
    document.getElementById("toggles").replaceWith(createToggles());
    return;
  }
  const focusedId = focusedNode?.id;
  form.replaceChildren(
    createSearchBox(),
    createToggles(),
    createSelects(),
    formatAddress({ debate: null }) === "#" ? "" : createClearLink(),
  );
  if (focusedId) document.getElementById(focusedId)?.focus();
}

function createSearchBox() {
  const box = createElement("input", {
    type: "search",
    name: "q",
    id: "f-q",
    value: state.query,
    placeholder: "Search all text",
    "aria-label": "Search all text",
    autocomplete: "off",
    input: searchAfterPause,
  });
  const checkbox = createElement("input", {
    type: "checkbox",
    id: "f-prompts",
    checked: state.prompts,
    change: (event) => refine({ prompts: event.target.checked }),
  });
  const label = createElement("label", {}, checkbox, "prompts and raw replies too");
  return createElement("div", { class: "search" }, box, label);
}

let typingTimer = 0;

function searchAfterPause(event) {
  const query = event.target.value.trim();
  clearTimeout(typingTimer);
  typingTimer = setTimeout(() => refine({ query }), TYPING_PAUSE_MS);
}

function createClearLink() {
  return createElement("a", { href: "#", class: "clear" }, "Clear search and filters");
}

function createSelects() {
  const experimentNames = listValues(SELECTS.experiment);
  const models = listValues(SELECTS.model);
  const labels = listValues(SELECTS.label);
  const answers = listValues(SELECTS.answer).filter(([answer]) => answer);
  const orders = Object.entries(ORDERS).map(([name, { words }]) => [name, words]);
  const hasAttributes = attributeOptions.length > 0;
  return createElement(
    "div",
    { class: "selects" },
    createSelect("experiment", "Experiment", [["", "all experiments"], ...experimentNames]),
    createSelect("model", "Model", [["", "all models"], ...models]),
    createSelect("label", "Actual", [["", "any actual label"], ...labels]),
    createSelect("answer", "Answer", [["", "any answer"], ...answers]),
    hasAttributes
      ? createSelect("attribute", "Attribute", [["", "any attribute"], ...attributeOptions])
      : "",
    createSelect("order", "Order", orders),
  );
}

// Returns the options of a select, as pairs of a value and its text.
function listValues(getValue) {
  const values = new Set(debates.map(getValue));
  return [...values].sort().map((value) => [value, value]);
}

// Returns a select with its label. A selected value that no debate has is the first option.
function createSelect(name, words, options) {
  const selectedValue = state[name];
  const isUnknown = selectedValue && !options.some(([value]) => value === selectedValue);
  const extraOptions = isUnknown ? [[selectedValue, selectedValue]] : [];
  const optionNodes = [...extraOptions, ...options].map(([value, text]) =>
    createElement("option", { value, selected: value === selectedValue }, text));
  const attributes = {
    id: `f-${name}`,
    change: (event) => refine({ [name]: event.target.value }),
  };
  return createElement(
    "label",
    {},
    createElement("span", {}, words),
    createElement("select", attributes, optionNodes),
  );
}

// Returns the buttons for verdicts and marks that a debate of the page has.
function createToggles() {
  const verdicts = VERDICTS.filter((name) => debates.some((debate) => debate.verdict === name));
  const marks = Object.keys(MARKS).filter((name) => debates.some(MARKS[name].isSetFor));
  const ofAnyVerdict = debates.filter((debate) => passesFilters(debate, "verdicts"));
  const matches = debates.filter((debate) => passesFilters(debate));
  const verdictButtons = verdicts.map((name) => {
    const count = ofAnyVerdict.filter((debate) => debate.verdict === name).length;
    return createToggle(name, name, count);
  });
  const markButtons = marks.map((name) => {
    const { words, isSetFor } = MARKS[name];
    return createToggle(name, words, matches.filter(isSetFor).length);
  });
  return createElement(
    "div",
    { class: "toggles", id: "toggles", role: "group", "aria-label": "Show only" },
    verdictButtons,
    markButtons,
  );
}

function createToggle(name, words, count) {
  return createElement(
    "button",
    {
      type: "button",
      id: `f-show-${name}`,
      "aria-pressed": String(state.toggles.has(name)),
      class: name,
      click: () => switchToggle(name),
    },
    words,
    createElement("span", { class: "number" }, ` ${count}`),
  );
}

function switchToggle(name) {
  const toggles = new Set(state.toggles);
  if (!toggles.delete(name)) toggles.add(name);
  refine({ toggles });
}

const attributeOptions = listAttributeOptions();

// Returns the attributes with few values, as pairs of name=value and the text of the option.
function listAttributeOptions() {
  const valuesByName = new Map();
  for (const { attributes } of cases) {
    for (const [name, value] of Object.entries(attributes)) {
      if (!valuesByName.has(name)) valuesByName.set(name, new Set());
      valuesByName.get(name).add(value);
    }
  }
  const options = [];
  for (const [name, values] of valuesByName) {
    if (values.size <= 1 || values.size > MAX_ATTRIBUTE_VALUES) continue;
    for (const value of [...values].sort()) {
      options.push([`${name}=${value}`, `${name}: ${value}`]);
    }
  }
  return options;
}
