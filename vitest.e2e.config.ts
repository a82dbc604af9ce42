import { globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongFirst } from './test/support/runner/long-first.ts'

const jsonFile = process.env.VITEST_JSON

/** Tests that take real minutes. The project `long` has all of them; `LONG_TURN` adds one of them to the project `e2e`. */
const LONG = 'test/e2e/**/*.long.e2e.test.ts'

/** Number of retries of a failed test in CI, which lists the tests that passed only then. Elsewhere an unsteady test fails. */
const SECOND_TRIES = process.env.CI ? 1 : 0

/**
 * Planes, agents and their workers as real processes, each with its own directories, ports and hosts. They wait more than they compute, so
 * three files share a machine with two cores: with two files the cores are idle two fifths of the time, and four files take longer.
 */
const WHOLE_PROGRAMS = {
  globalSetup: ['test/e2e/support/machines/require-docker.ts', 'test/e2e/clients/install.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  maxWorkers: 3,
  retry: SECOND_TRIES,
  sequence: { groupOrder: 1 },
  // Planes, agents and commands start hundreds of times; the compiled code of the first start is cached for the others.
  env: { NODE_COMPILE_CACHE: join(tmpdir(), `podplane-e2e-compiled-${process.getuid?.() ?? 0}`) },
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    reporters: jsonFile ? ['default', 'json'] : ['default'],
    ...(jsonFile ? { outputFile: { json: jsonFile } } : {}),
    projects: [
      {
        // Tests the contract from outside, only over HTTP. They mostly wait for deadlines, so many run at the same time.
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: ['test/conformance/support/target.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          maxConcurrency: 32,
          retry: SECOND_TRIES,
          maxWorkers: 6,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Builds the images of the end-to-end tests once, so that no two tests build them at the same time.
        test: {
          name: 'images',
          include: ['test/e2e/agent/images.test.ts'],
          globalSetup: ['test/e2e/support/machines/require-docker.ts'],
          testTimeout: 600_000,
          maxWorkers: 6,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts'],
          exclude: [...configDefaults.exclude, ...longFilesOfOtherTurns(process.env.LONG_TURN)],
          ...WHOLE_PROGRAMS,
        },
      },
      { test: { name: 'long', include: [LONG], ...WHOLE_PROGRAMS } },
      // Makes the pictures of the documentation; only `npm run pictures` runs it.
      { test: { name: 'pictures', include: ['test/e2e/console/pictures.test.ts'], ...WHOLE_PROGRAMS } },
    ],
  },
})

/** Long files that the project `e2e` excludes: all, unless a number selects a turn, which has one file. */
function longFilesOfOtherTurns(turn: string | undefined): string[] {
  if (turn === undefined) return [LONG]
  const files = globSync(LONG).toSorted()
  return files.filter((_, index) => index !== Number(turn) % files.length)
}
