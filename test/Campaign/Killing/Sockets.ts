/** Sees every write of this process to a database before it leaves, counts it, and can make it the last one. */
import { Socket } from "node:net"
import { type Sent, Session } from "./Statements.ts"

/** Called for every statement. Answers whether something happens before it is sent, or right after. */
export interface Watcher {
  readonly before: (text: string) => (() => void) | null
  readonly after: (text: string) => (() => void) | null
}

const bytesOf = (chunk: unknown): Buffer | null =>
  chunk instanceof Uint8Array ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : null

/** Watches every socket to a Postgres server from now on. */
export const watchSockets = (watcher: Watcher): void => {
  const sessions = new WeakMap<Socket, Session>()
  const sessionOf = (socket: Socket): Session => {
    const known = sessions.get(socket) ?? new Session()
    sessions.set(socket, known)
    return known
  }
  const original = Socket.prototype.write
  const send = (socket: Socket, args: ReadonlyArray<unknown>): boolean =>
    Reflect.apply(original, socket, args) === true

  /** Sends everything up to a place, and acts there once that has left. */
  const upTo = (socket: Socket, bytes: Buffer, from: number, to: number, then: () => void): number => {
    if (to > from) send(socket, [bytes.subarray(from, to)])
    // The kernel takes what it can at once; the rest is still in this process.
    if (socket.writableLength === 0) then()
    else send(socket, [Buffer.alloc(0), then])
    return Math.max(from, to)
  }

  Socket.prototype.write = function (this: Socket, ...args: ReadonlyArray<unknown>): boolean {
    const bytes = bytesOf(args[0])
    if (bytes === null) return send(this, args)
    let written = 0
    const at = ({ from, text, to }: Sent): void => {
      const before = from === null ? null : watcher.before(text)
      if (before !== null && from !== null) written = upTo(this, bytes, written, from, before)
      const after = to === null ? null : watcher.after(text)
      if (after !== null && to !== null) written = upTo(this, bytes, written, to, after)
    }
    for (const sent of sessionOf(this).take(bytes)) at(sent)
    return written === 0 ? send(this, args) : send(this, [bytes.subarray(written), ...args.slice(1)])
  }
}
