/**
 * `npm run soak`: minutes of `tieout serve` beside the sandbox (minutes.ts). `npm run soak -- --days 30`: as many nights, with what
 * happens to servers in a month, on a clock of their own (month.ts).
 */
await import(process.argv.includes("--days") ? "./month.ts" : "./minutes.ts")
