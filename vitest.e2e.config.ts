import { defineConfig } from 'vitest/config'

const jsonFile = process.env.VITEST_JSON

export default defineConfig({
  test: {
    reporters: jsonFile ? ['default', 'json'] : ['default'],
    ...(jsonFile ? { outputFile: { json: jsonFile } } : {}),
    projects: [
      {
        // The contract from outside, over HTTP alone. Its tests mostly wait for deadlines, so many of them run side by side.
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: ['test/conformance/support/target.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          maxConcurrency: 32,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Whole programs: planes, agents and their workers as real processes. One file at a time, because they share one machine.
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts'],
          globalSetup: ['test/e2e/support/require-docker.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
