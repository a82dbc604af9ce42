import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { waitForHost } from '../../../src/local/demo.ts'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { openBrowser, Visitor } from '../console/support/browser.ts'
import { startPlane, type TestPlane } from '../support/plane/plane.ts'

// The command that starts a new machine's agent, run by a shell exactly as the command line and the console print it.

const ONLINE_MS = 60_000
const directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-join-'))
const programs = join(directory, 'bin')

let plane: TestPlane
beforeAll(async () => {
  mkdirSync(programs)
  // Installed as in docs/deploy.md.
  symlinkSync(join(PROJECT_ROOT, 'dist/podplane-agent.mjs'), join(programs, 'podplane-agent'))
  plane = await startPlane()
})
afterAll(async () => {
  await plane?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Runs the command until its host `name` is online; the test adds only the state directory. */
async function joins(name: string, command: string): Promise<void> {
  const startedAtMs = Date.now()
  const env = {
    PATH: `${programs}${delimiter}${process.env.PATH}`,
    HOME: directory,
    PODPLANE_AGENT_STATE: join(directory, name),
  }
  const agent = spawn('sh', ['-c', `exec ${command}`], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [agent.stdout, agent.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const ended = new Promise<void>((resolve) => agent.once('exit', () => resolve()))
  const operator = createApiClient(plane.url, plane.operatorKey)
  const online = await Promise.race([waitForHost(operator, name, startedAtMs, ONLINE_MS), ended])
  agent.kill('SIGTERM')
  await ended
  if (online === undefined) throw new Error(`\`${command}\` did not bring ${name} online:\n${output}`)
}

describe('[CMD-61] the printed command makes a machine join', () => {
  test('of podplane admin hosts add', async () => {
    const argv = [join(PROJECT_ROOT, 'dist/podplane.mjs'), 'admin', 'hosts', 'add', 'gpu-1', '--json', 'command']
    const env = { PATH: process.env.PATH, HOME: directory, PODPLANE_DATA: plane.dataDir }
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: directory, env })
    await joins('gpu-1', (JSON.parse(stdout) as { command: string }).command)
  })

  test("of the console's page for a new machine", async () => {
    const browser = await openBrowser()
    try {
      const visitor = await Visitor.open(browser, plane)
      const { page } = visitor
      await visitor.signInByLink(plane)
      await page.goto(`${plane.url}/console/operator/add-machine`)
      await page.getByLabel('Name').fill('gpu-2')
      await page.getByRole('button', { name: 'Create token' }).click()
      await joins('gpu-2', await page.locator('pre', { hasText: 'podplane-agent' }).innerText())
    } finally {
      await browser.close()
    }
  })
})
