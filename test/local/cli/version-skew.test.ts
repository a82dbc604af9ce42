import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLI_VERSION } from '../../../src/cli/core/version.ts'
import { afterEach, beforeEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type RunOptions, ToyPlane } from './terminal.ts'

const NEWER = '99.1.0'

let plane: ToyPlane
let home: string
const at = async (planeVersion: string) => {
  plane = await ToyPlane.open({
    'GET /v2/pods': {
      body: { pods: [], pagination: { nextCursor: null, hasNextPage: false } },
      headers: { 'podplane-version': planeVersion, 'podplane-oldest-cli': '0.1.0' },
    },
  })
}
const list = async (options: RunOptions = {}, ...argv: string[]) =>
  (await podplane(['pods', 'list', ...argv], { plane, home, terminal: true, ...options })).stderr.replace(/^no pods.*\n/, '')
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'podplane-home-'))
})
afterEach(async () => {
  await plane.close()
  rmSync(home, { recursive: true, force: true })
})

describe('a plane of another release', () => {
  it('[CMD-9] is reported once a day', async () => {
    await at(NEWER)
    const warning = `the plane has release ${NEWER} and this podplane has ${CLI_VERSION}: update podplane for the newer features\n`
    expect([await list(), await list()]).toEqual([warning, ''])
  })

  it('[CMD-9] is never reported in pipes, to programs, or for the same minor version', async () => {
    await at(NEWER)
    expect(await list({ terminal: false })).toBe('')
    expect(await list({}, '--json')).toBe('')
    expect(await list({}, '-q')).toBe('')
    expect(await list({ env: { CI: '1' } })).toBe('')
    await plane.close()
    await at(CLI_VERSION.replace(/\d+$/, '9999'))
    expect(await list()).toBe('')
  })

  it('[CMD-9] a plane that does not serve this version says so, and nothing is done', async () => {
    const detail = 'podplane 0.1.0 is too old for this plane (version 9.0.0), which supports 8.0.0 and later'
    plane = await ToyPlane.open({
      'GET /v2/pods': { status: 426, body: { title: 'Upgrade Required', status: 426, detail, code: 'CLI_TOO_OLD' } },
    })
    expect(await podplane(['pods', 'list'], { plane, home })).toEqual({
      code: 5,
      stdout: '',
      stderr: `error: ${detail} (request req_1)\n  use the dist/podplane.mjs of the release of the plane\n`,
    })
  })
})
