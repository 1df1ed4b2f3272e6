import { Either, Option } from "effect"
import { createTask } from "node-cron"
import { describe, expect, it } from "vitest"
import { nextDue, parseCron, previousDue } from "../../src/Serve/Cron.ts"

const fields = (expression: string) => Either.getOrThrowWith(parseCron(expression), (text) => new Error(text))
const at = (text: string) => Date.parse(text)
const shown = (instant: Option.Option<number>) =>
  Option.getOrNull(Option.map(instant, (time) => new Date(time).toISOString().slice(0, 16)))

describe("a schedule", () => {
  it.each([
    ["30 3 * * *", "UTC", "2026-10-07T04:00:00Z", "2026-10-07T03:30", "2026-10-08T03:30"],
    ["30 3 * * *", "UTC", "2026-10-07T03:30:00Z", "2026-10-07T03:30", "2026-10-08T03:30"],
    ["30 3 * * *", "UTC", "2026-10-07T03:29:59Z", "2026-10-06T03:30", "2026-10-07T03:30"],
    ["30 3 * * *", "Europe/Berlin", "2026-10-07T01:29:00Z", "2026-10-06T01:30", "2026-10-07T01:30"],
    ["30 3 * * *", "Pacific/Kiritimati", "2026-10-07T13:30:00Z", "2026-10-07T13:30", "2026-10-08T13:30"],
    ["0 6 * * MON-FRI", "UTC", "2026-10-11T12:00:00Z", "2026-10-09T06:00", "2026-10-12T06:00"],
    ["15 */6 1 * *", "UTC", "2026-10-07T00:00:00Z", "2026-10-01T18:15", "2026-11-01T00:15"],
    ["0 0 29 2 *", "UTC", "2026-10-07T00:00:00Z", "2024-02-29T00:00", "2028-02-29T00:00"],
    // Both must fit, as node-cron has it: Friday the 13th.
    ["0 0 13 * FRI", "UTC", "2026-10-07T00:00:00Z", "2026-03-13T00:00", "2026-11-13T00:00"],
    // The clocks skip 02:30 on 29 March, which is due at 03:30 then, and show it twice on 25 October: due once.
    ["30 2 * * *", "Europe/Berlin", "2026-03-29T00:59:00Z", "2026-03-28T01:30", "2026-03-29T01:30"],
    ["30 2 * * *", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29T01:30", "2026-03-30T00:30"],
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T00:30", "2026-10-26T01:30"],
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25T00:30", "2026-10-26T01:30"],
    // The usual time, where the clocks are changed at three and at four.
    ["30 3 * * *", "Europe/Helsinki", "2027-03-28T12:00:00Z", "2027-03-28T01:30", "2027-03-29T00:30"],
    ["30 3 * * *", "Europe/Helsinki", "2026-10-25T12:00:00Z", "2026-10-25T00:30", "2026-10-26T01:30"],
    // The clocks skip the hour before midnight in Greenland: 23:30 on Saturday is due at 00:30 on Sunday.
    ["30 23 * * *", "America/Nuuk", "2027-03-28T00:30:00Z", "2027-03-27T01:30", "2027-03-28T01:30"],
    ["30 23 * * *", "America/Nuuk", "2027-03-28T01:10:00Z", "2027-03-27T01:30", "2027-03-28T01:30"],
    ["30 23 * * *", "America/Nuuk", "2027-03-28T01:30:00Z", "2027-03-28T01:30", "2027-03-29T00:30"],
    // A run that is moved to a time that is due anyway is due once.
    ["30 2,3 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-28T02:30", "2026-03-29T01:30"],
    ["30 2,3 * * *", "Europe/Berlin", "2026-03-29T01:30:00Z", "2026-03-29T01:30", "2026-03-30T00:30"],
    // A run that is due every hour continues every hour.
    ["30 * * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T00:30", "2026-03-29T01:30"],
    ["30 * * * *", "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T00:30", "2026-10-25T01:30"],
    ["* * * * *", "Asia/Kathmandu", "2026-10-07T10:00:30Z", "2026-10-07T10:00", "2026-10-07T10:01"],
  ])("%s in %s, seen at %s, was due at %s and is due at %s", (expression, zone, now, before, after) => {
    expect(shown(previousDue(fields(expression), zone, at(now)))).toBe(before)
    expect(shown(nextDue(fields(expression), zone, at(now)))).toBe(after)
  })

  it.each([
    ["*/7 1-5,22 * * *", "America/New_York", "2026-03-01T00:00:00Z", 40],
    ["30 2 * * SUN", "Europe/Berlin", "2026-04-01T00:00:00Z", 28],
    ["0,45 1,2 * MAR,NOV *", "America/New_York", "2026-03-09T00:00:00Z", 40],
    // Across both changes of the clocks.
    ["*/20 * * * *", "Europe/Berlin", "2026-03-28T22:00:00Z", 40],
    ["*/20 * * * *", "America/New_York", "2026-11-01T03:00:00Z", 40],
  ])("%s in %s has exactly the times at which node-cron fires", (expression, timezone, from, many) => {
    const task = createTask(expression, () => undefined, { timezone })
    let due = at(from)
    for (let fires = 0; fires < many; fires++) {
      const next = Option.getOrThrow(nextDue(fields(expression), timezone, due))
      expect([new Date(next).toISOString(), task.match(new Date(next))]).toEqual([
        new Date(next).toISOString(),
        true,
      ])
      for (let between = due + 60_000; between < next && between < due + 3 * 3_600_000; between += 60_000)
        expect(task.match(new Date(between))).toBe(false)
      due = next
    }
    void task.destroy()
  })

  it("that cannot be read says why", () => {
    expect(parseCron("99 3 * * *")).toEqual(Either.left("99 is a invalid expression for minute"))
    expect(Either.isLeft(parseCron("0 0 30 2 *"))).toBe(true)
  })
})
