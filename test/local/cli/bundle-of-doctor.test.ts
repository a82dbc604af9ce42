import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { redact } from '../../../src/cli/tools/redact.ts'
import { afterEach, beforeEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, ToyPlane } from './terminal.ts'

const SECRETS = {
  key: 'pp_a1b2c3_thekeyofthisrun',
  otherContext: 'pp_a1b2c3_thekeyofanothercontext',
  operator: 'ppo_theoperatorkey',
  ofEnvironment: 'plainwordsthatnobodyguesses',
  ofAddress: 'hunter22',
  ofReason: 'letmein99',
}
const LAST = { nextCursor: null, hasNextPage: false }

let home: string
let plane: ToyPlane | undefined
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'podplane-home-'))
})
afterEach(async () => {
  await plane?.close()
  plane = undefined
  rmSync(home, { recursive: true, force: true })
})

describe('doctor --bundle', () => {
  it('[CMD-36] is one archive of the findings, without any secret', async () => {
    mkdirSync(join(home, '.config/podplane'), { recursive: true })
    writeFileSync(join(home, '.config/podplane/config.toml'), `[contexts.lab]\nurl = "https://me:${SECRETS.ofAddress}@lab.example.com"\n`)
    writeFileSync(join(home, '.config/podplane/credentials.json'), JSON.stringify({ contexts: { lab: { key: SECRETS.otherContext } } }))
    const pod = {
      id: 'p1',
      name: SECRETS.ofEnvironment,
      status: 'ERROR',
      statusReason: `pull failed: password=${SECRETS.ofReason} key ${SECRETS.key}`,
      image: `https://me:${SECRETS.ofAddress}@registry.example.com/x`,
      env: { ANY: SECRETS.ofReason },
    }
    plane = await ToyPlane.open({
      'GET /healthz': { body: { status: 'ok' } },
      'GET /v2/user': { body: { id: 'u1' } },
      'GET /v2/account/ssh-keys': { body: { keys: [] } },
      'GET /v2/pods': { body: { pods: [pod], pagination: LAST } },
      'GET /v2/events': { status: 403, body: { title: 'Forbidden', status: 403, detail: `no scope for ${SECRETS.key}` } },
    })
    const env = { PODPLANE_API_KEY: SECRETS.key, PODPLANE_OPERATOR_KEY: SECRETS.operator, MY_TOKEN: SECRETS.ofEnvironment }
    const ran = await podplane(['doctor', '--bundle', 'seen.tar.gz'], { plane, env, home, cwd: home })
    const place = join(home, 'seen.tar.gz')
    expect({ code: ran.code, mode: statSync(place).mode & 0o777 }).toEqual({ code: 0, mode: 0o600 })
    expect(execFileSync('tar', ['-tzf', place], { encoding: 'utf8' }).trim().split('\n')).toEqual(
      ['doctor.json', 'versions.json', 'environment.json', 'config.toml', 'pods.json', 'endpoints.json', 'events.json'].map(
        (name) => `podplane-doctor/${name}`,
      ),
    )
    const text = execFileSync('tar', ['-xzOf', place], { encoding: 'utf8' })
    expect(Object.entries(SECRETS).filter(([, secret]) => (text + ran.stdout + ran.stderr).includes(secret))).toEqual([])
    // Other values are included.
    for (const received of ['"status": "ERROR"', 'lab.example.com', 'PODPLANE_API_KEY', '"id": "websocket"', 'no scope for'])
      expect(text).toContain(received)
    const again = await podplane(['doctor', '--bundle', 'seen.tar.gz'], { plane, env, home, cwd: home })
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') })
  })

  it('[CMD-36] is written without a known plane, too', async () => {
    expect((await podplane(['doctor', '--bundle', 'seen.tar.gz'], { home, cwd: home })).code).toBe(1)
    expect(execFileSync('tar', ['-xzOf', join(home, 'seen.tar.gz')], { encoding: 'utf8' })).toContain('no plane is configured')
  })

  it('[CMD-36] detects secrets by their form, and leaves the rest as it is', () => {
    const hidden = (text: string) => redact(text, [])
    expect(hidden('Bearer abc.def, ppj_abcdef, https://a.example.com/x?token=abc&limit=5')).toBe(
      'Bearer [redacted], [redacted], https://a.example.com/x?token=[redacted]&limit=5',
    )
    expect(JSON.parse(hidden('{"apiKey": "x y z", "name": "keyboard"}'))).toEqual({ apiKey: '[redacted]', name: 'keyboard' })
    const plain = '{"id":"ssh-keys","evidence":"no SSH key is registered","status":"warn"}'
    expect(hidden(plain)).toBe(plain)
  })
})
