/** What the server and the page say to each other; see the server's app and room. */

export type Style = "points" | "cells" | "drop" | "hex";
export type Pieces = "stones" | "discs" | "marks";

export interface Level {
  label: string;
  spec: string;
}
export interface Opponent {
  name: string;
  about: string;
  usual: number;
  levels: Level[];
}
export interface Size {
  spec: string;
  label: string;
  goal: string;
  opponents: Opponent[];
}
export interface GameOffer {
  name: string;
  title: string;
  sides: [string, string];
  sizes: Size[];
}
export interface Catalogue {
  games: GameOffer[];
}

export interface BoardShape {
  rows: number;
  columns: number;
  style: Style;
  passes: boolean;
}
export interface Opened {
  type: "opened";
  game: string;
  name: string;
  title: string;
  goal: string;
  sides: [string, string];
  pieces: Pieces;
  board: BoardShape;
  names: string[];
  columns: string[];
  row_labels: string[];
  opponent: string;
  begins: "you" | "opponent";
  hints: boolean;
}
export interface State {
  type: "state";
  played: number[];
  stones: number[];
  actions: number[];
  last: number;
  turn: 1 | -1;
  yours: boolean;
  thinking: boolean;
  over: boolean;
  winner: number;
  line: number[];
  /** Of a counted game: whose each point is, and the stones that are dead. */
  owners: number[];
  dead: number[];
  result: string;
  undo: boolean;
}
export interface Hint {
  action: number;
  name: string;
  share: number;
  prior: number;
  value: number | null;
}
export interface Hints {
  type: "hints";
  ply: number;
  player: 1 | -1;
  moves: Hint[];
  value: number | null;
}
export interface Failure {
  type: "error";
  text: string;
}
export type FromServer = Opened | State | Hints | Failure;
export type ToServer =
  | { type: "open"; game: string; opponent: string; begins: "you" | "opponent"; moves: number[]; hints: boolean }
  | { type: "play"; action: number }
  | { type: "undo" }
  | { type: "new" }
  | { type: "hints"; on: boolean };
