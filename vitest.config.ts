import { availableParallelism } from 'node:os'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { answerSimulation } from './test/sim/answer.ts'
import { answerPlans } from './test/support/plans/collect.ts'
import { LongFirst } from './test/support/runner/long-first.ts'
import { keepStorageInMemory } from './test/support/runner/memory-disk.ts'
import { inOneModule } from './test/support/runner/one-module.ts'
import { answerOutside } from './test/support/webhooks/webhook-receivers.ts'

/** Test values of the secrets; nothing outside the tests knows them. */
const SECRETS = {
  OPERATOR_KEY: 'ppo_0123456789012345678901234567890123456789012Lz7jWy',
  SSH_PROXY_KEY: 'a-key-of-the-ssh-proxy-that-is-long-enough',
  KEY_PEPPER: 'pepper-for-tests-only',
  TOKEN_SECRET: 'token-secret-for-tests-only-32-bytes-long',
}

/** The identity provider that tests of sessions simulate (test/support/access/provider.ts). */
const PROVIDER = {
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_AUDIENCE: 'podplane-console',
  OIDC_CLIENT_ID: 'console',
  OIDC_OPERATORS: 'Root@example.com, ops@example.com, kim.sato@example.com',
}

/** Number of requests that one run generates from the documents, and their seed (empty: another seed in each run). */
const GENERATED = { GENERATED_REQUESTS: process.env.GENERATED_REQUESTS ?? '6000', GENERATED_SEED: process.env.GENERATED_SEED ?? '' }

/** Only a test that hangs takes longer. A machine with busy neighbours takes ten times as long as another. */
const SLOW_MACHINE_MS = 120_000

/** Number of retries of a failed test in CI, which lists the tests that passed only then. Elsewhere an unsteady test fails. */
const SECOND_TRIES = process.env.CI ? 1 : 0

/** `npm run plans` records every statement that tests make. Only then are the statements recorded, because that takes two thirds more time. */
const RECORDER = process.env.PLANS_RECORDED ? ['test/support/plans/record.ts'] : []

const ON_DISK = { TMPDIR: keepStorageInMemory() }

/** Sends thousands of requests to every operation, and therefore has its own runtime. */
const ALL_BOUNDS = 'test/worker/rest/requests/documented-bounds.test.ts'

/** Tests inside the runtime that the plane runs on. */
function inRuntime(name: string, include: string[], exclude: string[]): TestProjectConfiguration {
  return {
    plugins: [
      ...(process.env.SOURCES ? [] : [inOneModule(import.meta.dirname, 'src/worker.ts')]),
      cloudflareTest(async () => ({
        wrangler: { configPath: './wrangler.toml' },
        miniflare: {
          bindings: {
            ...SECRETS,
            ...PROVIDER,
            ...GENERATED,
            LOG_LEVEL: 'error',
            TEST_MIGRATIONS: await readD1Migrations('./migrations'),
          },
          // Optional for an operator; tests of a plane without a bucket remove it from the tested object or environment.
          r2Buckets: ['LOGS', 'USAGE'],
          // No request leaves the machine: this function answers all calls of the plane.
          outboundService: answerOutside,
          // Provides the expected plans, and receives the statements that each file makes (DEV-9).
          serviceBindings: { STATEMENTS: answerPlans, SIMULATION: answerSimulation },
        },
      })),
    ],
    test: {
      name,
      // One runtime serves many files; each starts with an empty state (test/support/runner/apply-migrations.ts).
      isolate: false,
      retry: SECOND_TRIES,
      testTimeout: SLOW_MACHINE_MS,
      include,
      exclude,
      setupFiles: ['test/support/runner/apply-migrations.ts', 'test/support/runner/statement-limits.ts', ...RECORDER],
    },
  }
}

export default defineConfig({
  test: {
    // One file more than cores: files wait for their runtime, and with one file per core a quarter of the cores is idle.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    // `npm cit` passes no arguments, so a wrapper that needs the counts sets the file in this variable.
    ...(process.env.VITEST_JSON ? { reporters: ['default', 'json'], outputFile: { json: process.env.VITEST_JSON } } : {}),
    projects: [
      {
        test: {
          name: 'unit',
          // Pure functions and texts: a separate process for each of these files would cost more than its tests.
          isolate: false,
          env: ON_DISK,
          testTimeout: SLOW_MACHINE_MS,
          include: [
            'test/domain/**/*.test.ts',
            'test/host-protocol/**/*.test.ts',
            'test/contract/**/*.test.ts',
            'test/console/**/*.test.ts',
            'test/model/**/*.test.ts',
            'test/sim/**/*.test.ts',
            'test/queue/**/*.test.ts',
            'test/architecture.test.ts',
          ],
        },
      },
      {
        test: {
          name: 'agent',
          retry: SECOND_TRIES,
          env: ON_DISK,
          testTimeout: SLOW_MACHINE_MS,
          include: ['test/host-agent/**/*.test.ts', 'test/local/**/*.test.ts', 'test/ssh-proxy/**/*.test.ts'],
        },
      },
      inRuntime('worker', ['test/worker/**/*.test.ts'], [ALL_BOUNDS]),
      inRuntime('bounds', [ALL_BOUNDS], []),
    ],
  },
})
