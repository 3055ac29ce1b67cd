// The view of a debate, alone or next to another debate on the same case, and the overview without a debate.

async function showMain() {
  const main = document.getElementById("main"), asked = state;
  document.body.classList.toggle("reading", Boolean(state.debate));
  if (!state.debate) return main.replaceChildren(...overview());
  const shown = [state.debate, ...(state.secondDebate ? [state.secondDebate] : [])];
  const contents = await Promise.all(shown.map((debate) => Promise.all([loadContent(debate), loadFacts(debate)])));
  if (asked !== state) return null;
  main.replaceChildren(steps(), createElement("div", { class: shown.length > 1 ? "panes two" : "panes" },
    shown.map((debate, place) => pane(debate, ...contents[place]))));
  const here = main.querySelector(".turn.here");
  if (here) here.scrollIntoView({ block: state.call ? "start" : "center" });
  else { main.scrollTop = 0; window.scrollTo(0, 0); }
  return null;
}

function steps() {
  const all = list.debates, place = all.indexOf(state.debate);
  const link = (to, words, key) => createElement(to ? "a" : "span", to ? { href: formatAddress({ debate: to, turn: 0, secondDebate: null }), rel: key, title: `key ${key === "next" ? "→" : "←"}` } : { class: "off" }, words);
  return createElement("p", { class: "steps" }, link(all[place - 1], "‹ previous", "prev"),
    place < 0 ? "not in the filtered list" : `${place + 1} of ${all.length}`, link(all[place + 1], "next ›", "next"));
}

function pane(debate, content, facts) {
  const needles = state.q ? parseNeedles(state.q) : [], task = datasets[debate.experiment.dataset];
  const meaning = task.meaning[debate.case.target];
  const first = debate === state.debate;
  return createElement("article", { class: "debate" },
    createElement("header", {},
      createElement("h2", {}, debate.case.id, debate.repeat ? ` (repeat ${debate.repeat + 1})` : ""),
      createElement("p", { class: "where" }, `${debate.experiment.name} · ${debate.experiment.models[debate.model]} · ${debate.experiment.protocol} · ${debate.experiment.data}`),
      ending(debate, content.outcome),
      verdictsOf(debate, content.turns),
      createElement("p", {}, "Actual: ", createElement("strong", {}, debate.case.target || "not known"), meaning ? `, ${meaning}` : "", "."),
      createElement("p", { class: "marks" }, Object.values(MARKS).filter((mark) => mark.isSetFor(debate)).map((mark) => createElement("span", { class: "mark" }, mark.words))),
      first ? comparison(debate) : createElement("p", {}, createElement("a", { href: formatAddress({ secondDebate: null }) }, "Close this column"))),
    createElement("div", { class: "beside" }, createChart(content, debate),
      createElement("details", { class: "facts", open: facts.length < 600 || needles.some((needle) => facts.toLowerCase().includes(needle)) }, createElement("summary", {}, "The case"),
        createElement("p", { class: "question" }, task.question), createElement("p", { class: "text", dir: "auto" }, highlight(facts, needles)),
        attributesOf(debate.case.attributes))),
    createElement("ol", { class: "turns" }, createTurnItems(debate, content.turns, needles)));
}

// The answers of several judges: one row for each judge and persona, with the answers of all repeats.
function verdictsOf(debate, turns) {
  const rows = new Map();
  for (const turn of turns.filter(isVerdictOfSeveral)) {
    const name = turn.speaker.replace(/ · time \d+$/, "");
    rows.set(name, [...(rows.get(name) ?? []), turn]);
  }
  if (!rows.size) return null;
  return createElement("details", { class: "verdicts", open: rows.size <= 12 }, createElement("summary", {}, `Answers of ${rows.size} judges or members`),
    createElement("table", {}, createElement("tbody", {}, [...rows].map(([name, given]) => createElement("tr", {},
      createElement("th", { scope: "row" }, name), createElement("td", {}, given.map((turn) => createAnswer(debate, turn.stated))))))));
}

function attributesOf(given) {
  const shown = Object.entries(given).filter(([, value]) => value);
  return shown.length ? createElement("dl", {}, shown.flatMap(([name, value]) => [createElement("dt", {}, name), createElement("dd", {}, value)])) : null;
}

