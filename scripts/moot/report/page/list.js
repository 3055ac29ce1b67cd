// The list of debates. Only the rows in view are elements, so that a long list scrolls as fast as
// a short one.

const ROW_HEIGHT = 76;
const MARGIN_ROWS = 8;
const list = {
  debates: [],
  scroll: document.getElementById("scroll"),
  rows: document.getElementById("list"),
};

function showList() {
  list.debates = filterDebates();
  list.rows.style.height = `${list.debates.length * ROW_HEIGHT}px`;
  document.getElementById("count").textContent = describeCount();
  scrollToSelectedRow();
  renderRows();
}

function describeCount() {
  const matchCount = list.debates.length;
  const isFiltered = matchCount !== debates.length;
  const filteredWords = isFiltered ? `${formatNumber(matchCount)} of ` : "";
  const silentCount = state.query
    ? debates.filter((debate) => !debate.experiment.spoken).length
    : 0;
  const silentWords = silentCount ? `; ${formatNumber(silentCount)} have no texts` : "";
  return `${filteredWords}${formatCount(debates.length, "debate")}${silentWords}`;
}

function scrollToSelectedRow() {
  const position = list.debates.indexOf(state.debate);
  if (position < 0) return;
  const top = position * ROW_HEIGHT;
  const { scrollTop, clientHeight } = list.scroll;
  const isInView = top >= scrollTop && top + ROW_HEIGHT <= scrollTop + clientHeight;
  if (!isInView) list.scroll.scrollTop = top - clientHeight / 2;
}

function renderRows() {
  const { scrollTop, clientHeight } = list.scroll;
  const firstInView = Math.floor(scrollTop / ROW_HEIGHT);
  const endOfView = Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT);
  const start = Math.max(0, firstInView - MARGIN_ROWS);
  const end = Math.min(list.debates.length, endOfView + MARGIN_ROWS);
  const rows = list.debates.slice(start, end).map((debate, offset) =>
    createRow(debate, start + offset));
  list.rows.replaceChildren(...rows);
}

function createRow(debate, position) {
  const { experiment } = debate;
  const name = `${debate.case.id}${debate.repeat ? ` #${debate.repeat}` : ""}`;
  const origin = `${experiment.name} · ${experiment.models[debate.model]}`;
  const excerpt = hits?.get(debate.number);
  const details = excerpt === undefined
    ? [describeAnswer(debate), ...listChanges(debate)].join(" · ")
    : highlight(excerpt, parseNeedles(state.query));
  const link = createElement(
    "a",
    {
      href: formatAddress({ debate, turn: 0, secondDebate: null, call: false }),
      "aria-current": debate === state.debate ? "true" : null,
    },
    createElement(
      "span",
      { class: "first" },
      createBadge(debate.verdict),
      createElement("span", { class: "id" }, name),
    ),
    createElement("span", { class: "second" }, origin),
    createElement("span", { class: "second" }, details),
  );
  const attributes = { "aria-setsize": list.debates.length, "aria-posinset": position + 1 };
  const row = createElement("li", attributes, link);
  row.style.top = `${position * ROW_HEIGHT}px`;
  return row;
}

function describeAnswer(debate) {
  const { answer, probability } = debate;
  const { target } = debate.case;
  const targetWords = target ? `, actual ${target}` : "";
  if (!answer) return `no answer${targetWords}`;
  const certainty = probability == null ? "" : `, probability ${formatPercent(probability)}`;
  return `${answer}${certainty}${targetWords}`;
}

function listChanges(debate) {
  const changes = [];
  if (debate.change & TO_WRONG) changes.push("changed to wrong");
  else if (debate.change & TO_RIGHT) changes.push("changed to right");
  else if (debate.change & CHANGED) changes.push("changed its mind");
  if (debate.change & DISAGREE) changes.push("judges disagree");
  return changes;
}

list.scroll.addEventListener("scroll", () => requestAnimationFrame(renderRows), { passive: true });
addEventListener("resize", renderRows);
