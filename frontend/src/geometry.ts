/** Where things lie on a board, in units of one field. Pure. */

import type { BoardShape } from "./protocol";

export interface Spot {
  x: number;
  y: number;
}
const HALF = Math.sqrt(3) / 2;

/** Room for labels above and to the left of the fields ... */
export const MARGIN = 0.8;
/** ... and for the board's edge below and to the right. */
const END = 0.4;

/** The middle of a field, `row * columns + column`. */
export function spot(board: BoardShape, point: number): Spot {
  const row = Math.floor(point / board.columns);
  const column = point % board.columns;
  if (board.style === "hex") {
    return { x: MARGIN + 0.5 + HALF * 2 * HEX * (column + row / 2) + 0.1, y: MARGIN + 0.5 + 1.5 * HEX * row };
  }
  return { x: MARGIN + 0.5 + column, y: MARGIN + 0.5 + row };
}

/** The radius of a hexagon. */
export const HEX = 0.577;

/** Width and height of the whole drawing. */
export function extent(board: BoardShape): Spot {
  if (board.style === "hex") {
    const last = spot(board, board.rows * board.columns - 1);
    return { x: last.x + 0.6 + MARGIN, y: last.y + 0.6 + END };
  }
  return { x: board.columns + MARGIN + (board.style === "drop" ? MARGIN : END), y: board.rows + MARGIN + END };
}

/** The corners of a hexagon around a spot, as SVG points. */
export function hexagon(middle: Spot): string {
  return [0, 1, 2, 3, 4, 5]
    .map((i) => {
      const angle = (Math.PI / 3) * i - Math.PI / 2;
      return `${(middle.x + HEX * Math.cos(angle)).toFixed(3)},${(middle.y + HEX * Math.sin(angle)).toFixed(3)}`;
    })
    .join(" ");
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