function ending(debate, outcome) {
  if (!outcome.prediction) {
    const words = debate.verdict === "waiting" ? "waits for a person" : debate.verdict === "split" ? debate.status : `no usable verdict (${debate.status})`;
    return createElement("p", { class: "ending" }, createBadge(debate.verdict), ` ${capitalize(words)}${outcome.reason ? `: ${outcome.reason}` : ""}`);
  }
  const stated = outcome.prediction.confidence == null ? "" : `, stated confidence ${Math.round(outcome.prediction.confidence)} %`;
  const sure = debate.probability == null ? stated : `${stated}, as a probability ${formatPercent(debate.probability)}`;
  return createElement("p", { class: "ending" }, createBadge(debate.verdict), " Answer: ", createElement("strong", {}, debate.answer), sure);
}

function comparison(debate) {
  const others = debatesByCase.get(debate.caseNumber).filter((other) => other !== debate);
  if (!others.length) return null;
  const several = others.some((other) => other.repeat) || debate.repeat;
  const name = (other) => `${other.experiment.name} · ${other.experiment.models[other.model]}${several ? ` · repeat ${other.repeat + 1}` : ""}: ${other.answer || other.status}`;
  return createElement("label", { class: "compare" }, createElement("span", {}, "Side by side with "),
    createElement("select", { id: "compare", change: (event) => refine({ secondDebate: debates[Number(event.target.value)] ?? null }) },
      createElement("option", { value: "" }, "nothing"),
      others.map((other) => createElement("option", { value: other.number, selected: other === state.secondDebate }, name(other)))));
}

// The overview, before the reader has chosen a debate.

const KEYS = [["← →", "previous and next debate"], ["j k", "next and previous turn"], ["c", "the call of the turn"],
  ["o", "open or fold all private turns"], ["/", "search"], ["Esc", "back to all debates"]];

function overview() {
  const notes = [...new Set(Object.values(datasets).flatMap((task) => task.notes))];
  return [
    state.unknown ? createElement("p", { class: "notice", role: "alert" }, `There is no debate ${state.unknown} on this page.`) : "",
    createElement("h2", {}, "Debates on this page"),
    createElement("p", {}, `${formatCount(debates.length, "debate")} over ${formatCount(cases.length, "case")}. Choose a debate from the list. The buttons filter the list, and several can be active at the same time. The address in the browser contains the current view, and you can send it to others.`),
    notes.map((note) => createElement("p", { class: "note" }, note)),
    ...silentNotes(),
    createElement("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Experiments" }, experimentsTable()),
    createElement("h2", {}, "Keys"),
    createElement("dl", { class: "keys" }, KEYS.flatMap(([key, words]) => [createElement("dt", {}, key), createElement("dd", {}, words)])),
  ].flat().filter(Boolean);
}

function silentNotes() {
  const silent = [...new Set(debates.map((debate) => debate.experiment))].filter((experiment) => !experiment.spoken);
  const names = (experiments) => experiments.map(({ name, dataset }) => `${name} (data set ${dataset})`).join(", ");
  const notes = silent.length ? [`These experiments have answers but no texts, so a search finds none of their debates: ${names(silent)}.`] : [];
  const datasetsWithWords = new Set(silent.filter((experiment) => experiment.download_adds_words).map(({ dataset }) => dataset));
  if (datasetsWithWords.size) notes.push(`For these data sets the published records have texts, which moot does not ship: ${[...datasetsWithWords].join(", ")}. With “source: download” in the data set’s entry the next run downloads them.`);
  return notes.map((note) => createElement("p", { class: "note" }, note));
}

function experimentsTable() {
  const runs = new Map();
  for (const debate of debates) {
    const key = JSON.stringify([debate.experiment.name, debate.model]);
    if (!runs.has(key)) runs.set(key, { debate, right: 0, wrong: 0, answered: 0, split: 0, invalid: 0, waiting: 0, changed: 0 });
    runs.get(key)[debate.verdict] += 1;
    runs.get(key).changed += Boolean(debate.change & CHANGED);
  }
  const counted = ["right", "wrong", ...(debates.some(({ verdict }) => verdict === "split") ? ["split"] : []), "invalid", "waiting"];
  const heading = ["experiment", "model", ...counted, "judge changed its mind"];
  return createElement("table", {}, createElement("thead", {}, createElement("tr", {}, heading.map((words) => createElement("th", { scope: "col" }, words)))),
    createElement("tbody", {}, [...runs.values()].map(({ debate, ...counts }) => createElement("tr", {},
      createElement("td", {}, createElement("a", { href: formatAddress({ experiment: debate.experiment.name, model: debate.model }) }, debate.experiment.name)),
      createElement("td", {}, debate.experiment.models[debate.model]),
      [...counted, "changed"].map((name) => createElement("td", { class: "number" }, String(counts[name])))))));
}
