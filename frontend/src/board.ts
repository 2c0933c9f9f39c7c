/**
 * The board as SVG, in four styles. Our own, because no kept widget draws all four: Go boards with stones on crossings,
 * squares, columns into which discs fall, and hexagons.
 */

import { actionAt, extent, hexagon, hexSide, inSvg, labelSize, landing, margins, spot, starPoints } from "./geometry";
import type { Spot } from "./geometry";
import type { BoardShape, Hints, Opened, Pieces, State } from "./protocol";
import { changes } from "./state";
import { fieldText, percent } from "./words";

/** A field narrower than this many pixels is aimed at before it is played. */
const FINGER = 30;
const NAMESPACE = "http://www.w3.org/2000/svg";
const LAYERS = ["ground", "legal", "ghost", "pieces", "rack", "marks", "hints", "cursor", "targets"] as const;
type Layer = (typeof LAYERS)[number];

function make(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

export class BoardView {
  private svg: SVGElement | null = null;
  private layers = {} as Record<Layer, SVGElement>;
  private fields: SVGElement[] = [];
  private opened: Opened | null = null;
  private state: State | null = null;
  private aimed = -1;

  constructor(
    private readonly home: HTMLElement,
    private readonly play: (action: number) => void,
    private readonly point: (point: number, aimed: boolean) => void,
  ) {}

  /** A new game: everything is drawn anew. */
  open(opened: Opened): void {
    this.opened = opened;
    this.state = null;
    const { board } = opened;
    const size = extent(board);
    this.svg = make("svg", {
      viewBox: `0 0 ${size.x.toFixed(3)} ${size.y.toFixed(3)}`,
      class: `board ${board.style} ${opened.pieces} ${opened.name}`,
      role: "group",
      "aria-label": `${opened.title}, ${board.columns} by ${board.rows}`,
    });
    this.svg.style.setProperty("--label", `${labelSize(board).toFixed(3)}px`);
    this.svg.style.setProperty("--most", `${Math.round(size.x * 8)}rem`);
    this.svg.append(make("defs", {}, shading("first"), shading("second")));
    for (const name of LAYERS) {
      this.layers[name] = make("g", { class: name });
      this.svg.append(this.layers[name]);
    }
    this.layers.ground.setAttribute("aria-hidden", "true");
    this.layers.ground.append(...ground(opened), ...labels(opened));
    if (board.style === "drop") this.layers.rack.append(rack(board));
    this.fields = Array.from({ length: board.rows * board.columns }, (_, point) => this.target(opened, point));
    this.layers.targets.append(...this.fields);
    this.home.replaceChildren(this.svg);
  }

  /** The pieces of a position; a new one falls where pieces fall. */
  show(state: State): void {
    const { opened } = this;
    if (!opened) return;
    const { board } = opened;
    const { landed, turned } = changes(this.state, state);
    this.state = state;
    this.aimed = -1;
    const pieces: SVGElement[] = [];
    const marks: SVGElement[] = [];
    state.stones.forEach((stone, point) => {
      if (!stone) return;
      const middle = spot(board, point);
      const lit = state.line.includes(point);
      const drawn = piece(opened.pieces, board, stone, middle);
      drawn.classList.toggle("fresh", landed.has(point));
      drawn.classList.toggle("turned", turned.has(point));
      drawn.classList.toggle("lit", lit);
      drawn.classList.toggle("dead", state.dead.includes(point));
      if (board.style === "drop") drawn.style.setProperty("--fall", `${-middle.y}px`);
      pieces.push(drawn);
      const last = point === state.last;
      if (lit || last) marks.push(...this.mark(opened, middle, stone, lit, last));
    });
    state.owners.forEach((owner, point) => {
      if (owner && (!state.stones[point] || state.dead.includes(point))) marks.push(territory(spot(board, point), owner));
    });
    this.layers.pieces.replaceChildren(...pieces);
    this.layers.marks.replaceChildren(...marks);
    const free = new Set(state.yours && !state.over ? state.actions : []);
    // Where few fields are free, they are shown.
    const shown = board.passes && board.style === "cells" ? [...free].filter((action) => landing(board, state.stones, action) >= 0) : [];
    this.layers.legal.replaceChildren(...shown.map((action) => disc(spot(board, action), 0.1, "dot")));
    this.fields.forEach((field, point) => {
      const open = free.has(actionAt(board, point));
      field.classList.toggle("free", open);
      field.setAttribute("aria-label", fieldText(opened, state, point));
      field.setAttribute("aria-disabled", String(!open));
    });
    this.showHints(null);
    this.showGhost(-1);
  }

  /** The favorite moves of a network, or none. */
  showHints(hints: Hints | null): void {
    const { opened, state } = this;
    if (!opened || !state) return;
    const drawn: SVGElement[] = [];
    const moves = hints && hints.ply === state.played.length ? hints.moves : [];
    const best = Math.max(...moves.map((move) => move.share), 0.01);
    for (const move of moves) {
      const point = landing(opened.board, state.stones, move.action);
      if (point < 0) continue;
      const middle = spot(opened.board, point);
      const text = percent(move.share);
      const hint = disc(middle, 0.39, "hint");
      hint.setAttribute("opacity", (0.45 + 0.4 * (move.share / best)).toFixed(2));
      drawn.push(hint, make("text", { ...middle, class: text.length > 3 ? "hint-text long" : "hint-text" }, text));
    }
    this.layers.hints.replaceChildren(...drawn);
  }

  /** The keyboard's cursor on a field, where `visible`; the field takes the focus then, unless a control has it. */
  showCursor(point: number, visible: boolean): void {
    const { opened, state } = this;
    if (!opened || !state) return;
    this.fields.forEach((field, each) => field.setAttribute("tabindex", each === point ? "0" : "-1"));
    this.showGhost(visible ? point : -1);
    if (!visible) return this.layers.cursor.replaceChildren();
    const { board } = opened;
    const place = landing(board, state.stones, actionAt(board, point));
    const middle = spot(board, place < 0 ? point : place);
    this.layers.cursor.replaceChildren(
      board.style === "hex" ? make("polygon", { points: hexagon(middle), class: "ring" }) : disc(middle, 0.47, "ring"),
    );
    const active = document.activeElement;
    if (!active || active === document.body || this.svg?.contains(active)) this.fields[point]?.focus({ preventScroll: true });
  }

  /** How the next piece would look on a field. */
  private showGhost(point: number): void {
    const { opened, state } = this;
    if (!opened || !state) return;
    const column = opened.board.style === "drop" && point >= 0 ? point % opened.board.columns : -1;
    this.fields.forEach((field, each) => field.classList.toggle("column", column === each % opened.board.columns));
    const place = point < 0 ? -1 : landing(opened.board, state.stones, actionAt(opened.board, point));
    const free = place >= 0 && this.fields[point]?.classList.contains("free");
    this.layers.ghost.replaceChildren(...(free ? [piece(opened.pieces, opened.board, state.turn, spot(opened.board, place))] : []));
  }

  /** What marks the last piece and those of a winning line. */
  private mark(opened: Opened, middle: Spot, stone: number, lit: boolean, last: boolean): SVGElement[] {
    const side = stone === 1 ? "first" : "second";
    if (opened.pieces === "marks") {
      const box = make("rect", { x: middle.x - 0.46, y: middle.y - 0.46, width: 0.92, height: 0.92, rx: 0.09 });
      box.setAttribute("class", lit ? "win" : "last-field");
      return [box];
    }
    const drawn = lit ? [disc(middle, opened.board.style === "hex" ? 0.4 : 0.43, "win")] : [];
    return last ? [...drawn, disc(middle, 0.11, `last ${side}`)] : drawn;
  }

  private target(opened: Opened, point: number): SVGElement {
    const middle = spot(opened.board, point);
    const shape =
      opened.board.style === "hex"
        ? make("polygon", { points: hexagon(middle) })
        : make("rect", { x: middle.x - 0.5, y: middle.y - 0.5, width: 1, height: 1 });
    shape.setAttribute("class", "target");
    shape.setAttribute("role", "button");
    shape.setAttribute("tabindex", "-1");
    shape.setAttribute("data-point", String(point));
    shape.addEventListener("click", (event) => {
      // A finger hits small fields only roughly: the first touch aims, the second on the same field plays.
      const touch = (event as PointerEvent).pointerType === "touch";
      const aims = touch && shape.getBoundingClientRect().width < FINGER && this.aimed !== point;
      this.aimed = aims && shape.classList.contains("free") ? point : -1;
      this.point(point, this.aimed >= 0);
      if (!aims) this.play(actionAt(opened.board, point));
    });
    shape.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.showGhost(point));
    shape.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.showGhost(-1));
    return shape;
  }
}

