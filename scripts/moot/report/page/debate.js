// The view of a debate, alone or next to another debate on the same case, and the overview
// without a debate.

async function showMain() {
  const main = document.getElementById("main");
  const initialState = state;
  document.body.classList.toggle("reading", Boolean(state.debate));
  if (!state.debate) {
    main.replaceChildren(...createOverview());
    return;
  }
  const columnDebates = [state.debate, state.secondDebate].filter(Boolean);
  const contents = await Promise.all(columnDebates.map(loadContent));
  const facts = await Promise.all(columnDebates.map(loadFacts));
  if (state !== initialState) return;
  const panes = columnDebates.map((debate, position) =>
    createPane(debate, contents[position], facts[position]));
  const paneClass = panes.length > 1 ? "panes two" : "panes";
  main.replaceChildren(createSteps(), createElement("div", { class: paneClass }, panes));
  scrollToTurn(main);
}

function scrollToTurn(main) {
  const item = main.querySelector(".turn.here");
  if (item) {
    item.scrollIntoView({ block: state.call ? "start" : "center" });
  } else {
    main.scrollTop = 0;
    window.scrollTo(0, 0);
  }
}

// Returns the links to the previous and the next debate of the list.
function createSteps() {
  const position = list.debates.indexOf(state.debate);
  const count = list.debates.length;
  return createElement(
    "p",
    { class: "steps" },
    createStep(list.debates[position - 1], "‹ previous", "prev", "←"),
    position < 0 ? "not in the filtered list" : `${position + 1} of ${count}`,
    createStep(list.debates[position + 1], "next ›", "next", "→"),
  );
}

function createStep(debate, words, relation, key) {
  if (!debate) return createElement("span", { class: "off" }, words);
  const href = formatAddress({ debate, turn: 0, secondDebate: null });
  return createElement("a", { href, rel: relation, title: `key ${key}` }, words);
}

function createPane(debate, content, facts) {
  const needles = state.query ? parseNeedles(state.query) : [];
  return createElement(
    "article",
    { class: "debate" },
    createPaneHeader(debate, content),
    createElement(
      "div",
      { class: "beside" },
      createChart(content, debate),
      createCaseDetails(debate, facts, needles),
    ),
    createElement("ol", { class: "turns" }, createTurnItems(debate, content.turns, needles)),
  );
}

function createPaneHeader(debate, content) {
  const { experiment } = debate;
  const { target } = debate.case;
  const meaning = datasets[experiment.dataset].meaning[target];
  const origin = [
    experiment.name,
    experiment.models[debate.model],
    experiment.protocol,
    experiment.data,
  ];
  const marks = Object.values(MARKS).filter((mark) => mark.isSetFor(debate));
  const markItems = marks.map((mark) => createElement("span", { class: "mark" }, mark.words));
  return createElement(
    "header",
    {},
    createElement("h2", {}, debate.case.id, debate.repeat ? ` (repeat ${debate.repeat + 1})` : ""),
    createElement("p", { class: "where" }, origin.join(" · ")),
    createEnding(debate, content),
    createVerdictTable(debate, content.turns),
    createElement(
      "p",
      {},
      "Actual: ",
      createElement("strong", {}, target || "not known"),
      meaning ? `, ${meaning}` : "",
      ".",
    ),
    createElement("p", { class: "marks" }, markItems),
    debate === state.debate ? createDebateSelect(debate) : createCloseLink(),
  );
}

function createCloseLink() {
  const href = formatAddress({ secondDebate: null });
  return createElement("p", {}, createElement("a", { href }, "Close this column"));
}

function createCaseDetails(debate, facts, needles) {
  const lowerFacts = facts.toLowerCase();
  const hasNeedle = needles.some((needle) => lowerFacts.includes(needle));
  return createElement(
    "details",
    { class: "facts", open: facts.length < 600 || hasNeedle },
    createElement("summary", {}, "The case"),
    createElement("p", { class: "question" }, datasets[debate.experiment.dataset].question),
    createElement("p", { class: "text", dir: "auto" }, highlight(facts, needles)),
    createAttributeList(debate.case.attributes),
  );
}

