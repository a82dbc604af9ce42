import { openDatabase } from '../../../../src/db/client.ts'
import { REFERENCE_REFUSALS, type ReferenceRefusal, requireReferences } from '../../../../src/db/pods/pod-references.ts'
import type { PodRow } from '../../../../src/db/pods/pods.ts'
import { outcomeOf } from '../../../../src/db/refusals.ts'
import { pods } from '../../../../src/db/schema.ts'
import { api, createAccount, describe, env, expect, it, teamOf } from '../../../support/harness.ts'
import { draftPod } from '../../../support/pods/pods.ts'

const db = openDatabase(env.DB)
const GRANTED = { hostId: 'host', dataCenterId: 'EU-RO-1', cudaVersion: null, publicIp: null, vcpus: 2, memoryMb: 1024 }

function row(teamId: string, links: Partial<PodRow>): PodRow {
  return { ...draftPod(teamId, crypto.randomUUID()), ...GRANTED, ...links }
}

/** Records a pod as its create does, without capacity. */
function record(pod: PodRow): Promise<'done' | ReferenceRefusal> {
  return outcomeOf(db.batch([db.insert(pods).values(pod), ...requireReferences(db, pod)]), REFERENCE_REFUSALS)
}

async function resources(key: string) {
  const made = [
    await api(key).post('/v2/network-volumes', { name: 'n', size: 10, dataCenter: 'EU-RO-1' }),
    await api(key).post('/v2/global-volumes', { name: crypto.randomUUID() }),
    await api(key).post('/v2/registries', { name: 'r', username: 'u', password: 'p' }),
  ].map(({ body }) => body.id as string)
  const [networkVolumeId = '', globalVolumeId = '', registryId = ''] = made
  return { networkVolumeId, globalVolumeId, registryId }
}

describe('the references of a pod', () => {
  it('[RES-4] let it be recorded when all of them exist, or when there are none', async () => {
    const account = await createAccount()
    const teamId = await teamOf(account)
    const pod = row(teamId, await resources(account.key))
    expect(await record(pod)).toBe('done')
    expect(await env.DB.prepare('SELECT name FROM pods WHERE id = ?').bind(pod.id).first()).toEqual({ name: pod.name })
    expect(await record(row(teamId, {}))).toBe('done')
  })

  it.each(['networkVolumeId', 'globalVolumeId', 'registryId'] as const)(
    '[RES-4][AUT-5] %s: not with an unknown or foreign id',
    async (link) => {
      const [mine, theirs] = [await createAccount(), await createAccount()]
      const foreign = (await resources(theirs.key))[link]
      for (const id of ['nosuchthing', foreign]) {
        const pod = row(await teamOf(mine), { ...(await resources(mine.key)), [link]: id })
        expect(await record(pod)).toBe(link.replace(/Id$/, ''))
        expect(await env.DB.prepare('SELECT id FROM pods WHERE id = ?').bind(pod.id).first()).toBeNull()
      }
    },
  )

  it('[VOL-3][RES-4] of a simultaneous create and deletion, one is refused', async () => {
    const account = await createAccount()
    const teamId = await teamOf(account)
    for (let round = 0; round < 8; round += 1) {
      const { networkVolumeId } = await resources(account.key)
      const pod = row(teamId, { networkVolumeId })
      const deletion = () => api(account.key).delete(`/v2/network-volumes/${networkVolumeId}`)
      const [first, second] = await Promise.all(round % 2 ? [record(pod), deletion()] : [deletion(), record(pod)])
      const [stored, deleted] = typeof first === 'string' ? [first, second] : [second, first]
      expect([stored, typeof deleted === 'string' ? deleted : deleted?.status]).toEqual(
        stored === 'done' ? ['done', 400] : ['networkVolume', 204],
      )
    }
  })
})
