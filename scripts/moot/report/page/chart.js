// The chart of beliefs and votes: one line for each seat, over the turns of a debate.

const WIDTH = 340, HEIGHT = 190, LEFT = 84, RIGHT = 14, TOP = 14, BOTTOM = 30;
const LINES = [["#0072B2", ""], ["#B84A00", "6 3"], ["#00735A", "2 3"], ["#7B3F73", "8 3 2 3"], ["#6E6E6E", "4 2"], ["#1A1A1A", "1 2"]];
const SHAPES = [
  (x, y) => `M${x - 4},${y}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0`,
  (x, y) => `M${x - 4},${y - 4}h8v8h-8z`,
  (x, y) => `M${x},${y - 5}l5,9h-10z`,
  (x, y) => `M${x},${y - 5}l5,5l-5,5l-5,-5z`,
  (x, y) => `M${x},${y + 5}l5,-9h-10z`,
  (x, y) => `M${x - 4},${y - 4}l8,8m0,-8l-8,8`,
];

// The opinions of seats: stated predictions, with the belief if there is one, and labels of statements.
function collectOpinions(content, task) {
  const labels = task.labels, places = new Map(labels.map((label, place) => [label, place]));
  const highest = Math.max(1, labels.length - 1), opinions = [];
  for (const turn of content.turns) {
    const label = turn.stated?.label ?? turn.label?.label.toLowerCase();
    if (!places.has(label)) continue;
    const known = labels.length === 2 && task.positive && turn.belief != null;
    const belief = known && task.positive === labels[0] ? 1 - turn.belief : turn.belief;
    const sure = turn.stated?.share ?? "";
    opinions.push({ turn, seat: turn.speaker, label, known, height: known ? belief : places.get(label) / highest,
      words: `${turn.speaker}, turn ${turn.number}: ${label}${known ? `, belief in ${task.positive} ${formatPercent(turn.belief)}` : sure}${turn.stated ? "" : ` (as labelled by ${turn.label.labeler})`}` });
  }
  return opinions;
}

function createChart(content, debate) {
  const task = datasets[debate.experiment.dataset], opinions = collectOpinions(content, task);
  if (!opinions.length || task.multilabel) return null;
  const last = Math.max(2, content.turns.at(-1).number);
  const x = (turn) => LEFT + ((WIDTH - LEFT - RIGHT) * (turn - 1)) / (last - 1);
  const y = (height) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * height;
  const seats = [...new Set(opinions.map((opinion) => opinion.seat))];
  return createElement("figure", { class: "chart" },
    createSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Beliefs and votes by turn" },
      rows(task, debate.case.target, y), ticks(content, x), seats.map((seat, number) => line(opinions.filter((opinion) => opinion.seat === seat), number, x, y))),
    createElement("figcaption", {}, createElement("ul", { class: "seats" }, seats.map((seat, number) => createElement("li", {}, sample(number), seat))),
      opinions.some((opinion) => opinion.known) ? `Height: the belief in “${task.positive}”. ` : "",
      opinions.some((opinion) => !opinion.known) ? "Hollow: a label without a belief. " : "", "Dashed: the actual label."));
}

function rows(task, target, y) {
  const highest = Math.max(1, task.labels.length - 1);
  return task.labels.map((label, place) => {
    const height = y(place / highest), short = label.length > 10 ? `${label.slice(0, 9)}…` : label;
    return createSvg("g", { class: label === target ? "row actual" : "row" },
      createSvg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: height, y2: height }),
      createSvg("text", { x: LEFT - 10, y: height + 4, "text-anchor": "end" }, short));
  });
}

function ticks(content, x) {
  const turns = content.turns.map((turn) => turn.number), every = Math.ceil(turns.length / 12);
  return createSvg("g", { class: "ticks" }, turns.filter((_, place) => place % every === 0).map((turn) =>
    createSvg("text", { x: x(turn), y: HEIGHT - 12, "text-anchor": "middle" }, String(turn))),
    createSvg("text", { x: LEFT - 10, y: HEIGHT - 12, "text-anchor": "end" }, "turn"));
}

function line(opinions, number, x, y) {
  const [colour, dashes] = LINES[number % LINES.length], shape = SHAPES[number % SHAPES.length];
  const points = opinions.map((opinion) => `${x(opinion.turn.number)},${y(opinion.height)}`).join(" ");
  return createSvg("g", {},
    createSvg("polyline", { points, fill: "none", stroke: colour, "stroke-width": 2, "stroke-dasharray": dashes }),
    opinions.map((opinion) => createSvg("path", {
      d: shape(x(opinion.turn.number), y(opinion.height)), stroke: colour, "stroke-width": 1.5, fill: opinion.known ? colour : "#fff" },
      createSvg("title", {}, opinion.words))));
}

function sample(number) {
  const [colour, dashes] = LINES[number % LINES.length];
  return createSvg("svg", { viewBox: "0 0 34 12", width: 34, height: 12, "aria-hidden": "true" },
    createSvg("line", { x1: 0, x2: 34, y1: 6, y2: 6, stroke: colour, "stroke-width": 2, "stroke-dasharray": dashes }),
    createSvg("path", { d: SHAPES[number % SHAPES.length](17, 6), fill: colour, stroke: colour, "stroke-width": 1.5 }));
}
