/** One game's websocket; when it breaks, another takes the game up where it was. */

import type { FromServer, ToServer } from "./protocol";
import type { Open } from "./state";

const TRY_AGAIN_LATER = 1013; // the server is full, and has said so

export class Connection {
  private socket: WebSocket | null = null;
  private timer: number | undefined;
  private tries = 0;

  /**
   * receive  takes what the server says
   * resume   the message that takes the game up where it is, or null
   * lost     is told when the connection broke (true) and when there is one again (false)
   */
  constructor(
    private readonly address: string,
    private readonly receive: (message: FromServer) => void,
    private readonly resume: () => Open | null,
    private readonly lost: (lost: boolean) => void,
  ) {}

  /** Sends a message. Without a connection it is dropped: the next one begins with `resume`. */
  send(message: ToServer): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else this.connect();
  }

  /** Makes a connection at once, where there is none and none on its way. */
  connect(): void {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return;
    window.clearTimeout(this.timer);
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.addEventListener("open", () => {
      const again = this.resume();
      if (again) socket.send(JSON.stringify(again));
    });
    socket.addEventListener("message", (event) => {
      const message = JSON.parse(String(event.data)) as FromServer;
      if (this.tries && message.type !== "error") {
        this.tries = 0;
        this.lost(false);
      }
      this.receive(message);
    });
    socket.addEventListener("close", (event) => {
      this.tries++;
      if (event.code !== TRY_AGAIN_LATER) this.lost(true);
      this.timer = window.setTimeout(() => this.connect(), Math.min(500 * 2 ** this.tries, 8000));
    });
  }
}
