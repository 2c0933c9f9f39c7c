/**
 * The board as SVG, in four styles. Our own, because no kept widget draws all four: Go boards with stones on crossings,
 * squares, columns into which discs fall, and hexagons.
 */

import { actionAt, extent, hexagon, HEX, landing, MARGIN, spot, starPoints } from "./geometry";
import type { Hints, Opened, State } from "./protocol";
import { fieldText, percent } from "./words";

/** A field narrower than this many pixels is aimed at before it is played. */
const FINGER = 30;
const NAMESPACE = "http://www.w3.org/2000/svg";

function make(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

export class BoardView {
  private svg: SVGElement | null = null;
  private layers: Record<string, SVGElement> = {};
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
    const size = extent(opened.board);
    this.svg = make("svg", {
      viewBox: `0 0 ${size.x.toFixed(2)} ${size.y.toFixed(2)}`,
      class: `board ${opened.board.style} ${opened.pieces} ${opened.name}`,
      role: "group",
      "aria-label": `${opened.title}, ${opened.board.columns} by ${opened.board.rows}`,
      style: `--label: ${Math.min(0.36, 0.034 * size.x).toFixed(3)}px`, // as large on every board
    });
    this.svg.append(
      make(
        "defs",
        {},
        gradient("black", "#75797e", "#0c0d0f"),
        gradient("white", "#ffffff", "#cfccc4"),
        gradient("red", "#f0816f", "#c2382a"),
        gradient("yellow", "#fbe08a", "#e0a81e"),
        gradient("blue", "#7fb0ef", "#2a61b8"),
      ),
    );
    this.svg.append(this.ground(opened));
    for (const name of ["legal", "hints", "pieces", "cursor", "targets"]) {
      const layer = make("g", { class: name });
      this.layers[name] = layer;
      this.svg.append(layer);
    }
    this.fields = [];
    for (let point = 0; point < opened.board.rows * opened.board.columns; point++) {
      const field = this.target(opened, point);
      this.fields.push(field);
      this.layers["targets"]!.append(field);
    }
    this.home.replaceChildren(this.svg);
  }

  /** The pieces of a position; the new one falls where pieces fall. */
  show(state: State): void {
    const opened = this.opened;
    if (!opened) return;
    const before = this.state;
    this.state = state;
    const pieces = this.layers["pieces"]!;
    pieces.replaceChildren();
    state.stones.forEach((stone, point) => {
      if (!stone) return;
      const fresh = point === state.last && before !== null && before.played.length < state.played.length;
      pieces.append(this.piece(opened, point, stone, fresh, state.line.includes(point), point === state.last));
    });
    this.aimed = -1;
    const legal = new Set(state.actions);
    const marks = opened.board.passes && state.yours ? state.actions.filter((a) => landing(opened.board, state.stones, a) >= 0) : [];
    this.layers["legal"]!.replaceChildren(
      ...marks.map((action) => {
        const { x, y } = spot(opened.board, action);
        return make("circle", { cx: x, cy: y, r: 0.1 });
      }),
    );
    this.fields.forEach((field, point) => {
      const action = actionAt(opened.board, point);
      const free = state.yours && legal.has(action) && !state.over;
      field.classList.toggle("free", free);
      field.setAttribute("aria-label", fieldText(opened, state, point));
      field.setAttribute("aria-disabled", String(!free));
    });
    this.showHints(null);
    this.svg?.classList.toggle("over", state.over);
    this.svg?.setAttribute("data-turn", state.turn === 1 ? "first" : "second");
  }

  /** The favorite moves of a network, or none. */
  showHints(hints: Hints | null): void {
    const layer = this.layers["hints"];
    const { opened, state } = this;
    if (!layer || !opened || !state) return;
    layer.replaceChildren();
    if (!hints || hints.ply !== state.played.length) return;
    const best = Math.max(...hints.moves.map((move) => move.share), 0.01);
    for (const move of hints.moves) {
      const point = landing(opened.board, state.stones, move.action);
      if (point < 0) continue;
      const { x, y } = spot(opened.board, point);
      const strength = 0.25 + 0.6 * (move.share / best);
      layer.append(
        make("circle", { cx: x, cy: y, r: 0.4, class: "hint", opacity: strength.toFixed(2) }),
        make("text", { x, y: y + 0.01, class: "hint-text" }, percent(move.share)),
      );
    }
  }

  /** The keyboard's cursor on a field. */
  showCursor(point: number, visible: boolean): void {
    const layer = this.layers["cursor"];
    if (!layer || !this.opened) return;
    layer.replaceChildren();
    if (!visible) return;
    const { x, y } = spot(this.opened.board, point);
    layer.append(make("circle", { cx: x, cy: y, r: 0.46, class: "cursor-ring" }));
  }

  private target(opened: Opened, point: number): SVGElement {
    const { x, y } = spot(opened.board, point);
    const shape =
      opened.board.style === "hex"
        ? make("polygon", { points: hexagon({ x, y }) })
        : make("rect", { x: x - 0.5, y: y - 0.5, width: 1, height: 1 });
    shape.setAttribute("class", "target");
    shape.setAttribute("role", "button");
    shape.setAttribute("data-point", String(point));
    shape.setAttribute("data-column", String(point % opened.board.columns));
    shape.addEventListener("click", (event) => {
      // A finger hits small fields only roughly: the first touch aims, the second on the same field plays.
      const touch = (event as PointerEvent).pointerType === "touch";
      const aims = touch && shape.getBoundingClientRect().width < FINGER && this.aimed !== point;
      const free = shape.classList.contains("free");
      this.aimed = aims && free ? point : -1;
      this.point(point, this.aimed >= 0);
      if (!aims) this.play(actionAt(opened.board, point));
    });
    if (opened.board.style === "drop") {
      const column = point % opened.board.columns;
      const light = (on: boolean) => () =>
        this.fields.forEach((field, p) => field.classList.toggle("column", on && p % opened.board.columns === column));
      shape.addEventListener("pointerenter", light(true));
      shape.addEventListener("pointerleave", light(false));
    }
    return shape;
  }

  private piece(opened: Opened, point: number, stone: number, fresh: boolean, lit: boolean, last: boolean): SVGElement {
    const { x, y } = spot(opened.board, point);
    const side = stone === 1 ? "first" : "second";
    const group = make("g", { class: `piece ${side}${lit ? " lit" : ""}${fresh ? " fresh" : ""}${last ? " last" : ""}` });
    if (opened.pieces === "marks") {
      if (stone === 1) {
        group.append(make("path", { d: `M${x - 0.26} ${y - 0.26}l.52 .52m0 -.52l-.52 .52`, class: "mark" }));
      } else {
        group.append(make("circle", { cx: x, cy: y, r: 0.28, class: "mark" }));
      }
      return group;
    }
    const r = opened.board.style === "hex" ? 0.38 : opened.board.style === "cells" ? 0.41 : 0.455;
    if (opened.board.style !== "drop") group.append(make("ellipse", { cx: x + 0.02, cy: y + 0.06, rx: r, ry: r, class: "shadow" }));
    group.append(make("circle", { cx: x, cy: y, r: opened.board.style === "drop" ? 0.4 : r, class: "body" }));
    // Not by color alone: the second player's discs wear a ring.
    if (opened.pieces === "discs" && stone === -1) group.append(make("circle", { cx: x, cy: y, r: 0.26, class: "ring" }));
    if (last || lit) group.append(make("circle", { cx: x, cy: y, r: lit ? 0.16 : 0.12, class: "dot" }));
    if (fresh && opened.board.style === "drop") group.setAttribute("style", `--fall:${-(y - MARGIN + 0.5)}px`);
    return group;
  }

  private ground(opened: Opened): SVGElement {
    const { board } = opened;
    const size = extent(board);
    const ground = make("g", { class: "ground", "aria-hidden": "true" });
    if (board.style === "hex") {
      ground.append(hexEdges(board));
      for (let point = 0; point < board.rows * board.columns; point++) {
        ground.append(make("polygon", { points: hexagon(spot(board, point)), class: "cell" }));
      }
    } else {
      ground.append(
        board.style === "points"
          ? make("rect", { x: 0.08, y: 0.08, width: size.x - 0.16, height: size.y - 0.16, rx: 0.22, class: "wood" })
          : make("rect", {
              x: MARGIN - 0.14,
              y: MARGIN - 0.14,
              width: board.columns + 0.28,
              height: board.rows + 0.28,
              rx: 0.22,
              class: "wood",
            }),
      );
      if (board.style === "points") ground.append(...crossings(opened));
      else {
        for (let point = 0; point < board.rows * board.columns; point++) {
          const { x, y } = spot(board, point);
          ground.append(
            board.style === "drop"
              ? make("circle", { cx: x, cy: y, r: 0.41, class: "hole" })
              : make("rect", { x: x - 0.48, y: y - 0.48, width: 0.96, height: 0.96, rx: 0.06, class: "cell" }),
          );
        }
      }
    }
    opened.columns.forEach((label, column) => {
      const { x } = spot(board, column);
      ground.append(make("text", { x, y: board.style === "points" ? 0.5 : 0.42, class: "label" }, label));
    });
    opened.row_labels.forEach((label, row) => {
      const { x, y } = spot(board, row * board.columns);
      const left = board.style === "points" ? 0.42 : board.style === "hex" ? x - 0.95 : 0.34;
      ground.append(make("text", { x: left, y, class: "label" }, label));
    });
    return ground;
  }
}