/** A piece alone, as a picture beside text. */
export function token(pieces: Pieces, stone: number): SVGElement {
  const svg = make("svg", { viewBox: "0 0 1 1", class: `token ${pieces}`, "aria-hidden": "true" });
  svg.append(piece(pieces, null, stone, { x: 0.5, y: 0.5 }));
  return svg;
}

function piece(pieces: Pieces, board: BoardShape | null, stone: number, { x, y }: Spot): SVGElement {
  const group = make("g", { class: `piece ${stone === 1 ? "first" : "second"}` });
  if (pieces === "marks") {
    group.append(
      stone === 1
        ? make("path", { d: `M${x - 0.25} ${y - 0.25}l.5 .5m0 -.5l-.5 .5`, class: "stroke" })
        : disc({ x, y }, 0.27, "stroke"),
    );
    return group;
  }
  const r = board?.style === "hex" ? 0.39 : board?.style === "cells" ? 0.4 : 0.45;
  if (board && board.style !== "drop") group.append(disc({ x: x + 0.015, y: y + 0.045 }, r, "shadow"));
  group.append(disc({ x, y }, r, "body"));
  // Not by color alone: the second player's discs wear a ring.
  if (pieces === "discs" && stone === -1) group.append(disc({ x, y }, 0.26, "rim"));
  return group;
}

