// The list of debates. Only the rows in view are elements, so that a long list scrolls as fast as a short one.

const ROW = 76, MARGIN = 8;
const list = { shown: [], scroll: document.getElementById("scroll"), rows: document.getElementById("list") };

function showList() {
  list.shown = chosen();
  list.rows.style.height = `${list.shown.length * ROW}px`;
  const all = list.shown.length === debates.length ? "" : `${list.shown.length.toLocaleString("en")} of `;
  const unsearched = state.q ? debates.filter((debate) => !debate.experiment.spoken).length : 0;
  const without = unsearched ? `; ${unsearched.toLocaleString("en")} have no texts` : "";
  document.getElementById("count").textContent = all + counted(debates.length, "debate") + without;
  const place = list.shown.indexOf(state.debate), top = place * ROW;
  const { scrollTop, clientHeight } = list.scroll;
  if (place >= 0 && (top < scrollTop || top + ROW > scrollTop + clientHeight)) list.scroll.scrollTop = top - clientHeight / 2;
  drawRows();
}

function drawRows() {
  const { scrollTop, clientHeight } = list.scroll;
  const first = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
  const last = Math.min(list.shown.length, Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN);
  list.rows.replaceChildren(...list.shown.slice(first, last).map((debate, place) => row(debate, first + place)));
}

function row(debate, place) {
  const actual = debate.found.target ? `, actual ${debate.found.target}` : "";
  const answer = debate.answer ? `${debate.answer}${debate.probability == null ? "" : `, probability ${percent(debate.probability)}`}${actual}` : `no answer${actual}`;
  const marks = [debate.change & TO_WRONG ? "changed to wrong" : debate.change & TO_RIGHT ? "changed to right" : debate.change & CHANGED ? "changed its mind" : "", debate.change & DISAGREE ? "judges disagree" : ""];
  const item = element("li", { "aria-setsize": list.shown.length, "aria-posinset": place + 1 },
    element("a", { href: address({ debate, turn: 0, beside: null, call: false }), "aria-current": debate === state.debate ? "true" : null },
      element("span", { class: "first" }, badge(debate.verdict), element("span", { class: "id" }, `${debate.found.id}${debate.repeat ? ` #${debate.repeat}` : ""}`)),
      element("span", { class: "second" }, `${debate.experiment.name} · ${debate.experiment.models[debate.model]}`),
      element("span", { class: "second" }, hits?.has(debate.number) ? marked(hits.get(debate.number), needlesOf(state.q)) : [answer, ...marks].filter(Boolean).join(" · "))));
  item.style.top = `${place * ROW}px`;
  return item;
}

list.scroll.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
addEventListener("resize", drawRows);
