// Where the picture's boxes and lines stand: the drawing that the process serves, its layers as far apart as boxes with figures
// need; turned by a quarter where that can be read better, as on a phone.

const wide = { width: 172, height: 62, along: 96, down: 48, beside: 14 }; // a box; between layers, lying and standing; neighbours
const narrow = { width: 110, height: 60, along: 72, down: 46, beside: 6 };
const readable = 0.8;
const least = 0.6; // smaller is not read: then the picture keeps its size, and its frame scrolls
const most = 1.1;
const margin = 14;
const loop = 26; // px below a box: a line that leads back to it

const middleX = (node) => node.x + node.width / 2;
const middleY = (node) => node.y + node.height / 2;
const round = (value) => Math.round(value * 10) / 10;

// The drawing's layers, which stand from left to right: { left, right, middles of its boxes }.
function layersOf({ nodes }) {
  const layers = new Map();
  for (const node of nodes) {
    const at = Math.round(middleX(node));
    const layer = layers.get(at) || { at, left: node.x, right: node.x, middles: [] };
    layer.left = Math.min(layer.left, node.x);
    layer.right = Math.max(layer.right, node.x + node.width);
    layer.middles.push(middleY(node));
    layers.set(at, layer);
  }
  return [...layers.values()].sort((a, b) => a.at - b.at);
}

// The least distance of two neighbours in a layer, middle to middle.
function closest(layers, otherwise) {
  const steps = layers.flatMap(({ middles }) => {
    const sorted = middles.sort((a, b) => a - b);
    return sorted.slice(1).map((middle, place) => middle - sorted[place]);
  });
  return Math.min(otherwise, ...steps.filter((step) => step > 1));
}

// Along the layers: each becomes as deep as a box, and the way between two as long as a line with its words needs.
function along(layers, depth, between) {
  const stops = layers.flatMap(({ left, right }, place) => {
    const from = place * (depth + between);
    return [[left, from], [right, from + depth]];
  });
  return (value) => {
    const next = stops.findIndex(([old]) => old >= value);
    if (next <= 0) return (next ? stops[stops.length - 1] : stops[0])[1] + value - (next ? stops[stops.length - 1] : stops[0])[0];
    const [[a, from], [b, to]] = [stops[next - 1], stops[next]];
    return from + ((value - a) / (b - a || 1)) * (to - from);
  };
}

function wayOf(drawing, box, turned) {
  const layers = layersOf(drawing);
  const [depth, between, breadth] = turned ? [box.height, box.down, box.width] : [box.width, box.along, box.height];
  const far = along(layers, depth, between);
  const stretch = (breadth + box.beside) / closest(layers, Math.max(...drawing.nodes.map((node) => node.height)) * 1.6);
  const inside = ([a]) => layers.some(({ left, right }) => a > left - 1 && a < right + 1);
  return { box, turned, inside, place: turned ? ([a, b]) => [b * stretch, far(a)] : ([a, b]) => [far(a), b * stretch] };
}

function boxesOf(drawing, { place, box }) {
  return drawing.nodes.map((node) => {
    const [x, y] = place([middleX(node), middleY(node)]);
    return { component: node.component, x: x - box.width / 2, y: y - box.height / 2 };
  });
}

// Bends that leave and reach each point along the direction of the layers.
function curve(points, axis) {
  let path = `M${points[0].map(round)}`;
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]];
    const half = (b[axis] - a[axis]) / 2;
    const bend = (point, by) => (axis ? [point[0], point[1] + by] : [point[0] + by, point[1]]);
    path += `C${bend(a, half).map(round)} ${bend(b, -half).map(round)} ${b.map(round)}`;
  }
  return path;
}

function middleOf(points) {
  const at = (points.length - 1) / 2;
  const [a, b] = [points[Math.floor(at)], points[Math.ceil(at)]];
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}

function loopOf(at, box) {
  const [left, right, top] = [at.x + box.width * 0.3, at.x + box.width * 0.7, at.y + box.height];
  const low = top + loop;
  return {
    points: [[right, top], [right, low], [left, low], [left, top]],
    path: `M${right} ${top}C${right} ${low} ${left} ${low} ${left} ${top}`,
    middle: [at.x + box.width / 2, low],
  };
}

// A line begins and ends at its boxes, and passes others where the drawing leads it past them; what the drawing leaves for words
// between two layers is not needed here.
function lineOf(edge, from, to, { place, inside, turned, box }) {
  if (from === to) return loopOf(from, box);
  const end = edge.points.length - 1;
  const points = edge.points.filter((point, number) => number === 0 || number === end || inside(point)).map(place);
  const axis = turned ? 1 : 0;
  const size = turned ? box.height : box.width;
  const [first, last] = edge.back ? [0, size] : [size, 0];
  points[0][axis] = (turned ? from.y : from.x) + first;
  points[points.length - 1][axis] = (turned ? to.y : to.x) + last;
  return { points, path: curve(points, axis), middle: middleOf(points) };
}

function frameOf(boxes, lines, box) {
  const xs = boxes.flatMap(({ x }) => [x, x + box.width]).concat(lines.flatMap(({ points }) => points.map(([x]) => x)));
  const ys = boxes.flatMap(({ y }) => [y, y + box.height]).concat(lines.flatMap(({ points }) => points.map(([, y]) => y)));
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  return { left, top, width: Math.max(...xs) + margin - left, height: Math.max(...ys) + margin - top };
}

// What leads from one component to another is one line, however many streams it carries.
function bundles(topology) {
  const known = new Map(topology.edges.map((edge) => [edge.id, edge]));
  const ways = new Map();
  for (const drawn of topology.drawing.edges) {
    const edge = known.get(drawn.edge);
    if (!edge || drawn.points.length < 2) continue;
    const key = JSON.stringify([edge.from, edge.to]);
    if (ways.has(key)) ways.get(key).edges.push(edge);
    else ways.set(key, { drawn, edges: [edge] });
  }
  return [...ways.values()];
}

function placed(topology, box, turned) {
  const way = wayOf(topology.drawing, box, turned);
  const boxes = boxesOf(topology.drawing, way);
  const at = new Map(boxes.map((item) => [item.component, item]));
  const lines = bundles(topology).map(({ drawn, edges }) => {
    const [{ from, to }] = edges;
    return { ...lineOf(drawn, at.get(from), at.get(to), way), from, to, edges, turned };
  });
  return { boxes, lines, box, frame: frameOf(boxes, lines, box) };
}

// The picture for a frame of `width`: lying, unless it can be read only when it stands; the boxes narrow only where they must be.
export function layout(topology, width) {
  const ways = [
    [wide, false],
    [narrow, false],
    [wide, true],
    [narrow, true],
  ];
  let best = null;
  for (const [box, turned] of ways) {
    const drawn = placed(topology, box, turned);
    const scale = Math.min(most, width / drawn.frame.width);
    if (!best || scale > best.scale + 0.05) best = { ...drawn, scale };
    if (best.scale >= readable) break;
  }
  return { ...best, scale: Math.max(least, best.scale) };
}
