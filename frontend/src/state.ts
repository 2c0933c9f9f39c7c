/** What a new state means for what is on the screen. Pure. */

import type { Opened, State, ToServer } from "./protocol";

export type Open = Extract<ToServer, { type: "open" }>;

/** Fields whose piece is new (it lands) or has changed sides (it turns), after a move; none after an undo or a new game. */
export function changes(before: State | null, after: State): { landed: Set<number>; turned: Set<number> } {
  const landed = new Set<number>();
  const turned = new Set<number>();
  if (before && after.played.length > before.played.length) {
    after.stones.forEach((stone, point) => {
      const was = before.stones[point];
      if (stone && !was) landed.add(point);
      else if (stone && stone !== was) turned.add(point);
    });
  }
  return { landed, turned };
}

const LETTERS = new Map<string, Command>([["u", "undo"], ["n", "new"], ["h", "hints"]]);
export type Command = "undo" | "new" | "hints" | "play" | "move";

/** What a key means on the page, or null. Letters mean the same with Shift or Caps Lock. */
export function commandOf(key: string): Command | null {
  if (key.startsWith("Arrow")) return "move";
  if (key === "Enter" || key === " ") return "play";
  return LETTERS.get(key.toLowerCase()) ?? null;
}

/** Is this the game that was asked for last, not one that the person has left meanwhile? */
export function answers(asked: Open, opened: Opened): boolean {
  return opened.game === asked.game && opened.opponent === asked.opponent && opened.begins === asked.begins;
}
