import { describe, expect, it } from "vitest";
import { actionAt, extent, landing, spot, starPoints, step } from "../src/geometry";
import type { BoardShape } from "../src/protocol";

const board = (style: BoardShape["style"], rows: number, columns = rows): BoardShape => ({ rows, columns, style, passes: false });

describe("geometry", () => {
  it("keeps every field of every style inside the drawing, none on another", () => {
    for (const shape of [board("points", 15), board("cells", 3), board("drop", 6, 7), board("hex", 11)]) {
      const size = extent(shape);
      const seen: { x: number; y: number }[] = [];
      for (let point = 0; point < shape.rows * shape.columns; point++) {
        const place = spot(shape, point);
        expect(place.x).toBeGreaterThan(0.5);
        expect(place.y).toBeGreaterThan(0.5);
        expect(place.x).toBeLessThan(size.x - 0.5);
        expect(place.y).toBeLessThan(size.y - 0.5);
        for (const other of seen) expect(Math.hypot(place.x - other.x, place.y - other.y)).toBeGreaterThan(0.9);
        seen.push(place);
      }
    }
  });

  it("plays a column where pieces fall", () => {
    const shape = board("drop", 6, 7);
    expect(actionAt(shape, 40)).toBe(5);
    expect(actionAt(board("points", 9), 40)).toBe(40);
  });

  it("lets a piece fall onto the others, and nowhere in a full column", () => {
    const shape = board("drop", 6, 7);
    const stones = new Array<number>(42).fill(0);
    expect(landing(shape, stones, 3)).toBe(38);
    stones[38] = 1;
    expect(landing(shape, stones, 3)).toBe(31);
    for (let row = 0; row < 6; row++) stones[row * 7 + 3] = 1;
    expect(landing(shape, stones, 3)).toBe(-1);
  });

  it("has no place for a pass", () => {
    expect(landing(board("cells", 8), new Array<number>(64).fill(0), 64)).toBe(-1);
  });

  it("moves the cursor by arrows and keeps it on the board", () => {
    const shape = board("points", 3, 5);
    expect(step(shape, 0, "ArrowRight")).toBe(1);
    expect(step(shape, 0, "ArrowLeft")).toBe(0);
    expect(step(shape, 0, "ArrowUp")).toBe(0);
    expect(step(shape, 14, "ArrowDown")).toBe(14);
    expect(step(shape, 9, "ArrowDown")).toBe(14);
  });

  it("puts star points where players expect them", () => {
    expect(starPoints(board("points", 9))).toEqual([20, 24, 56, 60, 40]);
    expect(starPoints(board("points", 15)).length).toBe(5);
    expect(starPoints(board("points", 6))).toEqual([]);
  });
});