/** A point that a side has surrounded. */
function territory({ x, y }: Spot, owner: number): SVGElement {
  const side = owner === 1 ? "first" : "second";
  return make("rect", { x: x - 0.13, y: y - 0.13, width: 0.26, height: 0.26, rx: 0.03, class: `territory ${side}` });
}

function disc({ x, y }: Spot, r: number, name: string): SVGElement {
  return make("circle", { cx: x, cy: y, r, class: name });
}

function shading(side: "first" | "second"): SVGElement {
  return make(
    "radialGradient",
    { id: side, cx: 0.36, cy: 0.3, r: 0.85 },
    make("stop", { offset: 0, class: "light" }),
    make("stop", { offset: 1, class: "dark" }),
  );
}

function ground(opened: Opened): SVGElement[] {
  const { board } = opened;
  const size = extent(board);
  const { left, top } = margins(board);
  const points = Array.from({ length: board.rows * board.columns }, (_, point) => point);
  if (board.style === "points") {
    const box = { x: 0.04, y: 0.04, width: size.x - 0.08, height: size.y - 0.08, rx: 0.16 };
    return [make("rect", { ...box, class: "wood" }), ...crossings(board)];
  }
  if (board.style === "hex") {
    const cells = points.map((point) => make("polygon", { points: hexagon(spot(board, point)), class: "cell" }));
    return [...hexEdges(board), ...cells];
  }
  const box = { x: left - 0.1, y: top - 0.1, width: board.columns + 0.2, height: board.rows + 0.2, rx: 0.16 };
  if (board.style === "drop") return [make("rect", { ...box, class: "behind" })];
  const cells = points.map((point) => {
    const { x, y } = spot(board, point);
    return make("rect", { x: x - 0.485, y: y - 0.485, width: 0.97, height: 0.97, rx: 0.05, class: "cell" });
  });
  return [make("rect", { ...box, class: "tray" }), ...cells];
}

function labels(opened: Opened): SVGElement[] {
  const { board } = opened;
  const { top } = margins(board);
  const label = labelSize(board);
  const above = board.style === "points" ? 0.32 : top - (board.style === "hex" ? 0.28 : 0.16) - 0.55 * label;
  const across = opened.columns.map((text, column) => {
    const { x } = spot(board, column);
    return make("text", { x, y: above, class: "label" }, text);
  });
  const down = opened.row_labels.map((text, row) => {
    const { x, y } = spot(board, row * board.columns);
    const beside = board.style === "points" ? 0.3 : board.style === "hex" ? x - 0.66 - label : x - 0.66 - 0.55 * label;
    return make("text", { x: beside, y, class: "label" }, text);
  });
  return [...across, ...down];
}

function crossings(board: BoardShape): SVGElement[] {
  const first = spot(board, 0);
  const last = spot(board, board.rows * board.columns - 1);
  const lines: SVGElement[] = [];
  for (let column = 0; column < board.columns; column++) {
    const { x } = spot(board, column);
    lines.push(make("line", { x1: x, x2: x, y1: first.y, y2: last.y, class: "grid" }));
  }
  for (let row = 0; row < board.rows; row++) {
    const { y } = spot(board, row * board.columns);
    lines.push(make("line", { x1: first.x, x2: last.x, y1: y, y2: y, class: "grid" }));
  }
  return [...lines, ...starPoints(board).map((point) => disc(spot(board, point), 0.075, "star"))];
}

/** The front of the rack: a plate with holes, before which nothing falls. */
function rack(board: BoardShape): SVGElement {
  const { left, top } = margins(board);
  const [width, height, r] = [board.columns + 0.2, board.rows + 0.2, 0.16];
  const plate = `M${left - 0.1 + r} ${top - 0.1}h${width - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${height - 2 * r}a${r} ${r} 0 0 1 ${-r} ${r}h${2 * r - width}a${r} ${r} 0 0 1 ${-r} ${-r}v${2 * r - height}a${r} ${r} 0 0 1 ${r} ${-r}z`;
  const holes: string[] = [];
  const rims: SVGElement[] = [];
  for (let point = 0; point < board.rows * board.columns; point++) {
    const { x, y } = spot(board, point);
    holes.push(`M${x - 0.4} ${y}a.4 .4 0 1 0 .8 0a.4 .4 0 1 0 -.8 0z`);
    rims.push(disc({ x, y }, 0.4, "hole"));
  }
  return make("g", {}, make("path", { d: plate + holes.join(""), "fill-rule": "evenodd", class: "plate" }), ...rims);
}

/** The sides that the players join: bands along the outer hexagons, which cover their inner half. */
function hexEdges(board: BoardShape): SVGElement[] {
  const band = (side: "top" | "bottom" | "left" | "right", name: string) =>
    make("polyline", { points: inSvg(hexSide(board, side)), class: `edge ${name}` });
  return [band("left", "second"), band("right", "second"), band("top", "first"), band("bottom", "first")];
}
