/** A small service whose statement runs over three months, and what a controller does with it. */
import { Effect, Option } from "effect"
import { bridge, check, close, reopen } from "../../src/Close.ts"
import { credit, deposit, id, partnership } from "../Sync/Partnership.ts"
import { services, servicesWith } from "../support/BookServices.ts"

/** A deposit and its entry, numbered by `index`. */
export const movement = (index: number, amount: string, balanceAfter: string, day: string) => {
  const at = `${day}T12:00:00Z`
  return {
    entry: { ...credit(index, amount, balanceAfter, id(index + 100)), occurredAt: at },
    deposit: deposit(index + 100, amount, { createdAt: at }),
  }
}

/** 100 in August, 50 in September, 25 in October. */
export const threeMonths = Effect.gen(function* () {
  const movements = [
    movement(11, "100.00", "100.00", "2026-08-10"),
    movement(12, "50.00", "150.00", "2026-09-10"),
    movement(13, "25.00", "175.00", "2026-10-05"),
  ]
  return yield* partnership({
    balance: "175.00",
    statement: movements.map(({ entry }) => entry),
    deposits: movements.map(({ deposit: one }) => one),
  })
})

const controller = { who: "controller", reason: null }

export const closing = (
  period: string,
  options: {
    dryRun?: boolean
    book?: string
    accept?: ReadonlyArray<{ id: string; reason: string }>
    /** The settings with which the months are closed. */
    variables?: Record<string, string>
  } = {},
) =>
  close({
    period,
    book: Option.fromNullable(options.book),
    dryRun: options.dryRun ?? false,
    accept: options.accept ?? [],
    ...controller,
  }).pipe(Effect.provide(options.variables === undefined ? services : servicesWith(options.variables)))

export const checking = (period: string) =>
  Effect.map(Effect.provide(check(period, Option.none()), services), (found) =>
    found.flatMap(({ differences }) => differences),
  )

export const bridging = (period: string) => Effect.provide(bridge(period, Option.none()), services)

export const reopening = (period: string, reason = "a late invoice") =>
  Effect.provide(reopen(period, Option.none(), { who: "controller", reason }), services)
