/**
 * A part of undici by its file. The index loads all of it (fetch, web sockets, caches, mocks), which takes a command that asks
 * the service some 50 ms of processor time and 8 MB; a request needs none of that.
 */
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici"
}
