// Drives a GTP engine as Sabaki does: by its own controller and its position sync.
//   node sabaki.cjs COMMAND [ARGUMENT ...]
// Prints one JSON object: the engine's name, the tracked state and a move after each sync, every command sent and failed.
const { Controller, ControllerStateTracker } = require("@sabaki/gtp");

const handicap = { name: "set_free_handicap", args: ["C3", "G7"] };
const move = (color, vertex) => ({ name: "play", args: [color, vertex] });
const steps = [
  { komi: 6.5, boardsize: [9, 9], history: [handicap, move("W", "E5")] },
  { komi: 6.5, boardsize: [9, 9], history: [handicap, move("W", "D5")] },
  { komi: 7, boardsize: [5, 5], history: [move("B", "C3"), move("W", "B2"), move("B", "pass")] },
];

async function main([path, ...args]) {
  const controller = new Controller(path, args);
  const tracker = new ControllerStateTracker(controller);
  const told = { sent: [], failed: [], states: [], moves: [] };
  controller.on("command-sent", ({ command, getResponse }) => {
    const words = [command.name, ...(command.args || [])].join(" ");
    told.sent.push(words);
    getResponse().then((response) => response.error && told.failed.push(`${words}: ${response.content}`));
  });
  controller.start();
  told.name = (await controller.sendCommand({ name: "name" })).content;
  for (const state of steps) {
    await tracker.sync(state);
    told.states.push(JSON.parse(JSON.stringify(tracker.state)));
    told.moves.push((await tracker.queueCommand({ name: "genmove", args: ["W"] })).content);
  }
  await controller.stop();
  console.log(JSON.stringify(told));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
