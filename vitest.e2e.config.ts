import { defineConfig } from 'vitest/config'

// Whole programs: planes, agents and their workers as real processes. One file at a time, because they share one machine.
const jsonFile = process.env.VITEST_JSON

export default defineConfig({
  test: {
    include: ['test/e2e/**/*.e2e.test.ts'],
    fileParallelism: false,
    globalSetup: ['test/e2e/support/require-docker.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: jsonFile ? ['default', 'json'] : ['default'],
    ...(jsonFile ? { outputFile: { json: jsonFile } } : {}),
  },
})
