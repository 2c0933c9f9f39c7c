/** One game's websocket; when it breaks, another takes the game up where it was. */

import type { FromServer, ToServer } from "./protocol";

type Open = Extract<ToServer, { type: "open" }>;

export class Connection {
  private socket: WebSocket | null = null;
  private waiting: ToServer[] = [];
  private tries = 0;

  constructor(
    private readonly address: string,
    private readonly receive: (message: FromServer) => void,
    private readonly resume: () => Open | null,
    private readonly tell: (text: string) => void,
  ) {}

  /** Sends a message, now or when there is a connection. */
  send(message: ToServer): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
      return;
    }
    if (message.type === "open") this.waiting = [message];
    if (!this.socket || this.socket.readyState > WebSocket.OPEN) this.connect();
  }

  /** Lets go of the socket, as a broken network would. */
  drop(): void {
    this.socket?.close();
  }

  private connect(): void {
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.addEventListener("open", () => {
      if (this.tries) this.tell("");
      this.tries = 0;
      const again = this.resume();
      const first = this.waiting.length ? this.waiting : again ? [again] : [];
      this.waiting = [];
      for (const message of first) socket.send(JSON.stringify(message));
    });
    socket.addEventListener("message", (event) => this.receive(JSON.parse(String(event.data)) as FromServer));
    socket.addEventListener("close", () => {
      this.tries++;
      this.tell("The connection is lost; your game is kept, trying again …");
      setTimeout(() => this.connect(), Math.min(500 * 2 ** this.tries, 8000));
    });
  }
}