function nameSeat(turn) {
  return turn.speaker.replace(/ · time \d+$/, "");
}

// The answers of several judges: one row for each judge and persona, with the answers of all
// repeats.
function createVerdictTable(debate, turns) {
  const turnsByJudge = groupBy(turns.filter(isVerdictOfSeveral), nameSeat);
  const count = turnsByJudge.size;
  if (!count) return null;
  const rows = [...turnsByJudge].map(([judge, verdictTurns]) => {
    const answers = verdictTurns.map((turn) => createAnswer(debate, turn.stated));
    return createElement(
      "tr",
      {},
      createElement("th", { scope: "row" }, judge),
      createElement("td", {}, answers),
    );
  });
  return createElement(
    "details",
    { class: "verdicts", open: count <= 12 },
    createElement("summary", {}, `Answers of ${count} judges or members`),
    createElement("table", {}, createElement("tbody", {}, rows)),
  );
}

function createAttributeList(attributes) {
  const entries = [];
  for (const [name, value] of Object.entries(attributes)) {
    if (!value) continue;
    entries.push(createElement("dt", {}, name), createElement("dd", {}, value));
  }
  return entries.length ? createElement("dl", {}, entries) : null;
}

// Returns how the debate ended. The confidence of a panel, of which several seats state their own,
// is its share of votes, which is the probability.
function createEnding(debate, { outcome, turns }) {
  const badge = createBadge(debate.verdict);
  if (!outcome.prediction) {
    const reason = outcome.reason ? `: ${outcome.reason}` : "";
    const words = ` ${capitalize(describeMissingAnswer(debate))}${reason}`;
    return createElement("p", { class: "ending" }, badge, words);
  }
  const { confidence } = outcome.prediction;
  const statements = turns.filter(({ stated }) => stated?.confidence != null);
  const isStated = new Set(statements.map(nameSeat)).size === 1;
  const hasConfidence = confidence != null && isStated;
  let certainty = hasConfidence ? `, stated confidence ${Math.round(confidence)} %` : "";
  if (debate.probability != null) {
    const probability = formatPercent(debate.probability);
    certainty += `${hasConfidence ? ", as a probability" : ", probability"} ${probability}`;
  }
  const answer = createElement("strong", {}, debate.answer);
  return createElement("p", { class: "ending" }, badge, " Answer: ", answer, certainty);
}

function describeMissingAnswer(debate) {
  if (debate.verdict === "waiting") return "waits for a person";
  if (debate.verdict === "split") return debate.status;
  return `no usable verdict (${debate.status})`;
}

// Returns a select with the other debates on the case. The chosen debate opens in a second column.
function createDebateSelect(debate) {
  const candidates = debatesByCase.get(debate.caseNumber).filter((item) => item !== debate);
  if (!candidates.length) return null;
  const hasRepeats = debate.repeat || candidates.some((candidate) => candidate.repeat);
  const options = candidates.map((candidate) => {
    const { experiment, model, repeat } = candidate;
    const repeatWords = hasRepeats ? ` · repeat ${repeat + 1}` : "";
    const name = `${experiment.name} · ${experiment.models[model]}${repeatWords}`;
    return createElement(
      "option",
      { value: candidate.number, selected: candidate === state.secondDebate },
      `${name}: ${candidate.answer || candidate.status}`,
    );
  });
  const openSecondDebate = (event) => {
    const number = event.target.value;
    refine({ secondDebate: number === "" ? null : debates[Number(number)] });
  };
  return createElement(
    "label",
    { class: "compare" },
    createElement("span", {}, "Side by side with "),
    createElement(
      "select",
      { id: "compare", change: openSecondDebate },
      createElement("option", { value: "" }, "nothing"),
      options,
    ),
  );
}

// The overview, before the reader has chosen a debate.

const KEYS = [
  ["← →", "previous and next debate"],
  ["j k", "next and previous turn"],
  ["c", "the call of the turn"],
  ["o", "open or fold all private turns"],
  ["/", "search"],
  ["Esc", "back to all debates"],
];

