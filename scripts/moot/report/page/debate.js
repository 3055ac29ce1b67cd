// The view of a debate, alone or next to another debate on the same case, and the overview without a debate.

async function showMain() {
  const main = document.getElementById("main"), asked = state;
  document.body.classList.toggle("reading", Boolean(state.debate));
  if (!state.debate) return main.replaceChildren(...overview());
  const shown = [state.debate, ...(state.beside ? [state.beside] : [])];
  const contents = await Promise.all(shown.map((debate) => Promise.all([contentOf(debate), factsOf(debate)])));
  if (asked !== state) return null;
  main.replaceChildren(steps(), element("div", { class: shown.length > 1 ? "panes two" : "panes" },
    shown.map((debate, place) => pane(debate, ...contents[place]))));
  const here = main.querySelector(".turn.here");
  if (here) here.scrollIntoView({ block: state.call ? "start" : "center" });
  else { main.scrollTop = 0; window.scrollTo(0, 0); }
  return null;
}

function steps() {
  const all = list.shown, place = all.indexOf(state.debate);
  const link = (to, words, key) => element(to ? "a" : "span", to ? { href: address({ debate: to, turn: 0, beside: null }), rel: key, title: `key ${key === "next" ? "→" : "←"}` } : { class: "off" }, words);
  return element("p", { class: "steps" }, link(all[place - 1], "‹ previous", "prev"),
    place < 0 ? "not in the filtered list" : `${place + 1} of ${all.length}`, link(all[place + 1], "next ›", "next"));
}

function pane(debate, content, facts) {
  const needles = state.q ? needlesOf(state.q) : [], task = datasets[debate.experiment.dataset];
  const meaning = task.meaning[debate.found.target];
  const first = debate === state.debate;
  return element("article", { class: "debate" },
    element("header", {},
      element("h2", {}, debate.found.id, debate.repeat ? ` (repeat ${debate.repeat + 1})` : ""),
      element("p", { class: "where" }, `${debate.experiment.name} · ${debate.experiment.models[debate.model]} · ${debate.experiment.protocol} · ${debate.experiment.data}`),
      ending(debate, content.outcome),
      verdictsOf(debate, content.turns),
      element("p", {}, "Actual: ", element("strong", {}, debate.found.target || "not known"), meaning ? `, ${meaning}` : "", "."),
      element("p", { class: "marks" }, Object.values(MARKS).filter((mark) => mark.fits(debate)).map((mark) => element("span", { class: "mark" }, mark.words))),
      first ? comparison(debate) : element("p", {}, element("a", { href: address({ beside: null }) }, "Close this column"))),
    element("div", { class: "beside" }, chart(content, debate),
      element("details", { class: "facts", open: facts.length < 600 || needles.some((needle) => facts.toLowerCase().includes(needle)) }, element("summary", {}, "The case"),
        element("p", { class: "question" }, task.question), element("p", { class: "text", dir: "auto" }, marked(facts, needles)),
        attributesOf(debate.found.attributes))),
    element("ol", { class: "turns" }, turnItems(debate, content.turns, needles)));
}

// The answers of several judges: one row for each judge and persona, with the answers of all repeats.
function verdictsOf(debate, turns) {
  const rows = new Map();
  for (const turn of turns.filter(isOneOfSeveral)) {
    const name = turn.speaker.replace(/ · time \d+$/, "");
    rows.set(name, [...(rows.get(name) ?? []), turn]);
  }
  if (!rows.size) return null;
  return element("details", { class: "verdicts", open: rows.size <= 12 }, element("summary", {}, `Answers of ${rows.size} judges or members`),
    element("table", {}, element("tbody", {}, [...rows].map(([name, given]) => element("tr", {},
      element("th", { scope: "row" }, name), element("td", {}, given.map((turn) => answerOf(debate, turn.stated))))))));
}

function attributesOf(given) {
  const shown = Object.entries(given).filter(([, value]) => value);
  return shown.length ? element("dl", {}, shown.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])) : null;
}

