import { describe, expect, it } from "vitest";
import { actionAt, extent, hexSide, landing, margins, spot, starPoints, step } from "../src/geometry";
import type { BoardShape } from "../src/protocol";

const board = (style: BoardShape["style"], rows: number, columns = rows): BoardShape => ({ rows, columns, style, passes: false });

describe("geometry", () => {
  it("keeps every field of every style inside the drawing, none on another", () => {
    for (const shape of [board("points", 15), board("cells", 3), board("drop", 6, 7), board("hex", 11)]) {
      const size = extent(shape);
      const spots = Array.from({ length: shape.rows * shape.columns }, (_, point) => spot(shape, point));
      expect(spots.every(({ x, y }) => x >= 0.5 && y >= 0.5 && x <= size.x - 0.5 && y <= size.y - 0.5)).toBe(true);
      const apart = spots.flatMap((a, i) => spots.slice(i + 1).map((b) => Math.hypot(a.x - b.x, a.y - b.y)));
      expect(Math.min(...apart)).toBeCloseTo(1);
    }
  });

  it("leaves room for labels on the left and above", () => {
    for (const shape of [board("points", 15), board("cells", 8), board("hex", 5)]) {
      expect(margins(shape).left).toBeGreaterThan(0.2);
      expect(margins(shape).top).toBeGreaterThan(0.2);
    }
  });

  it("closes the four sides of a board of hexagons into one line around it", () => {
    const shape = board("hex", 5, 7);
    const [top, right, bottom, left] = (["top", "right", "bottom", "left"] as const).map((side) => hexSide(shape, side));
    const same = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y);
    expect(same(top!.at(-1)!, right![0]!)).toBeCloseTo(0);
    expect(same(right!.at(-1)!, bottom!.at(-1)!)).toBeCloseTo(0);
    expect(same(bottom![0]!, left!.at(-1)!)).toBeCloseTo(0);
    expect(same(left![0]!, top![0]!)).toBeCloseTo(0);
    for (const side of [top!, right!, bottom!, left!]) {
      side.slice(1).forEach((each, i) => expect(same(each, side[i]!)).toBeLessThan(0.58)); // along one edge, or none
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
