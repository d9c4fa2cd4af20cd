// Where the cells of a board are, in units of the picture: one cell is 40 wide.

export const UNIT = 40;
const LABEL = 24; // the margin with coordinates
const PAD = 8;
const SLANT = Math.sqrt(3) / 2; // rows of hexagons

const STARS = { 7: [3], 9: [2, 4, 6], 13: [3, 6, 9], 15: [3, 7, 11], 19: [3, 9, 15] };

/** Return the size of a board's picture and the centre of each cell. */
export function geometryOf(board, hasLabels = true) {
  const { rows, columns, kind } = board;
  const left = hasLabels && board.row_labels.some(Boolean) ? LABEL : PAD;
  const top = PAD;
  const bottom = hasLabels && board.column_labels.some(Boolean) ? LABEL : PAD;
  const isHex = kind === "hexagons";
  const shift = isHex ? UNIT / 2 : 0;
  const rise = isHex ? UNIT * SLANT : UNIT;
  const tall = isHex ? (rows - 1) * rise + UNIT * 1.16 : rows * UNIT;
  return {
    kind,
    rows,
    columns,
    left,
    top,
    width: left + columns * UNIT + (rows - 1) * shift + PAD,
    height: top + tall + bottom,
    x: (r, c) => left + (c + 0.5) * UNIT + r * shift,
    y: (r) => top + (isHex ? UNIT * 0.58 : UNIT / 2) + r * rise,
  };
}

/** Return the marked points of a board of lines. */
export function starPoints({ rows, columns }) {
  const across = STARS[columns] ?? [];
  const down = STARS[rows] ?? [];
  const points = down.flatMap((r) => across.map((c) => [r, c]));
  if (rows !== 9 && rows !== 15) return points;
  const middle = (rows - 1) / 2; // these boards have four corners and the centre
  return points.filter(([r, c]) => (r === middle) === (c === middle));
}

/** Return the corners of a hexagon around a point. */
export const hexagon = (x, y) =>
  [0, 1, 2, 3, 4, 5]
    .map((i) => (Math.PI / 3) * i + Math.PI / 6)
    .map((a) => `${x + (UNIT / Math.sqrt(3)) * Math.cos(a)},${y + (UNIT / Math.sqrt(3)) * Math.sin(a)}`)
    .join(" ");

/** Return the cell that a move's name means on a board, or null; `filled` cells stop a disc. */
export function cellNamed(name, board, filled = new Set()) {
  if (board.kind === "columns") {
    const c = board.column_labels.indexOf(name);
    for (let r = board.rows - 1; c >= 0 && r >= 0; r--) {
      if (board.cells[r][c] === "." && !filled.has(`${r},${c}`)) return [r, c];
    }
    return null;
  }
  const match = /([a-z]+)(\d+)$/i.exec(name); // the last square of a move from one to another
  if (!match) return null;
  const same = (a, b) => a.toLowerCase() === b.toLowerCase();
  const c = board.column_labels.findIndex((label) => same(label, match[1]));
  const r = board.row_labels.findIndex((label) => same(label, match[2]));
  return r < 0 || c < 0 ? null : [r, c];
}
