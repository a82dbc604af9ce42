import { findPodOfKey, issuePodKey } from '../../../src/effects/pods/pod-key.ts'
import { issueWorkerToken, ownByWorkerToken } from '../../../src/effects/workers/worker-token.ts'
import { readSettings } from '../../../src/env.ts'
import { renewHostToken } from '../../../src/services/hosts/host-enrolment.ts'
import worker from '../../../src/worker.ts'
import { describe, env, expect, it, ORIGIN } from '../../support/harness.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

const CALL = { operation: 'ping', endpointId: 'e', workerId: 'w' }

describe('a plane without its secrets', () => {
  for (const [name, value] of [
    ['TOKEN_SECRET', undefined],
    ['TOKEN_SECRET', ''],
    ['TOKEN_SECRET', 'short'],
    ['KEY_PEPPER', undefined],
  ] as const) {
    it(`[L8][SEAL-1] refuses every request and names the missing one: ${name} = ${JSON.stringify(value)}`, async () => {
      const bare = { ...env, [name]: value }
      expect(() => readSettings(bare as typeof env)).toThrow(`${name} is not set`)
      for (const path of ['/healthz', '/v2/pods', '/v2/abc/run', '/host/v1/token']) {
        const request = new Request(`${ORIGIN}${path}`) as Parameters<typeof worker.fetch>[0]
        const reply = await worker.fetch(request, bare as typeof env, {} as ExecutionContext)
        expect([path, reply.status, await reply.text()]).toEqual([path, 503, expect.stringContaining(`${name} is not set`)])
      }
    })
  }

  it('[L8][SEAL-1] signs nothing: no token of a host is made with a known text', async () => {
    await expect(renewHostToken({ ...env, TOKEN_SECRET: '' }, 'x.y.z', null, Date.now())).rejects.toThrow()
  })
})

describe('a secret that was rotated', () => {
  it('[L7][SEAL-3] keys of running workers and pods stay valid as long as their secret is named, and no longer', async () => {
    const scene = await podScene()
    const { id } = await scene.create()
    const previous = { ...env, TOKEN_SECRET: 'former-secret-of-32-characters-or-so' }
    const both = { ...env, TOKEN_SECRET_PREVIOUS: `something-else-that-is-long, ${previous.TOKEN_SECRET}` }
    const [workerKey, podKey] = [await issueWorkerToken(previous, 'e', 'w'), await issuePodKey(previous, id)]
    expect((await ownByWorkerToken(env, CALL, workerKey)) !== null).toBe(false)
    expect(await findPodOfKey(env, podKey)).toBeNull()
    expect((await ownByWorkerToken(both, CALL, workerKey)) !== null).toBe(true)
    expect(await findPodOfKey(both, podKey)).toMatchObject({ podId: id })
    scene.leave()
  })
})