function ending(debate, outcome) {
  if (!outcome.prediction) {
    const words = debate.verdict === "waiting" ? "waits for a person" : debate.verdict === "split" ? debate.status : `no usable verdict (${debate.status})`;
    return element("p", { class: "ending" }, badge(debate.verdict), ` ${sentence(words)}${outcome.reason ? `: ${outcome.reason}` : ""}`);
  }
  const stated = outcome.prediction.confidence == null ? "" : `, stated confidence ${Math.round(outcome.prediction.confidence)} %`;
  const sure = debate.probability == null ? stated : `${stated}, as a probability ${percent(debate.probability)}`;
  return element("p", { class: "ending" }, badge(debate.verdict), " Answer: ", element("strong", {}, debate.answer), sure);
}

function comparison(debate) {
  const others = ofCase.get(debate.caseNumber).filter((other) => other !== debate);
  if (!others.length) return null;
  const several = others.some((other) => other.repeat) || debate.repeat;
  const name = (other) => `${other.experiment.name} · ${other.experiment.models[other.model]}${several ? ` · repeat ${other.repeat + 1}` : ""}: ${other.answer || other.status}`;
  return element("label", { class: "compare" }, element("span", {}, "Side by side with "),
    element("select", { id: "compare", change: (event) => refine({ beside: debates[Number(event.target.value)] ?? null }) },
      element("option", { value: "" }, "nothing"),
      others.map((other) => element("option", { value: other.number, selected: other === state.beside }, name(other)))));
}

// The overview, before the reader has chosen a debate.

const KEYS = [["← →", "previous and next debate"], ["j k", "next and previous turn"], ["c", "the call of the turn"],
  ["o", "open or fold all private turns"], ["/", "search"], ["Esc", "back to all debates"]];

function overview() {
  const notes = [...new Set(Object.values(datasets).flatMap((task) => task.notes))];
  return [
    state.unknown ? element("p", { class: "notice", role: "alert" }, `There is no debate ${state.unknown} on this page.`) : "",
    element("h2", {}, "Debates on this page"),
    element("p", {}, `${counted(debates.length, "debate")} over ${counted(cases.length, "case")}. Choose a debate from the list. The buttons filter the list, and several can be active at the same time. The address in the browser contains the current view, and you can send it to others.`),
    notes.map((note) => element("p", { class: "note" }, note)),
    ...silentNotes(),
    element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Experiments" }, experimentsTable()),
    element("h2", {}, "Keys"),
    element("dl", { class: "keys" }, KEYS.flatMap(([key, words]) => [element("dt", {}, key), element("dd", {}, words)])),
  ].flat().filter(Boolean);
}

function silentNotes() {
  const silent = [...new Set(debates.map((debate) => debate.experiment))].filter((experiment) => !experiment.spoken);
  const names = (experiments) => experiments.map(({ name, dataset }) => `${name} (data set ${dataset})`).join(", ");
  const notes = silent.length ? [`These experiments have answers but no texts, so a search finds none of their debates: ${names(silent)}.`] : [];
  const datasetsWithWords = new Set(silent.filter((experiment) => experiment.download_adds_words).map(({ dataset }) => dataset));
  if (datasetsWithWords.size) notes.push(`For these data sets the published records have texts, which moot does not ship: ${[...datasetsWithWords].join(", ")}. With “source: download” in the data set’s entry the next run downloads them.`);
  return notes.map((note) => element("p", { class: "note" }, note));
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
  return element("table", {}, element("thead", {}, element("tr", {}, heading.map((words) => element("th", { scope: "col" }, words)))),
    element("tbody", {}, [...runs.values()].map(({ debate, ...counts }) => element("tr", {},
      element("td", {}, element("a", { href: address({ experiment: debate.experiment.name, model: debate.model }) }, debate.experiment.name)),
      element("td", {}, debate.experiment.models[debate.model]),
      [...counted, "changed"].map((name) => element("td", { class: "number" }, String(counts[name])))))));
}
