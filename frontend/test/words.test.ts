import { describe, expect, it } from "vitest";
import type { Opened, State } from "../src/protocol";
import { moveNames, percent, statusOf, winShare } from "../src/words";

const opened: Opened = {
  type: "opened", game: "tictactoe", name: "tictactoe", title: "Tic-tac-toe", goal: "", sides: ["X", "O"], pieces: "marks",
  board: { rows: 3, columns: 3, style: "cells", passes: false }, names: ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"],
  columns: [], row_labels: [], opponent: "random", begins: "you", hints: false,
};
const state: State = {
  type: "state", played: [4, 0], stones: [], actions: [], last: 0, turn: 1, yours: true, thinking: false, over: false,
  winner: 0, line: [], result: "", undo: true,
};

describe("words", () => {
  it("says whose turn it is", () => {
    expect(statusOf(opened, state)).toBe("Your move: X");
    expect(statusOf(opened, { ...state, turn: -1, yours: false, thinking: true })).toBe("O is thinking …");
    expect(statusOf({ ...opened, opponent: "human" }, { ...state, turn: -1 })).toBe("O to move");
    expect(statusOf(opened, { ...state, yours: false })).toBe("Your opponent cannot go on");
    expect(statusOf(opened, { ...state, over: true, result: "You win." })).toBe("You win.");
  });

  it("names the moves", () => {
    expect(moveNames(opened, state)).toEqual(["b2", "a1"]);
  });

  it("tells a value as the share of wins of the player who begins", () => {
    expect(winShare({ type: "hints", ply: 0, player: 1, moves: [], value: 0.5 })).toBe(0.75);
    expect(winShare({ type: "hints", ply: 1, player: -1, moves: [], value: 0.5 })).toBe(0.25);
    expect(winShare({ type: "hints", ply: 1, player: -1, moves: [], value: null })).toBeNull();
    expect(percent(0.254)).toBe("25%");
  });
});
