import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readDemoFile } from '../../../src/local/data-dir.ts'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { eventually } from '../support/plane/plane.ts'
import { pickPorts } from '../support/plane/ports.ts'

const UNIT = readFileSync(join(PROJECT_ROOT, 'ops/podplane.service'), 'utf8')
const READY_WITHIN_MS = 60_000

let dataDir: string
let port: number
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'podplane-service-'))
  port = await pickPorts()
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

/** Runs the command of the unit, with this project as the installation. */
function startService() {
  const [program = '', ...args] = (/^ExecStart=(.+)$/m.exec(UNIT)?.[1] ?? '').replaceAll('/opt/podplane', PROJECT_ROOT).split(' ')
  const service = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, PODPLANE_DATA: dataDir, PORT: String(port) },
  })
  let output = ''
  for (const stream of [service.stdout, service.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<number | null>((resolve) => service.once('exit', resolve))
  return { service, ended, output: () => output }
}

test('[PLANE-15] the command of the unit runs a plane, which a SIGTERM shuts down cleanly', async () => {
  const { service, ended } = startService()
  const demo = await eventually('the plane is ready', READY_WITHIN_MS, async () => readDemoFile(dataDir))
  expect((await fetch(`${demo.url}/readyz`)).status).toBe(200)
  const second = startService()
  expect(await second.ended).toBe(1)
  expect(second.output()).toContain('is in use by another podplane')
  service.kill('SIGTERM')
  expect(await ended).toBe(0)
  const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
  expect(left).not.toContain(dataDir)
})

test('[PLANE-15] the unit restarts it after any end, and kills its remaining processes', () => {
  expect(UNIT).toMatch(/^Restart=always$/m)
  expect(UNIT).toMatch(/^KillMode=mixed$/m)
})
