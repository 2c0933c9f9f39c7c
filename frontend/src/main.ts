/** The page: settings, the board, and what the keys do. */

import { BoardView, token } from "./board";
import { Connection } from "./connection";
import { actionAt, step } from "./geometry";
import type { Catalogue, FromServer, Hints, Opened, State } from "./protocol";
import { choose, recall, remember, USUAL } from "./settings";
import type { Choice, Settings } from "./settings";
import { answers, commandOf } from "./state";
import type { Open } from "./state";
import "./style.css";
import { choiceText, finalShare, lastMoveText, moveNames, percent, statusOf, winShare } from "./words";

function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page lacks #${id}`);
  return element as T;
}

const game = find<HTMLSelectElement>("game");
const size = find<HTMLSelectElement>("size");
const opponent = find<HTMLSelectElement>("opponent");
const levels = find("levels").querySelector<HTMLElement>(".choices")!;
const fold = find<HTMLDetailsElement>("fold");
const narrow = window.matchMedia("(max-width: 52rem)"); // as in the style sheet
const storage = () => window.localStorage;
const remembered = recall(storage);
let wanted: Settings = remembered ?? USUAL;
let choice: Choice | null = null; // what is on offer of what is wanted
let catalogue: Catalogue = { games: [] };
let opened: Opened | null = null;
let state: State | null = null;
let asked: Open | null = null; // the game that was opened last ...
let current = false; // ... and whether what comes now is about it
let cursor = -1;
let keyboard = false; // the cursor shows while a person plays by keys
let sent: State | null = null; // where a move was made that is not answered yet

/** Milliseconds after which a person should hear why nothing comes. */
const SLOW = 500;
const view = new BoardView(find("board"), play, aim);
const scheme = location.protocol === "https:" ? "wss" : "ws";
const connection = new Connection(`${scheme}://${location.host}/play`, receive, () => opening(state?.played ?? []), (lost) => {
  notice(lost ? "The connection is lost; your game is kept, trying again …" : "Connected again; your game goes on.");
  if (!lost) setTimeout(() => find("notice").textContent?.startsWith("Connected") && notice(""), 4000);
});

function notice(text: string): void {
  find("notice").textContent = text;
}

function fill(select: HTMLSelectElement, labels: string[], chosen: number): void {
  select.replaceChildren(...labels.map((label) => new Option(label)));
  select.selectedIndex = chosen;
  select.disabled = labels.length < 2;
}

/** Shows what is on offer, with what is wanted chosen wherever it is among that. */
function showSettings(): void {
  const before = choice;
  choice = choose(catalogue, wanted);
  if (!choice) return;
  const { opponents } = choice.size;
  const { games } = catalogue;
  const { sizes } = choice.game;
  fill(game, games.map(({ title }) => title), games.indexOf(choice.game));
  fill(size, sizes.map(({ label }) => label), sizes.indexOf(choice.size));
  fill(opponent, opponents.map(({ name }) => name), opponents.indexOf(choice.opponent));
  find("about").textContent = choice.opponent.about;
  find("levels").hidden = choice.opponent.levels.length < 2;
  find("begins").hidden = choice.level.spec === "human";
  find("choice").textContent = choiceText(choice);
  if (choice.opponent === before?.opponent) return; // the level that was just chosen keeps the focus
  const { label: chosen } = choice.level;
  levels.replaceChildren(...choice.opponent.levels.map(({ label }) => radio(label, label === chosen)));
}

function radio(label: string, chosen: boolean): HTMLElement {
  const input = document.createElement("input");
  Object.assign(input, { type: "radio", name: "level", value: label, checked: chosen });
  const text = document.createElement("span");
  text.textContent = label;
  const whole = document.createElement("label");
  whole.append(input, text);
  return whole;
}

/** Takes over what a person changed in the settings, and begins that game. */
function changeSettings(): void {
  const chosen = catalogue.games[game.selectedIndex];
  want({
    game: chosen?.name ?? "",
    size: (chosen === choice?.game && chosen?.sizes[size.selectedIndex]?.spec) || "",
    opponent: opponent.selectedIndex > 0 ? opponent.value : "",
    level: checked("level"),
    begins: checked("begins") === "opponent" ? "opponent" : "you",
  });
  showSettings();
  startGame();
}

function want(more: Partial<Settings>): void {
  wanted = { ...wanted, ...more };
  remember(storage, wanted);
}

function checked(name: string): string {
  return document.querySelector<HTMLInputElement>(`input[name=${name}]:checked`)?.value ?? "";
}

function opening(moves: number[]): Open | null {
  if (!choice) return null;
  const { begins, hints } = wanted;
  return { type: "open", game: choice.size.spec, opponent: choice.level.spec, begins, moves, hints };
}

function startGame(): void {
  const message = opening([]);
  state = null;
  asked = message;
  current = false;
  notice("");
  find("board").ariaBusy = "true";
  if (message) connection.send(message);
  setTimeout(() => asked === message && !current && showWait(), SLOW);
}

