// The chart of beliefs and votes: one line for each seat, over the turns of a debate.

const WIDTH = 340;
const HEIGHT = 190;
const LEFT = 84;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 30;
const MAX_LABEL_CHARACTERS = 10;
const MAX_TICKS = 12;
const LINE_STYLES = [
  { colour: "#0072B2", dashes: "" },
  { colour: "#B84A00", dashes: "6 3" },
  { colour: "#00735A", dashes: "2 3" },
  { colour: "#7B3F73", dashes: "8 3 2 3" },
  { colour: "#6E6E6E", dashes: "4 2" },
  { colour: "#1A1A1A", dashes: "1 2" },
];
const DRAW_SHAPES = [
  (x, y) => `M${x - 4},${y}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0`,
  (x, y) => `M${x - 4},${y - 4}h8v8h-8z`,
  (x, y) => `M${x},${y - 5}l5,9h-10z`,
  (x, y) => `M${x},${y - 5}l5,5l-5,5l-5,-5z`,
  (x, y) => `M${x},${y + 5}l5,-9h-10z`,
  (x, y) => `M${x - 4},${y - 4}l8,8m0,-8l-8,8`,
];

// The opinions of seats: stated predictions, with the belief if there is one, and labels of
// statements.
function collectOpinions(content, task) {
  const { labels, positive } = task;
  const positions = new Map(labels.map((label, position) => [label, position]));
  const opinions = [];
  for (const turn of content.turns) {
    const word = (turn.stated?.label ?? turn.label?.label)?.toLowerCase();
    const label = labels.find((name) => name.toLowerCase() === word);
    if (label === undefined) continue;
    const hasBelief = labels.length === 2 && positive && turn.belief != null;
    const belief = positive === labels[0] ? 1 - turn.belief : turn.belief;
    opinions.push({
      turn,
      seat: turn.speaker,
      hasBelief,
      height: hasBelief ? belief : positions.get(label) / countSteps(labels),
      words: describeOpinion(turn, label, hasBelief ? positive : null),
    });
  }
  return opinions;
}

// Returns the number of steps from the first to the last label, at least one.
function countSteps(labels) {
  return Math.max(1, labels.length - 1);
}

function describeOpinion(turn, label, positiveLabel) {
  const certainty = positiveLabel === null
    ? turn.stated?.share ?? ""
    : `, belief in ${positiveLabel} ${formatPercent(turn.belief)}`;
  const labeler = turn.stated ? "" : ` (as labelled by ${turn.label.labeler})`;
  return `${turn.speaker}, turn ${turn.number}: ${label}${certainty}${labeler}`;
}

function createChart(content, debate) {
  const task = datasets[debate.experiment.dataset];
  const opinions = collectOpinions(content, task);
  if (!opinions.length || task.multilabel) return null;
  const lastTurn = Math.max(2, content.turns.at(-1).number);
  const toX = (turnNumber) =>
    LEFT + ((WIDTH - LEFT - RIGHT) * (turnNumber - 1)) / (lastTurn - 1);
  const toY = (height) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * height;
  const seats = [...new Set(opinions.map((opinion) => opinion.seat))];
  const seatLines = seats.map((seat, seatNumber) => {
    const seatOpinions = opinions.filter((opinion) => opinion.seat === seat);
    return createSeatLine(seatOpinions, seatNumber, toX, toY);
  });
  const graphic = createSvg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "group",
      "aria-label": "Beliefs and votes by turn",
    },
    createLabelRows(task.labels, debate.case.target, toY),
    createTicks(content.turns, toX),
    seatLines,
  );
  const caption = createChartCaption(seats, opinions, task.positive);
  return createElement("figure", { class: "chart" }, graphic, caption);
}

function createChartCaption(seats, opinions, positiveLabel) {
  const seatItems = seats.map((seat, seatNumber) =>
    createElement("li", {}, createSample(seatNumber), seat));
  const hasBeliefs = opinions.some((opinion) => opinion.hasBelief);
  const hasLabelsAlone = opinions.some((opinion) => !opinion.hasBelief);
  return createElement(
    "figcaption",
    {},
    createElement("ul", { class: "seats" }, seatItems),
    hasBeliefs ? `Height: the belief in “${positiveLabel}”. ` : "",
    hasLabelsAlone ? "Hollow: a label without a belief. " : "",
    "Dashed: the actual label.",
  );
}

function createLabelRows(labels, target, toY) {
  return labels.map((label, position) => {
    const y = toY(position / countSteps(labels));
    const isLong = label.length > MAX_LABEL_CHARACTERS;
    const text = isLong ? `${label.slice(0, MAX_LABEL_CHARACTERS - 1)}…` : label;
    return createSvg(
      "g",
      { class: label === target ? "row actual" : "row" },
      createSvg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }),
      createSvg("text", { x: LEFT - 10, y: y + 4, "text-anchor": "end" }, text),
    );
  });
}

function createTicks(turns, toX) {
  const step = Math.ceil(turns.length / MAX_TICKS);
  const y = HEIGHT - 12;
  const ticks = [];
  for (let position = 0; position < turns.length; position += step) {
    const { number } = turns[position];
    const attributes = { x: toX(number), y, "text-anchor": "middle" };
    ticks.push(createSvg("text", attributes, String(number)));
  }
  const title = createSvg("text", { x: LEFT - 10, y, "text-anchor": "end" }, "turn");
  return createSvg("g", { class: "ticks" }, ticks, title);
}

// Returns the colour of a seat, its shape, and the attributes of its lines and shapes.
function styleSeat(seatNumber) {
  const { colour, dashes } = LINE_STYLES[seatNumber % LINE_STYLES.length];
  return {
    colour,
    drawShape: DRAW_SHAPES[seatNumber % DRAW_SHAPES.length],
    lineStyle: { stroke: colour, "stroke-width": 2, "stroke-dasharray": dashes },
    shapeStyle: { stroke: colour, "stroke-width": 1.5 },
  };
}

function createSeatLine(opinions, seatNumber, toX, toY) {
  const { colour, drawShape, lineStyle, shapeStyle } = styleSeat(seatNumber);
  const points = opinions.map(({ turn, height }) => ({ x: toX(turn.number), y: toY(height) }));
  const shapes = opinions.map((opinion, position) => {
    const { x, y } = points[position];
    const fill = opinion.hasBelief ? colour : "#fff";
    const attributes = { ...shapeStyle, d: drawShape(x, y), fill };
    return createSvg("path", attributes, createSvg("title", {}, opinion.words));
  });
  const polyline = createSvg("polyline", {
    ...lineStyle,
    points: points.map(({ x, y }) => `${x},${y}`).join(" "),
    fill: "none",
  });
  return createSvg("g", {}, polyline, shapes);
}

// Returns the sample of a seat's line and shape for the caption.
function createSample(seatNumber) {
  const { colour, drawShape, lineStyle, shapeStyle } = styleSeat(seatNumber);
  const line = createSvg("line", { ...lineStyle, x1: 0, x2: 34, y1: 6, y2: 6 });
  const shape = createSvg("path", { ...shapeStyle, d: drawShape(17, 6), fill: colour });
  const attributes = { viewBox: "0 0 34 12", width: 34, height: 12, "aria-hidden": "true" };
  return createSvg("svg", attributes, line, shape);
}