function createOverview() {
  const notes = new Set(Object.values(datasets).flatMap((task) => task.notes));
  const keyEntries = KEYS.flatMap(([key, words]) => [
    createElement("dt", {}, key),
    createElement("dd", {}, words),
  ]);
  const parts = [
    createElement("h2", {}, "Debates on this page"),
    createElement("p", {}, describePage()),
    ...createNotes([...notes, ...listNotesOnTexts()]),
    createElement(
      "div",
      { class: "wide", tabindex: "0", role: "region", "aria-label": "Experiments" },
      createExperimentsTable(),
    ),
    createElement("h2", {}, "Keys"),
    createElement("dl", { class: "keys" }, keyEntries),
  ];
  if (state.unknownPath) {
    const notice = `There is no debate ${state.unknownPath} on this page.`;
    parts.unshift(createElement("p", { class: "notice", role: "alert" }, notice));
  }
  return parts;
}

function describePage() {
  const counts = [formatCount(debates.length, "debate"), formatCount(cases.length, "case")];
  return [
    `${counts.join(" over ")}. Choose a debate from the list.`,
    "The buttons filter the list, and several can be active at the same time.",
    "The address in the browser contains the current view, and you can send it to others.",
  ].join(" ");
}

function createNotes(notes) {
  return notes.map((note) => createElement("p", { class: "note" }, note));
}

// Returns notes on experiments whose debates have answers but no texts.
function listNotesOnTexts() {
  const experimentsOfDebates = new Set(debates.map((debate) => debate.experiment));
  const silentExperiments = [...experimentsOfDebates].filter((experiment) => !experiment.spoken);
  if (!silentExperiments.length) return [];
  const names = silentExperiments.map(({ name, dataset }) => `${name} (data set ${dataset})`);
  const notes = [
    "These experiments have answers but no texts, so a search finds none of their debates: " +
      `${names.join(", ")}.`,
  ];
  const downloadable = silentExperiments.filter((experiment) => experiment.download_adds_words);
  const datasetNames = new Set(downloadable.map(({ dataset }) => dataset));
  if (datasetNames.size) {
    notes.push(
      "For these data sets the published records have texts, which moot does not ship: " +
        `${[...datasetNames].join(", ")}. With “source: download” in the data set’s entry the ` +
        "next run downloads them.",
    );
  }
  return notes;
}

// Counts the verdicts and the changes of mind of each experiment and model.
function countVerdicts() {
  const runs = new Map();
  for (const debate of debates) {
    const key = JSON.stringify([debate.experiment.name, debate.model]);
    if (!runs.has(key)) {
      const counts = { changed: 0 };
      for (const verdict of VERDICTS) counts[verdict] = 0;
      runs.set(key, { experiment: debate.experiment, model: debate.model, counts });
    }
    const { counts } = runs.get(key);
    counts[debate.verdict] += 1;
    if (debate.change & CHANGED) counts.changed += 1;
  }
  return [...runs.values()];
}

function createExperimentsTable() {
  const hasSplit = debates.some(({ verdict }) => verdict === "split");
  const verdicts = ["right", "wrong", ...(hasSplit ? ["split"] : []), "invalid", "waiting"];
  const heading = ["experiment", "model", ...verdicts, "judge changed its mind"];
  const headingCells = heading.map((words) => createElement("th", { scope: "col" }, words));
  const rows = countVerdicts().map(({ experiment, model, counts }) => {
    const href = formatAddress({ experiment: experiment.name, model });
    const countCells = [...verdicts, "changed"].map((name) =>
      createElement("td", { class: "number" }, String(counts[name])));
    return createElement(
      "tr",
      {},
      createElement("td", {}, createElement("a", { href }, experiment.name)),
      createElement("td", {}, experiment.models[model]),
      countCells,
    );
  });
  return createElement(
    "table",
    {},
    createElement("thead", {}, createElement("tr", {}, headingCells)),
    createElement("tbody", {}, rows),
  );
}
