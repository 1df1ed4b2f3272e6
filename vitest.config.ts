import { configDefaults, defineConfig } from "vitest/config"

/**
 * Walks through the whole product, kills and outages again and again, every format with random books, thousands of rows, services that
 * answer in every odd way, what starts servers, programs and nights of its own: longer than all the other tests together, which are
 * to take less than five minutes on two cores. `npm run test:long` runs them alone, `LONG=1 npx vitest run …` beside the others.
 */
const longTests = "test/**/*.long.test.ts"
const { LONG: long } = process.env

export default defineConfig({
  test: {
    include: [long === "only" ? longTests : "test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(long === undefined ? [longTests] : [])],
    globalSetup: ["test/support/globalSetup.ts"],
    setupFiles: ["test/support/testMethods.ts"],
    // Against a hang, never against a slow machine: no test says how fast it is to be.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: "forks",
    // A process reads the sources once, not once for every file. A test therefore must not need a process of its own.
    isolate: false,
    poolOptions: {
      forks: {
        execArgv: [
          // Young objects are collected seldom: a test makes many and keeps few.
          "--max-semi-space-size=64",
          // One helper thread for the collector and the compiler: four took an eighth to a fifth more processor time.
          "--v8-pool-size=1",
        ],
      },
    },
    // Left to itself the runner leaves one core idle, which on two is half of them.
    minWorkers: 1,
    maxWorkers: "100%",
  },
})
