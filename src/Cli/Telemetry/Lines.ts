/** Which lines of the log leave the process: from info on, with the annotations that are listed and no cause. */
import { Cause, HashMap, Logger, LogLevel } from "effect"
import { errorOf, kindOf } from "../../Common/ErrorKind.ts"
import type { Allowance } from "./Allowance.ts"
import { isShown } from "./Shown.ts"

export const sparing = (inner: Logger.Logger<unknown, void>, allowance: Allowance) =>
  Logger.make<unknown, void>((options) => {
    if (LogLevel.lessThan(options.logLevel, LogLevel.Info)) return
    if (!allowance.admits("line", performance.now())) return
    const listed = HashMap.filter(options.annotations, (_, name) => isShown(name))
    const annotations = Cause.isEmpty(options.cause)
      ? listed
      : HashMap.set(listed, "error", kindOf(errorOf(options.cause)))
    inner.log({ ...options, annotations, cause: Cause.empty })
  })
