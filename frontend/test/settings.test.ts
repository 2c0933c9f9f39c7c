import { describe, expect, it } from "vitest";
import type { Catalogue, Opponent } from "../src/protocol";
import { choose, recall, remember, USUAL } from "../src/settings";
import type { Settings } from "../src/settings";

const human: Opponent = { name: "A friend", about: "", usual: 0, levels: [{ label: "", spec: "human" }] };
const network = (name: string): Opponent => ({
  name: `Network ${name}`, about: "", usual: 1,
  levels: ["50 visits", "200"].map((label) => ({ label, spec: `net:${name},visits=${label.split(" ")[0]}` })),
});
const size = (spec: string, label: string, ...opponents: Opponent[]) => ({ spec, label, goal: "", opponents });
const catalogue: Catalogue = {
  games: [
    { name: "hex", title: "Hex", sides: ["Red", "Blue"], sizes: [size("hex:size=7", "7 × 7", network("seven"), human), size("hex:size=5", "5 × 5", network("five"), human)] },
    { name: "othello", title: "Othello", sides: ["Black", "White"], sizes: [size("othello", "8 × 8", human)] },
  ],
};
const wanted: Settings = { game: "hex", size: "hex:size=5", opponent: "A friend", level: "", begins: "opponent", hints: true };

function chosen(settings: Settings): string[] {
  const choice = choose(catalogue, settings)!;
  return [choice.game.name, choice.size.spec, choice.level.spec];
}

describe("settings", () => {
  it("begin with what comes first, at its usual level", () => {
    expect(chosen(USUAL)).toEqual(["hex", "hex:size=7", "net:seven,visits=200"]);
  });

  it("find what is wanted wherever it is on offer", () => {
    expect(chosen(wanted)).toEqual(["hex", "hex:size=5", "human"]);
    expect(chosen({ ...wanted, opponent: "Network five", level: "50 visits" })).toEqual(["hex", "hex:size=5", "net:five,visits=50"]);
  });

  it("keep the opponent on another board: the same one, or the first there", () => {
    expect(chosen({ ...wanted, size: "hex:size=7" })[2]).toBe("human");
    expect(chosen({ ...wanted, opponent: "", level: "50 visits" })[2]).toBe("net:five,visits=50");
    expect(chosen({ ...wanted, size: "hex:size=7", opponent: "", level: "50 visits" })[2]).toBe("net:seven,visits=50");
  });

  it("fall back where something is no longer on offer", () => {
    expect(chosen({ ...wanted, game: "go", size: "go:size=9", opponent: "Network ten", level: "9" })).toEqual(chosen(USUAL));
    expect(chosen({ ...wanted, size: "hex:size=99", opponent: "A friend" })).toEqual(["hex", "hex:size=7", "human"]);
    expect(choose({ games: [] }, wanted)).toBeNull();
  });

  it("are remembered", () => {
    const kept = new Map<string, string>();
    const storage = () => ({ getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, text: string) => kept.set(key, text) }) as unknown as Storage;
    expect(recall(storage)).toBeNull();
    remember(storage, wanted);
    expect(recall(storage)).toEqual(wanted);
  });

  it("survive whatever was kept, and a browser that keeps nothing", () => {
    const kept = (text: string) => recall(() => ({ getItem: () => text }) as unknown as Storage);
    for (const text of ["", "{", "null", "3", '"hex"']) expect(kept(text)).toBeNull();
    expect(kept('{"game": 7, "hints": "yes", "begins": "nobody", "more": 1, "level": "200"}')).toEqual({ ...USUAL, level: "200" });
    const forbidden = () => {
      throw new Error("SecurityError");
    };
    expect(recall(forbidden)).toBeNull();
    expect(() => remember(forbidden, wanted)).not.toThrow();
  });
});
