// The update of the page after a change of the address, the keys, and printing.

let currentSearch = "";
let searchNumber = 0;

async function startSearch() {
  const search = JSON.stringify([state.query, state.prompts]);
  if (search === currentSearch) return;
  currentSearch = search;
  searchNumber += 1;
  const startedNumber = searchNumber;
  hits = null;
  if (!state.query) return;
  const countNode = document.getElementById("count");
  const isCancelled = () => startedNumber !== searchNumber;
  const reportProgress = (share) => {
    if (isCancelled() || share >= 1) return;
    countNode.textContent = `Searching … ${formatPercent(share)}`;
  };
  const matches = await searchDebates(state.query, state.prompts, isCancelled, reportProgress);
  if (!matches) return;
  hits = matches;
  showFilters();
  showList();
  if (!state.debate) showMain();
}

async function updatePage() {
  state = readAddress();
  const box = document.getElementById("f-q");
  if (box && document.activeElement !== box) box.value = state.query;
  const search = startSearch();
  showFilters();
  showList();
  await showMain();
  await search;
}

function stepDebate(step) {
  const position = list.debates.indexOf(state.debate);
  const debate = list.debates[position < 0 ? 0 : position + step];
  if (debate) goTo({ debate, turn: 0, secondDebate: null, call: false });
}

function stepTurn(step) {
  const items = [...document.querySelectorAll(".debate:first-child .turn")];
  const turns = items.map((item) => Number(item.dataset.turn));
  const position = turns.indexOf(state.turn);
  const turn = turns[position < 0 ? 0 : position + step];
  if (turn) refine({ turn, call: false });
}

// Opens all private turns, or folds them if all are open.
function foldAll() {
  const privateTurns = [...document.querySelectorAll("details.private")];
  const shouldOpen = !privateTurns.every((details) => details.open);
  for (const details of privateTurns) details.open = shouldOpen;
}

function switchCall() {
  if (state.turn) refine({ call: !state.call });
}

const ACTIONS = {
  ArrowRight: () => stepDebate(1),
  ArrowLeft: () => stepDebate(-1),
  j: () => stepTurn(1),
  k: () => stepTurn(-1),
  c: switchCall,
  o: foldAll,
  "/": () => document.getElementById("f-q").focus(),
  Escape: () => goTo({ debate: null }),
};

addEventListener("keydown", (event) => {
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  if (hasModifier || !(event.key in ACTIONS)) return;
  const field = event.target.closest("input, select, textarea");
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  event.preventDefault();
  state = readAddress();  // the page may not have processed the previous key yet
  ACTIONS[event.key]();
});

// Details that are open only for printing.
let openedForPrint = [];

addEventListener("beforeprint", () => {
  const closedDetails = [...document.querySelectorAll("main details:not([open])")];
  for (const details of closedDetails) details.open = true;
  openedForPrint.push(...closedDetails);
});

addEventListener("afterprint", () => {
  for (const details of openedForPrint) details.open = false;
  openedForPrint = [];
});

addEventListener("hashchange", updatePage);
for (const link of document.querySelectorAll("header .back")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo({ debate: null });
  });
}
await updatePage();
document.body.dataset.ready = String(Math.round(performance.now()));
