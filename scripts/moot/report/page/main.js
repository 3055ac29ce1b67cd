// The update of the page after a change of the address, the keys, and printing.

let searched = "", searching = 0;

async function startSearch() {
  const wanted = JSON.stringify([state.q, state.prompts]);
  if (wanted === searched) return;
  searched = wanted;
  const own = ++searching;
  hits = null;
  if (!state.q) return;
  const count = document.getElementById("count");
  const found = await searchDebates(state.q, state.prompts, () => own !== searching,
    (share) => { if (own === searching && share < 1) count.textContent = `Searching … ${formatPercent(share)}`; });
  if (!found) return;
  hits = found;
  showFilters();
  showList();
  if (!state.debate) showMain();
}

async function updatePage() {
  state = readAddress();
  const box = document.getElementById("f-q");
  if (box && document.activeElement !== box) box.value = state.q;
  const search = startSearch();
  showFilters();
  showList();
  await showMain();
  await search;
}

function stepDebate(by) {
  const place = list.debates.indexOf(state.debate), next = list.debates[place < 0 ? 0 : place + by];
  if (next) goTo({ debate: next, turn: 0, secondDebate: null, call: false });
}

function stepTurn(by) {
  const numbers = [...document.querySelectorAll(".debate:first-child .turn")].map((turn) => Number(turn.dataset.turn));
  const place = numbers.indexOf(state.turn), next = numbers[place < 0 ? 0 : place + by];
  if (next) refine({ turn: next, call: false });
}

function foldAll() {
  const all = [...document.querySelectorAll("details.private")], open = !all.every((one) => one.open);
  for (const one of all) one.open = open;
}

const ACTIONS = {
  ArrowRight: () => stepDebate(1), ArrowLeft: () => stepDebate(-1), j: () => stepTurn(1), k: () => stepTurn(-1),
  c: () => state.turn && refine({ call: !state.call }), o: foldAll,
  "/": () => document.getElementById("f-q").focus(), Escape: () => goTo({ debate: null }),
};

addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in ACTIONS)) return;
  if (typing && event.key !== "Escape") return;
  if (typing) return typing.blur();
  event.preventDefault();
  state = readAddress();  // the page may not have processed the previous key yet
  return ACTIONS[event.key]();
});

const folded = [];
addEventListener("beforeprint", () => {
  const now = [...document.querySelectorAll("main details:not([open])")];
  for (const one of now) one.open = true;
  folded.push(...now);
});
addEventListener("afterprint", () => { for (const one of folded.splice(0)) one.open = false; });
addEventListener("hashchange", updatePage);
for (const link of document.querySelectorAll("header .back")) {
  link.addEventListener("click", (event) => { event.preventDefault(); goTo({ debate: null }); });
}
await updatePage();
document.body.dataset.ready = String(Math.round(performance.now()));
