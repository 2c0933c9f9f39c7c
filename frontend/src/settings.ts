/** What a person chose: where it stands in what is on offer, and how the browser remembers it. */

import type { Catalogue, GameOffer, Level, Opponent, Size } from "./protocol";

export interface Settings {
  game: string;
  /** The size's spec. */
  size: string;
  /** The opponent's name; nothing stands for the first on offer, whoever that is on this board. */
  opponent: string;
  /** The level's label. */
  level: string;
  begins: "you" | "opponent";
  hints: boolean;
}
export interface Choice {
  game: GameOffer;
  size: Size;
  opponent: Opponent;
  level: Level;
}

const KEY = "goishi.settings";
/** What is wanted at a first visit: whatever comes first. */
export const USUAL: Settings = { game: "", size: "", opponent: "", level: "", begins: "you", hints: false };

/** What is on offer of what is wanted; the usual stands in for what is not, null where nothing is on offer. */
export function choose(catalogue: Catalogue, wanted: Settings): Choice | null {
  const game = catalogue.games.find(({ name }) => name === wanted.game) ?? catalogue.games[0];
  const size = game?.sizes.find(({ spec }) => spec === wanted.size) ?? game?.sizes[0];
  const opponent = size?.opponents.find(({ name }) => name === wanted.opponent) ?? size?.opponents[0];
  const levels = opponent?.levels ?? [];
  const level = levels.find(({ label }) => label === wanted.level) ?? levels[opponent?.usual ?? 0] ?? levels[0];
  return game && size && opponent && level ? { game, size, opponent, level } : null;
}

/** What was chosen last time, or null at a first visit. `storage` may throw, as it does where a browser forbids it. */
export function recall(storage: () => Storage): Settings | null {
  try {
    const kept: unknown = JSON.parse(storage().getItem(KEY) ?? "null");
    if (typeof kept !== "object" || kept === null) return null;
    const known = Object.entries(kept).filter(([key, value]) => typeof value === typeof USUAL[key as keyof Settings]);
    const settings: Settings = { ...USUAL, ...Object.fromEntries(known) };
    return { ...settings, begins: settings.begins === "opponent" ? "opponent" : "you" };
  } catch {
    return null;
  }
}

/** Keeps the settings for the next visit, where the browser allows it. */
export function remember(storage: () => Storage, settings: Settings): void {
  try {
    storage().setItem(KEY, JSON.stringify(settings));
  } catch {
    // The page works without.
  }
}
