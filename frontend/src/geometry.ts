/** Where things lie on a board, in units of one field. Pure. */

import type { BoardShape } from "./protocol";

export interface Spot {
  x: number;
  y: number;
}

/** The radius of a hexagon. */
export const HEX = 1 / Math.sqrt(3);

export interface Margins {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** How large labels are written: about as large on the screen whatever the board. */
export function labelSize(board: BoardShape): number {
  return Math.min(0.3, 0.032 * (board.columns + (board.style === "hex" ? board.rows / 2 : 0)));
}

/** Room around the fields, for labels and the board's edge. */
export function margins(board: BoardShape): Margins {
  if (board.style === "points") return { left: 0.5, top: 0.5, right: 0.5, bottom: 0.5 };
  const label = labelSize(board);
  const top = 1.6 * label + 0.16;
  if (board.style === "hex") return { left: 2 * label + 0.1, top: top + 0.12, right: 0.25, bottom: 0.25 };
  const side = board.style === "drop" ? 0.2 : 1.6 * label + 0.16;
  return { left: side, top, right: side, bottom: 0.2 };
}

/** The middle of a field, `row * columns + column`. */
export function spot(board: BoardShape, point: number): Spot {
  const row = Math.floor(point / board.columns);
  const column = point % board.columns;
  const { left, top } = margins(board);
  if (board.style === "hex") return { x: left + 0.5 + column + row / 2, y: top + HEX + 1.5 * HEX * row };
  return { x: left + 0.5 + column, y: top + 0.5 + row };
}

/** Width and height of the whole drawing. */
export function extent(board: BoardShape): Spot {
  const last = spot(board, board.rows * board.columns - 1);
  const { right, bottom } = margins(board);
  return { x: last.x + 0.5 + right, y: last.y + (board.style === "hex" ? HEX : 0.5) + bottom };
}

/** A corner of the hexagon around a spot: 0 is on top, then clockwise. */
export function corner(middle: Spot, index: number): Spot {
  const angle = (Math.PI / 3) * index - Math.PI / 2;
  return { x: middle.x + HEX * Math.cos(angle), y: middle.y + HEX * Math.sin(angle) };
}

/** The corners of a hexagon around a spot, as SVG points. */
export function hexagon(middle: Spot): string {
  return inSvg([0, 1, 2, 3, 4, 5].map((index) => corner(middle, index)));
}

/** Along one side of a board of hexagons, from corner to corner. */
export function hexSide(board: BoardShape, side: "top" | "bottom" | "left" | "right"): Spot[] {
  const { rows, columns } = board;
  const [count, point, corners] = {
    top: [columns, (i: number) => i, [5, 0, 1]] as const,
    bottom: [columns, (i: number) => (rows - 1) * columns + i, [4, 3, 2]] as const,
    left: [rows, (i: number) => i * columns, [5, 4]] as const,
    right: [rows, (i: number) => i * columns + columns - 1, [1, 2]] as const,
  }[side];
  return Array.from({ length: count }, (_, i) => corners.map((index) => corner(spot(board, point(i)), index))).flat();
}

/** Spots as SVG points. */
export function inSvg(spots: Spot[]): string {
  return spots.map(({ x, y }) => `${x.toFixed(3)},${y.toFixed(3)}`).join(" ");
}

/** The action of a field: the field itself, or its column where pieces fall. */
export function actionAt(board: BoardShape, point: number): number {
  return board.style === "drop" ? point % board.columns : point;
}

/** Where a piece of an action will lie, or -1 where it has no place (a pass, a full column). */
export function landing(board: BoardShape, stones: readonly number[], action: number): number {
  if (board.style !== "drop") return action < board.rows * board.columns ? action : -1;
  for (let row = board.rows - 1; row >= 0; row--) {
    if (!stones[row * board.columns + action]) return row * board.columns + action;
  }
  return -1;
}

/** The field that an arrow key leads to; it stays on the board. */
export function step(board: BoardShape, point: number, key: string): number {
  let row = Math.floor(point / board.columns);
  let column = point % board.columns;
  if (key === "ArrowUp") row--;
  if (key === "ArrowDown") row++;
  if (key === "ArrowLeft") column--;
  if (key === "ArrowRight") column++;
  row = Math.min(board.rows - 1, Math.max(0, row));
  column = Math.min(board.columns - 1, Math.max(0, column));
  return row * board.columns + column;
}

/** The dots of a board with stones on crossings. */
export function starPoints(board: BoardShape): number[] {
  const { rows, columns } = board;
  const along = (n: number): number[] => (n < 7 ? [] : n < 12 ? [2, n - 3] : [3, n - 4]);
  const points = along(rows).flatMap((row) => along(columns).map((column) => row * columns + column));
  if (rows % 2 && columns % 2 && rows > 4) points.push(((rows - 1) / 2) * columns + (columns - 1) / 2);
  return points;
}
