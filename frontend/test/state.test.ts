import { describe, expect, it } from "vitest";
import type { State } from "../src/protocol";
import { changes, commandOf } from "../src/state";
import { finalShare } from "../src/words";

const state: State = {
  type: "state", played: [], stones: [0, 0, 0, 0], actions: [], last: -1, turn: 1, yours: true, thinking: false, over: false,
  winner: 0, line: [], result: "", undo: false,
};

describe("state", () => {
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
