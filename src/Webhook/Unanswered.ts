/** The requests that have come and are not yet answered, by their connections. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * Requests of one connection. Who sends events waits for an answer before the next request, or opens another connection; a stranger
 * who does not could make thousands wait at once for keys or signatures, with an honest delivery behind them.
 */
const mostOfOne = 8

export class Unanswered {
  private readonly ofSockets = new Map<Socket, number>()
  private all = 0

  get count(): number {
    return this.all
  }

  /** Counts a request until it is answered or its connection is gone; false if it is one too many, and the connection is cut off. */
  take({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const before = this.ofSockets.get(socket)
    if (socket.destroyed || (before ?? 0) >= mostOfOne) {
      socket.destroy()
      return false
    }
    if (before === undefined) {
      // Node tells only the first of several responses that the connection is gone.
      socket.once("close", () => {
        this.all -= this.ofSockets.get(socket) ?? 0
        this.ofSockets.delete(socket)
      })
    }
    this.add(socket, 1)
    response.once("close", () => {
      if (this.ofSockets.has(socket)) this.add(socket, -1)
    })
    return true
  }

  private add(socket: Socket, more: 1 | -1): void {
    this.all += more
    this.ofSockets.set(socket, (this.ofSockets.get(socket) ?? 0) + more)
  }
}
