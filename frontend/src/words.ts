/** What the page says. Pure. */

import type { Hints, Opened, State } from "./protocol";
import type { Choice } from "./settings";

/** What is being played, in short: `Gomoku · Network gomoku-8x8`. */
export function choiceText({ game, opponent }: Choice): string {
  return `${game.title} · ${opponent.name}`;
}

/** Whose turn it is, or how the game ended. */
export function statusOf(opened: Opened, state: State): string {
  if (state.over) return state.result;
  const side = opened.sides[state.turn === 1 ? 0 : 1];
  if (state.thinking) return `${side} is thinking …`;
  if (opened.opponent === "human") return `${side} to move`;
  return state.yours ? `Your move: ${side}` : "Your opponent cannot go on";
}

/** The moves with their names. */
export function moveNames(opened: Opened, state: State): string[] {
  return state.played.map((action) => opened.names[action] ?? String(action));
}

/** What a field holds, for who cannot see it: `D4, empty`. */
export function fieldText(opened: Opened, state: State, point: number): string {
  const { board, names, sides } = opened;
  const column = point % board.columns;
  const name = board.style === "drop" ? `column ${column + 1}, row ${board.rows - Math.floor(point / board.columns)}` : names[point];
  const stone = state.stones[point];
  return `${name}, ${stone ? sides[stone === 1 ? 0 : 1] : "empty"}`;
}

/** The last move, told after the opponent made it: `Your opponent played D4.` */
export function lastMoveText(opened: Opened, state: State): string {
  const action = state.played.at(-1);
  if (action === undefined || !state.yours || opened.opponent === "human") return "";
  const name = opened.names[action] ?? String(action);
  if (name === "pass") return "Your opponent passed.";
  return `Your opponent played ${opened.board.style === "drop" ? `column ${name}` : name}.`;
}

/** The share of wins that a search sees for the player who begins, in [0, 1]. */
export function winShare(hints: Hints): number | null {
  return hints.value === null ? null : (1 + hints.value * hints.player) / 2;
}

/** `37%`. */
export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** The share of the player who begins in a game that is over. */
export function finalShare(state: State): number {
  return (1 + state.winner) / 2;
}