function gradient(id: string, light: string, dark: string): SVGElement {
  return make(
    "radialGradient",
    { id, cx: 0.36, cy: 0.3, r: 0.85 },
    make("stop", { offset: 0, "stop-color": light }),
    make("stop", { offset: 1, "stop-color": dark }),
  );
}

function crossings(opened: Opened): SVGElement[] {
  const { board } = opened;
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
  return lines.concat(
    starPoints(board).map((point) => {
      const { x, y } = spot(board, point);
      return make("circle", { cx: x, cy: y, r: 0.08, class: "star" });
    }),
  );
}

function hexEdges(board: Opened["board"]): SVGElement {
  const edges = make("g", { class: "edges" });
  const { rows, columns } = board;
  const add = (points: number[], dx: number, dy: number, name: string) => {
    const path = points.map((point, i) => {
      const { x, y } = spot(board, point);
      return `${i ? "L" : "M"}${(x + dx).toFixed(3)} ${(y + dy).toFixed(3)}`;
    });
    edges.append(make("path", { d: path.join(" "), class: name }));
  };
  const row = (r: number) => Array.from({ length: columns }, (_, c) => r * columns + c);
  const column = (c: number) => Array.from({ length: rows }, (_, r) => r * columns + c);
  add(row(0), 0, -HEX * 0.78, "edge first");
  add(row(rows - 1), 0, HEX * 0.78, "edge first");
  add(column(0), -HEX * 0.72, HEX * 0.22, "edge second");
  add(column(columns - 1), HEX * 0.72, -HEX * 0.22, "edge second");
  return edges;
}
