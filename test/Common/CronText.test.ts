import { parse } from "node-cron"
import { describe, expect, it } from "vitest"
import { isCron } from "../../src/Common/CronText.ts"

const parts =
  "* */5 0 5-10 1,2,3 a 60 59 */0 1-10/3 5/3 7 0-7 JAN MON mon-fri 1- -1 1, # 24 32 13 12 01 1-5,7".split(" ")

const isKnownToNodeCron = (text: string): boolean => {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

describe("a schedule in the settings", () => {
  it("is one that node-cron takes", () => {
    for (const place of [0, 1, 2, 3, 4])
      for (const part of parts) {
        const text = ["*", "*", "*", "*", "*"].with(place, part).join(" ")
        expect([text, isCron(text)]).toEqual([text, isKnownToNodeCron(text)])
      }
  })

  it.each(["", "30 3 * *", "30 3 * * * *", "@daily"])("is not %j", (text) => {
    expect(isCron(text)).toBe(false)
  })
})
