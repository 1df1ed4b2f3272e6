/** However long a text of the service is, and however narrow the window, nobody has to scroll sideways to read the page. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { evidenceOf } from "../../src/Serve/FindingEvidence.ts"
import { statusPage } from "../../src/Serve/StatusPage.ts"
import { isInstalled, openInChromium } from "../support/Installed.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { at, book, connection, hour, reading, snapshot } from "./Snapshots.ts"

const long = "W".repeat(1_000)
const code = "CLIENT-WITH-A-LONG-CODE-0123456789012345"
const name = "a-very-long-name-of-a-connection-of-an-operator-with-many"

const page = statusPage(
  snapshot({
    books: [
      book({ code, connection: name, off: 1, suspense: 2, blocked: { "2026-09": 3, "2026-10": 4 } }),
      book({
        code: "CL-00014",
        reading: reading({ failing: 2, failingSince: at - hour, stream: "accounts", trouble: long }),
      }),
    ],
    balances: new Map([[code, [{ currency: "USDC", amount: "123456789012.12345678" }]]]),
    connections: [connection(name, 5)],
    findings: [
      {
        ...{ findingId: "F1", check: "cash-balance", standing: "blocking", code, ofCheck: 7 },
        ...{ message: long, openedAt: at, evidence: evidenceOf({ reason: long, amount: "1" }) },
      },
    ],
    findingCounts: [{ connection: name, standing: "blocking", count: 7 }],
    quarantine: [
      {
        ...{ connection: name, stream: "statement", reason: long, path: `$.${long}` },
        ...{ rows: 3, lastSeenAt: at },
      },
    ],
    batches: [
      {
        ...{
          code,
          batch: 1,
          scope: "2026-01-01_2026-12-31",
          baseCurrency: "EUR",
          asOf: at,
          complete: false,
          state: "committed",
          entries: 3,
        },
        ...{ committedAt: at, files: [{ name: "w".repeat(100), bytes: 1 }] },
      },
    ],
    inbox: {
      depth: 1,
      counts: [],
      recent: [{ connection: name, eventType: long, receivedAt: at, state: "dead" }],
    },
    jobs: [{ connection: name, waiting: 1, active: 2, dead: 3, oldest: 5 }],
  }),
  {
    ...{ connections: [name], timeZone: "Europe/Berlin", staleAfter: 26 * hour, nextRun: at, version: "1" },
    ...{ downloads: true, session: true },
  },
)

/** How wide what the page shows is, in a window of that width. */
const widthIn = (width: number): number => {
  const file = join(temporaryFolder(), "frame.html")
  const shown = page
    .replaceAll("<details", "<details open")
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
  writeFileSync(
    file,
    `<iframe style="width:${width}px;height:4000px;border:0" srcdoc="${shown}"></iframe><script>
    const frame = document.querySelector("iframe")
    frame.onload = () => { document.title = "WIDTH" + frame.contentDocument.documentElement.scrollWidth + "END" }</script>`,
  )
  const { stdout } = openInChromium(file, ["--hide-scrollbars", "--dump-dom"])
  return Number(/<title>WIDTH(\d+)END/.exec(stdout ?? "")?.[1])
}

describe.skipIf(!isInstalled("chromium", "pages are not measured"))("the status page", () => {
  it.each([400, 640, 800, 960, 1280])("is no wider than a window of %i pixels", (width) => {
    expect(widthIn(width)).toBe(width)
  })
})