/** A game on a board that was never played here takes the server a while. */
function showWait(): void {
  const status = find("status");
  status.className = "thinking";
  status.textContent = "Preparing the board …";
}

function play(action: number): void {
  if (state?.yours && state !== sent && state.actions.includes(action)) {
    sent = state;
    notice("");
    fold.open = !narrow.matches; // the board comes first
    connection.send({ type: "play", action });
  }
}

function undo(): void {
  if (state?.undo) connection.send({ type: "undo" });
}

function setHints(on: boolean): void {
  want({ hints: on });
  showHintsButton();
  view.showHints(null);
  showShare(state?.over ? finalShare(state) : null);
  connection.send({ type: "hints", on });
}

function showHintsButton(): void {
  find("hints").setAttribute("aria-pressed", String(wanted.hints));
}

/** Who is ahead: the share of the player who begins. The bar stays while hints are on, so that nothing jumps. */
function showShare(share: number | null): void {
  const bar = find("bar");
  bar.hidden = !wanted.hints;
  bar.classList.toggle("stale", share === null);
  if (share === null || !opened) return;
  find("bar-fill").style.width = percent(share);
  find("bar-first").textContent = `${opened.sides[0]} ${percent(share)}`;
  find("bar-second").textContent = `${percent(1 - share)} ${opened.sides[1]}`;
}

function showHints(hints: Hints): void {
  if (!wanted.hints || hints.ply !== state?.played.length) return;
  view.showHints(hints);
  showShare(winShare(hints));
}

function aim(point: number, aimed: boolean): void {
  keyboard = false;
  moveCursor(point, aimed);
  if (aimed && opened) notice(`Touch ${opened.names[actionAt(opened.board, point)]} again to play there.`);
}

function moveCursor(point: number, visible: boolean): void {
  cursor = point;
  view.showCursor(point, visible);
}

function receive(message: FromServer): void {
  if (message.type === "error") {
    sent = null;
    return notice(message.text);
  }
  if (message.type === "opened") current = asked !== null && answers(asked, message);
  if (!current) return;
  if (message.type === "hints") showHints(message);
  else if (message.type === "opened") showGame(message);
  else showState(message);
}

function showGame(message: Opened): void {
  const other = opened?.game !== message.game;
  opened = message;
  view.open(message);
  const { rows, columns, passes } = message.board;
  if (other) cursor = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
  find("goal").textContent = message.goal;
  find("pass").hidden = !passes;
  find("table").className = `${message.pieces} ${message.name}`;
  find("bar-first").textContent = message.sides[0];
  find("bar-second").textContent = message.sides[1];
  find("bar-fill").style.width = "50%";
  document.title = `${message.title} · Goishi`;
}

function showState(message: State): void {
  if (!opened) return;
  state = message;
  find("board").ariaBusy = "false";
  view.show(message);
  moveCursor(cursor, keyboard);
  showShare(message.over ? finalShare(message) : null);
  const status = find("status");
  status.className = message.over ? "over" : message.thinking ? "thinking" : "";
  const shown = message.over ? message.winner : message.turn;
  status.replaceChildren(...(shown ? [token(opened.pieces, shown)] : []), statusOf(opened, message));
  find("spoken").textContent = lastMoveText(opened, message);
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
  const command = commandOf(event.key);
  if (!command || !opened || event.ctrlKey || event.metaKey || event.altKey || at.closest("select")) return;
  if (command === "move") {
    if (at.closest("input, summary")) return;
    event.preventDefault();
    keyboard = true;
    (document.activeElement as HTMLElement | null)?.blur();
    moveCursor(step(opened.board, cursor, event.key), true);
    return;
  }
  if (event.repeat) return;
  if (command === "play") {
    if (at.closest("button, input, summary") || (event.key === " " && !at.closest(".target"))) return;
    event.preventDefault();
    keyboard = true;
    play(actionAt(opened.board, cursor));
  } else if (command === "undo") undo();
  else if (command === "new") startGame();
  else setHints(!wanted.hints);
});

find("undo").addEventListener("click", undo);
find("new").addEventListener("click", startGame);
find("hints").addEventListener("click", () => setHints(!wanted.hints));
find("pass").addEventListener("click", () => opened && play(opened.names.indexOf("pass")));
find("settings").addEventListener("change", changeSettings);
find("settings").addEventListener("submit", (event) => event.preventDefault());

narrow.addEventListener("change", () => (fold.open = true));
window.addEventListener("online", () => connection.connect());
document.addEventListener("visibilitychange", () => document.hidden || connection.connect());

async function begin(): Promise<void> {
  const answer = await fetch("api/catalogue");
  if (!answer.ok) throw new Error(answer.statusText);
  catalogue = (await answer.json()) as Catalogue;
  showSettings();
  showHintsButton();
  find<HTMLInputElement>(wanted.begins === "you" ? "begins-you" : "begins-opponent").checked = true;
  fold.open = !(narrow.matches && remembered);
  startGame();
}

begin().catch(() => notice("The server does not answer; is it still running? Reload the page then."));
