import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { withSecretFiles } from "../../src/Settings/SecretFiles.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const folder = temporaryFolder()
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const mistakes = (variables: Record<string, string>) =>
  Either.match(withSecretFiles(variables), {
    onLeft: (all) => all.map(({ path, text }) => `${path.join(".")}: ${text}`),
    onRight: () => [],
  })

describe("a secret in a file", () => {
  it("stands for its variable, without the line's end, and the file's name goes nowhere", () => {
    const variables = {
      PATH: "/bin",
      DATABASE_URL_FILE: file("url", "postgres://jane:s3cret@db/books\n"),
      TIEOUT_ACME_UK_CLIENT_SECRET_FILE: file("secret", " with spaces \r\n"),
      TIEOUT_STATUS_TOKEN_FILE: file("token", "0123456789abcdef"),
      TIEOUT_ALERTS_WEBHOOK_FILE: file("hook", "https://hooks.example/T0P\n"),
      HTTPS_PROXY_FILE: file("proxy", "http://jane:s3cret@proxy:3128\n"),
      https_proxy_FILE: file("other-proxy", "http://other:3128"),
      TIEOUT_SCOPE_FILE: "",
    }
    expect(Either.getOrThrow(withSecretFiles(variables))).toEqual({
      PATH: "/bin",
      DATABASE_URL: "postgres://jane:s3cret@db/books",
      TIEOUT_ACME_UK_CLIENT_SECRET: " with spaces ",
      TIEOUT_STATUS_TOKEN: "0123456789abcdef",
      TIEOUT_ALERTS_WEBHOOK: "https://hooks.example/T0P",
      HTTPS_PROXY: "http://jane:s3cret@proxy:3128",
      https_proxy: "http://other:3128",
    })
  })

  it("is a mistake where it is not there, empty, too long, no file, or given twice", () => {
    mkdirSync(join(folder, "folder"))
    expect(mistakes({ DATABASE_URL_FILE: join(folder, "missing") })).toEqual([
      `DATABASE_URL_FILE: ${join(folder, "missing")}: there is no such file`,
    ])
    expect(mistakes({ DATABASE_URL_FILE: file("empty", " \n") })).toEqual([
      `DATABASE_URL_FILE: ${join(folder, "empty")}: is empty`,
    ])
    expect(mistakes({ TIEOUT_SCOPE_FILE: file("long", "x".repeat(70_000)) })).toEqual([
      `TIEOUT_SCOPE_FILE: ${join(folder, "long")}: has 70000 bytes, and at most 65536 are read`,
    ])
    expect(mistakes({ TIEOUT_CLIENT_ID_FILE: join(folder, "folder") })).toEqual([
      `TIEOUT_CLIENT_ID_FILE: ${join(folder, "folder")}: is a folder`,
    ])
    expect(mistakes({ DATABASE_URL: "postgres://x", DATABASE_URL_FILE: file("other", "y") })).toEqual([
      "DATABASE_URL_FILE: is set as well as DATABASE_URL; set one of them",
    ])
  })

  it("is none of a variable that is no secret", () => {
    const variables = { TIEOUT_LOG_FILE: "/nowhere", HOME_FILE: "/nowhere" }
    expect(Either.getOrThrow(withSecretFiles(variables))).toEqual(variables)
  })
})
