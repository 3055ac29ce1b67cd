// The list of debates. Only the rows in view are elements, so that a long list scrolls as fast as a short one.

const ROW = 76, MARGIN = 8;
const list = { debates: [], scroll: document.getElementById("scroll"), rows: document.getElementById("list") };

function showList() {
  list.debates = filterDebates();
  list.rows.style.height = `${list.debates.length * ROW}px`;
  const all = list.debates.length === debates.length ? "" : `${list.debates.length.toLocaleString("en")} of `;
  const unsearched = state.q ? debates.filter((debate) => !debate.experiment.spoken).length : 0;
  const without = unsearched ? `; ${unsearched.toLocaleString("en")} have no texts` : "";
  document.getElementById("count").textContent = all + formatCount(debates.length, "debate") + without;
  const place = list.debates.indexOf(state.debate), top = place * ROW;
  const { scrollTop, clientHeight } = list.scroll;
  if (place >= 0 && (top < scrollTop || top + ROW > scrollTop + clientHeight)) list.scroll.scrollTop = top - clientHeight / 2;
  drawRows();
}

function drawRows() {
  const { scrollTop, clientHeight } = list.scroll;
  const first = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
  const last = Math.min(list.debates.length, Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN);
  list.rows.replaceChildren(...list.debates.slice(first, last).map((debate, place) => row(debate, first + place)));
}

function row(debate, place) {
  const actual = debate.case.target ? `, actual ${debate.case.target}` : "";
  const answer = debate.answer ? `${debate.answer}${debate.probability == null ? "" : `, probability ${formatPercent(debate.probability)}`}${actual}` : `no answer${actual}`;
  const marks = [debate.change & TO_WRONG ? "changed to wrong" : debate.change & TO_RIGHT ? "changed to right" : debate.change & CHANGED ? "changed its mind" : "", debate.change & DISAGREE ? "judges disagree" : ""];
  const item = createElement("li", { "aria-setsize": list.debates.length, "aria-posinset": place + 1 },
    createElement("a", { href: formatAddress({ debate, turn: 0, secondDebate: null, call: false }), "aria-current": debate === state.debate ? "true" : null },
      createElement("span", { class: "first" }, createBadge(debate.verdict), createElement("span", { class: "id" }, `${debate.case.id}${debate.repeat ? ` #${debate.repeat}` : ""}`)),
      createElement("span", { class: "second" }, `${debate.experiment.name} · ${debate.experiment.models[debate.model]}`),
      createElement("span", { class: "second" }, hits?.has(debate.number) ? highlight(hits.get(debate.number), parseNeedles(state.q)) : [answer, ...marks].filter(Boolean).join(" · "))));
  item.style.top = `${place * ROW}px`;
  return item;
}

list.scroll.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
addEventListener("resize", drawRows);
