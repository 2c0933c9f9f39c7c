import { describe, expect, it } from "vitest";
import type { Opened, State } from "../src/protocol";
import { answers, changes, commandOf } from "../src/state";
import type { Open } from "../src/state";
import { finalShare } from "../src/words";

const state: State = {
  type: "state", played: [], stones: [0, 0, 0, 0], actions: [], last: -1, turn: 1, yours: true, thinking: false, over: false,
  winner: 0, line: [], owners: [], dead: [], result: "", undo: false,
};

describe("state", () => {
  it("tells the game asked for last from one that was left meanwhile", () => {
    const asked: Open = { type: "open", game: "hex:size=5", opponent: "human", begins: "you", moves: [], hints: false };
    const opened = { ...asked, type: "opened" } as unknown as Opened;
    expect(answers(asked, opened)).toBe(true);
    expect(answers(asked, { ...opened, game: "hex:size=7" })).toBe(false);
    expect(answers(asked, { ...opened, opponent: "random" })).toBe(false);
    expect(answers(asked, { ...opened, begins: "opponent" })).toBe(false);
  });

  it("lets new pieces land and others turn after a move", () => {
    const before = { ...state, played: [0, 1], stones: [1, -1, 0, 0] };
    const after = { ...state, played: [0, 1, 2], stones: [1, 1, 1, 0] };
    expect(changes(before, after)).toEqual({ landed: new Set([2]), turned: new Set([1]) });
  });

  it("moves nothing on a game's first sight, nor when moves are taken back", () => {
    const nothing = { landed: new Set(), turned: new Set() };
    expect(changes(null, { ...state, played: [0], stones: [1, 0, 0, 0] })).toEqual(nothing);
    expect(changes({ ...state, played: [0, 1], stones: [1, -1, 0, 0] }, { ...state, played: [0], stones: [1, 0, 0, 0] })).toEqual(nothing);
  });

  it("knows the keys, with Caps Lock too, and leaves all others alone", () => {
    expect(["ArrowLeft", "ArrowUp", "Enter", " ", "u", "N", "H"].map(commandOf)).toEqual(["move", "move", "play", "play", "undo", "new", "hints"]);
    for (const key of ["a", "Tab", "Escape", "", "toString", "1"]) expect(commandOf(key)).toBeNull();
  });

  it("gives a finished game to its winner", () => {
    expect([1, 0, -1].map((winner) => finalShare({ ...state, over: true, winner }))).toEqual([1, 0.5, 0]);
  });
});
