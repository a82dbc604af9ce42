import { execFileSync } from 'node:child_process'
import { copyAs } from '../../../src/console/parts/copy/call-texts.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const ID = 'a1b2c3d4e5f6g7'
const LAST = { nextCursor: null, hasNextPage: false }
const POD = { id: ID, name: 'box', status: 'STARTING', statusReason: null, ports: [], cost: 1 }

let plane: ToyPlane
const at = async (routes: Routes) => (plane = await ToyPlane.open(routes))
const printed = async (...argv: string[]) =>
  await podplane([...argv, '--print', 'curl'], { plane, env: { PODPLANE_OPERATOR_KEY: 'ppo_key' } })
const changed = () => plane.asked.filter(({ method }) => method !== 'GET')
afterEach(async () => await plane.close())

describe('--print curl', () => {
  it('[CMD-37] prints the call in place of sending it, without the key, as the console copies it', async () => {
    await at({})
    const body = { name: "it's", image: 'x', cpu: { id: 'cpu3c', vcpuCount: 2 } }
    const { code, stdout, stderr } = await printed('pods', 'create', '--image', 'x', '--cpu', 'cpu3c', '--name', "it's")
    const curl = copyAs({ method: 'POST', path: '/v2/pods', body }, plane.url).find(({ name }) => name === 'curl')
    expect({ code, stderr, sent: plane.asked }).toEqual({ code: 0, stderr: '', sent: [] })
    const sorted = (text = '') =>
      text.replace(/\{.*\}/, (found) => JSON.stringify(Object.entries(JSON.parse(found.replaceAll(`'\\''`, "'"))).toSorted()))
    expect(sorted(stdout.trimEnd())).toBe(sorted(curl?.text))
    expect(stdout).not.toContain('pp_key')
  })

  it('[CMD-37] is a line that has the same effect in a shell', async () => {
    await at({ [`POST /v2/pods/${ID}/action`]: { body: POD } })
    const { stdout } = await printed('pods', 'stop', ID)
    // A server in this process cannot answer while it waits for a shell, so the line is checked by its arguments.
    const run = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${stdout}`], {
      encoding: 'utf8',
      env: { PODPLANE_API_KEY: 'pp_key' },
    })
    expect(run.split('\n')).toEqual([
      '-sS',
      '-X',
      'POST',
      `${plane.url}/v2/pods/${ID}/action`,
      '-H',
      'Authorization: Bearer pp_key',
      '-H',
      'Content-Type: application/json',
      '-d',
      '{"action":"stop"}',
      '',
    ])
  })

  it('[CMD-37] names are resolved; a read is printed as it is; there is no prompt', async () => {
    await at({ 'GET /v2/pods': { body: { pods: [POD], pagination: LAST } }, [`GET /v2/pods/${ID}`]: { body: POD } })
    expect((await printed('pods', 'delete', 'box')).stdout).toContain(`-X DELETE '${plane.url}/v2/pods/${ID}'`)
    expect((await printed('pods', 'list')).stdout).toContain(`-X GET '${plane.url}/v2/pods?limit=100'`)
    expect((await printed('pods', 'wait', 'box')).stdout).toContain(`-X GET '${plane.url}/v2/pods/${ID}'`)
    expect((await printed('hosts', 'uncordon', ID)).stdout).toContain('Bearer $PODPLANE_OPERATOR_KEY')
    expect(changed()).toEqual([])
  })

  it('[CMD-37] a command without an HTTP request is exit code 2', async () => {
    await at({})
    for (const argv of [['exec', ID, '--', 'true'], ['version'], ['pods', 'list', '--print', 'java']])
      expect({ argv, code: (await podplane(argv.includes('--print') ? argv : ['--print', 'curl', ...argv], { plane })).code }).toEqual({
        argv,
        code: 2,
      })
  })

  it('[CMD-37] the reverse: the podplane command that the console copies is accepted', async () => {
    await at({ 'POST /v2/pods': ({ body }) => ({ status: 201, body }) })
    const line = copyAs({ method: 'POST', path: '/v2/pods', body: { name: "it's" } }, plane.url).find(({ name }) => name === 'podplane')
    const words = execFileSync('sh', ['-c', `podplane() { printf '%s\\0' "$@"; }\n${line?.text}`], { encoding: 'utf8' })
      .split('\0')
      .slice(0, -1)
    expect(await podplane(words, { plane })).toMatchObject({ code: 0, stderr: '' })
    expect(changed()).toMatchObject([{ url: '/v2/pods', body: { name: "it's" } }])
  })
})
