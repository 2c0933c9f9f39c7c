/** The page: settings, the board, and what the keys do. */

import { BoardView } from "./board";
import { Connection } from "./connection";
import { actionAt, step } from "./geometry";
import type { Catalogue, FromServer, GameOffer, Hints, Opened, Opponent, Size, State } from "./protocol";
import "./style.css";
import { fieldText, lastMoveText, moveNames, percent, statusOf, winShare } from "./words";

function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page lacks #${id}`);
  return element as T;
}

const game = find<HTMLSelectElement>("game");
const size = find<HTMLSelectElement>("size");
const opponent = find<HTMLSelectElement>("opponent");
const levels = find("levels").querySelector<HTMLElement>(".choices")!;
let catalogue: Catalogue = { games: [] };
let opened: Opened | null = null;
let state: State | null = null;
let hintsOn = false;
let cursor = -1;
let sent: State | null = null; // where a move was made that is not answered yet

const view = new BoardView(find("board"), play, aim);
const scheme = location.protocol === "https:" ? "wss" : "ws";
const connection = new Connection(`${scheme}://${location.host}/play`, receive, () => opening(state?.played ?? []), notice);

function notice(text: string): void {
  find("notice").textContent = text;
}

function offer(): { game: GameOffer; size: Size; opponent: Opponent } | null {
  const chosen = catalogue.games[game.selectedIndex];
  const board = chosen?.sizes[size.selectedIndex];
  const other = board?.opponents[opponent.selectedIndex];
  return chosen && board && other ? { game: chosen, size: board, opponent: other } : null;
}

function fill(select: HTMLSelectElement, labels: string[]): void {
  select.replaceChildren(...labels.map((label) => new Option(label)));
  select.selectedIndex = 0;
}

function fillSizes(): void {
  fill(size, catalogue.games[game.selectedIndex]?.sizes.map((each) => each.label) ?? []);
  fillOpponents();
}

function fillOpponents(): void {
  const board = catalogue.games[game.selectedIndex]?.sizes[size.selectedIndex];
  fill(opponent, board?.opponents.map((each) => each.name) ?? []);
  fillLevels();
}

function fillLevels(): void {
  const chosen = offer();
  if (!chosen) return;
  find("about").textContent = chosen.opponent.about;
  find("levels").hidden = chosen.opponent.levels.length < 2;
  levels.replaceChildren(
    ...chosen.opponent.levels.map((level, index) => {
      const input = document.createElement("input");
      input.type = "radio";
      input.name = "level";
      input.value = level.spec;
      input.checked = index === chosen.opponent.usual || chosen.opponent.levels.length === 1;
      const text = document.createElement("span");
      text.textContent = level.label;
      const label = document.createElement("label");
      label.append(input, text);
      return label;
    }),
  );
}

function checked(name: string): string {
  return document.querySelector<HTMLInputElement>(`input[name=${name}]:checked`)?.value ?? "";
}

function opening(moves: number[]) {
  const chosen = offer();
  if (!chosen) return null;
  const begins = checked("begins") === "opponent" ? ("opponent" as const) : ("you" as const);
  return { type: "open" as const, game: chosen.size.spec, opponent: checked("level"), begins, moves, hints: hintsOn };
}

function startGame(): void {
  const message = opening([]);
  state = null;
  find("board").ariaBusy = "true";
  if (message) connection.send(message);
}

function play(action: number): void {
  if (state?.yours && state !== sent && state.actions.includes(action)) {
    sent = state;
    notice("");
    connection.send({ type: "play", action });
  }
}

function setHints(on: boolean): void {
  hintsOn = on;
  find("hints").setAttribute("aria-pressed", String(on));
  if (!on) showHints(null);
  connection.send({ type: "hints", on });
}

function showHints(hints: Hints | null): void {
  view.showHints(hints);
  const share = hints && winShare(hints);
  find("bar").hidden = share === null;
  if (share !== null && opened) {
    find("bar-fill").style.width = percent(share);
    find("bar-text").textContent = `${opened.sides[0]} ${percent(share)} · ${opened.sides[1]} ${percent(1 - share)}`;
  }
}

function aim(point: number, aimed: boolean): void {
  moveCursor(point, aimed);
  if (aimed && opened) notice(`Touch ${opened.names[actionAt(opened.board, point)]} again to play there.`);
}

function moveCursor(point: number, visible: boolean): void {
  cursor = point;
  view.showCursor(point, visible);
  if (visible && opened && state) find("spoken").textContent = fieldText(opened, state, point);
}

function receive(message: FromServer): void {
  if (message.type === "error") {
    sent = null;
    return notice(message.text);
  }
  if (message.type === "hints") return showHints(message);
  if (message.type === "opened") {
    opened = message;
    view.open(message);
    cursor = Math.floor(message.board.rows / 2) * message.board.columns + Math.floor(message.board.columns / 2);
    find("goal").textContent = `${message.title}. ${message.goal}`;
    find("pass").hidden = !message.board.passes;
    document.title = `Goishi: ${message.title}`;
    return;
  }
  if (!opened) return;
  const first = state === null;
  state = message;
  view.show(message);
  find("board").ariaBusy = "false";
  if (!first) view.showCursor(cursor, false);
  showHints(null);
  find("status").textContent = statusOf(opened, message);
  find("spoken").textContent = lastMoveText(opened, message);
  find("status").className = message.over ? "over" : message.thinking ? "thinking" : "";
  find<HTMLButtonElement>("undo").disabled = !message.undo;
  const pass = opened.names.indexOf("pass");
  find<HTMLButtonElement>("pass").disabled = !(message.yours && message.actions.includes(pass));
  const list = find("moves");
  list.replaceChildren(
    ...moveNames(opened, message).map((name) => {
      const item = document.createElement("li");
      item.textContent = name;
      return item;
    }),
  );
  list.scrollTop = list.scrollHeight;
}

document.addEventListener("keydown", (event) => {
  const at = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || at.closest("select, input, summary")) return;
  if (event.key.startsWith("Arrow") && opened) {
    event.preventDefault();
    moveCursor(step(opened.board, cursor, event.key), true);
  } else if (event.key === "Enter" && opened && !at.closest("button")) {
    play(actionAt(opened.board, cursor));
  } else if (event.key.toLowerCase() === "u") connection.send({ type: "undo" });
  else if (event.key.toLowerCase() === "n") startGame();
  else if (event.key.toLowerCase() === "h") setHints(!hintsOn);
});

find("undo").addEventListener("click", () => connection.send({ type: "undo" }));
find("new").addEventListener("click", startGame);
find("hints").addEventListener("click", () => setHints(!hintsOn));
find("pass").addEventListener("click", () => opened && play(opened.names.indexOf("pass")));
game.addEventListener("change", fillSizes);
size.addEventListener("change", fillOpponents);
opponent.addEventListener("change", fillLevels);
find("settings").addEventListener("change", startGame);
find("settings").addEventListener("submit", (event) => event.preventDefault());

window.addEventListener("goishi-drop", () => connection.drop()); // for a test of what a lost connection does

async function begin(): Promise<void> {
  const answer = await fetch("api/catalogue");
  catalogue = (await answer.json()) as Catalogue;
  fill(
    game,
    catalogue.games.map((each) => each.title),
  );
  fillSizes();
  startGame();
}

begin().catch(() => notice("The server does not answer; is it still running? Reload the page then."));
