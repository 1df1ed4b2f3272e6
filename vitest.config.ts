import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Left to itself the runner leaves one core idle, which on two is half of them.
    minWorkers: 1,
    maxWorkers: "100%",
  },
})
