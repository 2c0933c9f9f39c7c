import { describe, expect, it } from "vitest";
import type { Opened, State } from "../src/protocol";
import { fieldText, lastMoveText, moveNames, percent, statusOf, winShare } from "../src/words";

const opened: Opened = {
  type: "opened", game: "tictactoe", name: "tictactoe", title: "Tic-tac-toe", goal: "", sides: ["X", "O"], pieces: "marks",
  board: { rows: 3, columns: 3, style: "cells", passes: false }, names: ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"],
  columns: [], row_labels: [], opponent: "random", begins: "you", hints: false,
};
const state: State = {
  type: "state", played: [4, 0], stones: [], actions: [], last: 0, turn: 1, yours: true, thinking: false, over: false,
  winner: 0, line: [], owners: [], dead: [], result: "", undo: true,
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

  it("tells what a field holds", () => {
    const stones = [-1, 0, 0, 0, 1, 0, 0, 0, 0];
    expect(fieldText(opened, { ...state, stones }, 0)).toBe("a1, O");
    expect(fieldText(opened, { ...state, stones }, 4)).toBe("b2, X");
    expect(fieldText(opened, { ...state, stones }, 8)).toBe("c3, empty");
    const drop: Opened = { ...opened, names: ["1", "2"], board: { rows: 2, columns: 2, style: "drop", passes: false } };
    expect(fieldText(drop, { ...state, stones: [0, 0, 0, 1] }, 3)).toBe("column 2, row 1, X");
  });

  it("tells the opponent's move, not one's own", () => {
    expect(lastMoveText(opened, state)).toBe("Your opponent played a1.");
    expect(lastMoveText(opened, { ...state, yours: false })).toBe("");
    expect(lastMoveText({ ...opened, opponent: "human" }, state)).toBe("");
    expect(lastMoveText({ ...opened, names: ["pass"] }, { ...state, played: [0] })).toBe("Your opponent passed.");
    expect(lastMoveText(opened, { ...state, played: [] })).toBe("");
  });

  it("tells a value as the share of wins of the player who begins", () => {
    expect(winShare({ type: "hints", ply: 0, player: 1, moves: [], value: 0.5 })).toBe(0.75);
    expect(winShare({ type: "hints", ply: 1, player: -1, moves: [], value: 0.5 })).toBe(0.25);
    expect(winShare({ type: "hints", ply: 1, player: -1, moves: [], value: null })).toBeNull();
    expect(percent(0.254)).toBe("25%");
  });
});
