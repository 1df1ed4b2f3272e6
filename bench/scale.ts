/**
 * `npm run bench:scale [-- --only workers|history] [-- --clients 1000] [-- --limit 200 [--learned]] [-- --workers 0,2] [-- --near] [-- --generate 10000000]`: nights of many clients with one
 * process and with 1, 2 and 4 workers, and what nights, closes, exports and questions take over a long history. Needs Node 22.12.
 */
import { cpus, loadavg, totalmem } from "node:os"
import { machine } from "./Processor.ts"
import { measureHistory } from "./ScaleHistory.ts"
import { measureWorkers } from "./ScaleWorkers.ts"
import { fixed, optionOf } from "./Shown.ts"

const loads = (): string => fixed(loadavg()[0] ?? 0, 1)
const only = optionOf("--only")
const since = machine()
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${fixed(totalmem() / 2 ** 30, 0)} GiB, load average ${loads()}\n`,
)
if (only !== "history") await measureWorkers(Number(optionOf("--clients") ?? 1_000))
if (only !== "workers") await measureHistory(Number(optionOf("--generate") ?? 10_000_000))
process.stdout.write(
  `\nStolen from this machine meanwhile: ${fixed(since().steal * 100, 1)} %. Load average at the end: ${loads()}.\n`,
)
