import { globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongFirst } from './test/support/runner/long-first.ts'

const jsonFile = process.env.VITEST_JSON

/** Their claims need real minutes. The project `long` has them all; `LONG_TURN` adds some of them to the project `e2e`. */
const LONG = 'test/e2e/**/*.long.e2e.test.ts'

/** How often CI tries again what failed; it names at its end what passed only then. Elsewhere a test that is not steady fails. */
const SECOND_TRIES = process.env.CI ? 1 : 0

/**
 * Planes, agents and their workers as real processes, each with directories, ports and hosts of its own. They wait more than they compute,
 * so three files share a machine of two cores: with two, these idle two fifths of the time, and with four the whole takes longer.
 */
const WHOLE_PROGRAMS = {
  globalSetup: ['test/e2e/support/machines/require-docker.ts', 'test/e2e/clients/install.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  maxWorkers: 3,
  retry: SECOND_TRIES,
  sequence: { groupOrder: 1 },
  // Planes, agents and commands start hundreds of times: what the first of each has compiled is kept for the others.
  env: { NODE_COMPILE_CACHE: join(tmpdir(), `podplane-e2e-compiled-${process.getuid?.() ?? 0}`) },
}

/** How many turns it takes until each of the long files has run. */
const LONG_TURNS = 9

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
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
          retry: SECOND_TRIES,
          maxWorkers: 6,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // What the end-to-end tests run: built once, meanwhile, and not by two of them at a time.
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
      // Makes the pictures of the documentation: run by `npm run pictures` alone.
      { test: { name: 'pictures', include: ['test/e2e/console/pictures.test.ts'], ...WHOLE_PROGRAMS } },
    ],
  },
})

/** Long files that the project `e2e` leaves out: all of them, unless a number says whose turn it is. */
function longFilesOfOtherTurns(turn: string | undefined): string[] {
  if (turn === undefined) return [LONG]
  const files = globSync(LONG).toSorted()
  return files.filter((_, index) => index % LONG_TURNS !== Number(turn) % LONG_TURNS)
}
