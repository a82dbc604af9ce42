import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { loadSecrets, openDataDir } from '../../../src/local/data-dir.ts'
import { startPlane } from '../../../src/local/plane/plane.ts'
import { claimPort } from '../../../src/local/port.ts'
import { busyness } from '../../support/runner/machine.ts'

/** The deployment under test. */
export interface Target {
  url: string
  operatorKey: string
  /** The deployment ends with the suite, so nothing on it has to be cleaned up. */
  temporary: boolean
}

declare module 'vitest' {
  export interface ProvidedContext {
    target: Target
  }
}

/** The smallest ping interval that a machine at half its speed or more can keep: all deadlines of workers are multiples of it. */
const PING_INTERVAL_MS = 1_000
const HALF_SPEED = 2
/** Where the suite's own webhook receiver listens. */
const WEBHOOK_ALLOW = '127.0.0.0/8,::1,localhost'

/** Global set-up: the deployment that `CONFORMANCE_URL` and `CONFORMANCE_OPERATOR_KEY` name, or else a plane of the suite's own. */
export default async function provideTarget(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { CONFORMANCE_URL: url, CONFORMANCE_OPERATOR_KEY: operatorKey } = process.env
  if (url) {
    if (!operatorKey) throw new Error('CONFORMANCE_URL is set, so CONFORMANCE_OPERATOR_KEY has to be set too')
    project.provide('target', { url: url.replace(/\/+$/, ''), operatorKey, temporary: false })
    return undefined
  }
  const directory = mkdtempSync(join(tmpdir(), 'podplane-conformance-'))
  const dataDir = openDataDir(directory)
  const secrets = loadSecrets(dataDir)
  const plane = await startPlane({
    storage: dataDir.storage,
    port: await claimPort(0),
    vars: {
      ...secrets,
      LOG_LEVEL: 'error',
      WORKER_PING_INTERVAL_MS: String(Math.round(PING_INTERVAL_MS * Math.max(1, busyness() / HALF_SPEED))),
      WEBHOOK_ALLOW,
    },
    onLog: (line) => process.stderr.write(`${line}\n`),
  })
  project.provide('target', { url: plane.url, operatorKey: secrets.OPERATOR_KEY, temporary: true })
  return async () => {
    await plane.stop()
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
