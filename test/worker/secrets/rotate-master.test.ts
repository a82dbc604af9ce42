import { rotateMaster } from '../../../src/cli/reseal.ts'
import { openDatabase, openRecords } from '../../../src/db/client.ts'
import { measureSecrets, readSecretValues } from '../../../src/db/resources/secrets.ts'
import { fillEnv } from '../../../src/effects/secret-env.ts'
import type { Env } from '../../../src/env.ts'
import { vaultOf } from '../../../src/platform/seal.ts'
import { countedAsRequest } from '../../../src/rpc/counted.ts'
import type { VerbContext } from '../../../src/services/context.ts'
import { reseal } from '../../../src/services/operator/reseal.ts'
import { createSecret, updateSecret } from '../../../src/services/resources/secrets.ts'
import { createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'

/**
 * The secrets of isolates in the steps of a rotation: the previous secret seals until every isolate can open text sealed with the new one.
 */
const PREVIOUS: Env = { ...env, TOKEN_SECRET: 'former-secret-of-32-characters-or-so' }
const LATE: Env = { ...PREVIOUS, TOKEN_SECRET_PREVIOUS: env.TOKEN_SECRET }
const BOTH: Env = { ...env, TOKEN_SECRET_PREVIOUS: PREVIOUS.TOKEN_SECRET }
/** Three parts. */
const LARGE = 2_000_000

/** A workload that names a secret, with the grant. */
const naming = (name: string) => ({ env: { V: `{{ RUNPOD_SECRET_${name} }}` }, secretGrants: { [name]: '' } })

async function contexts() {
  const account = await createAccount()
  const teamId = await teamOf(account)
  const principal = {
    via: 'KEY',
    credentialId: account.keyId,
    userId: account.userId,
    teamId,
    scopes: new Set(['account:read', 'account:write']),
  } as unknown as VerbContext['principal']
  return {
    teamId,
    in: (plane: Env) =>
      ({ env: plane, principal, nowMs: Date.now(), requestId: 'r', counted: countedAsRequest() }) as unknown as VerbContext,
  }
}

async function keyIdsOfParts(): Promise<string[]> {
  const rows = await env.DB.prepare('SELECT DISTINCT substr(sealed, 1, 14) AS head FROM secret_parts ORDER BY 1').all<{ head: string }>()
  return rows.results.map(({ head }) => head)
}

describe('rotate-master', () => {
  it('[SECRET-7][SEAL-3] during creates, rotations and boots no value is unreadable at any moment, and the previous secret can be removed', {
    timeout: 120_000,
  }, async () => {
    const team = await contexts()
    /** By secret, the number of its rotations: a boot reads the last finished one, or a later one that has begun. */
    const begun = new Map<string, number>()
    const over = new Map<string, number>()
    const textOf = (name: string, n: number) => `${name}=${n};`
    const write = async (plane: Env, name: string, n: number, id: string | null) => {
      begun.set(name, n)
      const value = name.startsWith('LARGE') ? textOf(name, n).padEnd(LARGE, '.') : textOf(name, n)
      const { id: written } =
        id === null ? await createSecret(team.in(plane), { name, value }, undefined) : await updateSecret(team.in(plane), id, { value })
      over.set(name, n)
      return written
    }
    const ids = new Map<string, string>()
    for (let n = 0; n < 24; n += 1) ids.set(`S${n}`, await write(PREVIOUS, `S${n}`, 0, null))
    for (let n = 0; n < 4; n += 1) ids.set(`LARGE${n}`, await write(PREVIOUS, `LARGE${n}`, 0, null))
    expect(await keyIdsOfParts()).toHaveLength(1)

    let isWalking = true
    let boots = 0
    const wrong: string[] = []
    const boot = async (plane: Env, name: string) => {
      const least = over.get(name) ?? 0
      const filled = await fillEnv(plane, team.teamId, naming(name)).catch((error: unknown) => String(error))
      const seen = typeof filled === 'string' || !filled.ok ? '' : (filled.env.V ?? '')
      const n = Number(/=(\d+);$/.exec(seen)?.[1] ?? Number.NaN)
      if (!(n >= least && n <= (begun.get(name) ?? 0)) || seen !== textOf(name, n)) wrong.push(`${name}: ${JSON.stringify(filled)}`)
      boots += 1
    }
    const booting = async (plane: Env) => {
      for (let n = 0; isWalking; n += 1) await boot(plane, `S${n % 24}`)
    }
    // The first isolates still seal with the previous secret.
    const changing = async () => {
      for (let n = 0; n < 30; n += 1) {
        const plane = n < 10 ? LATE : BOTH
        await write(plane, `S${n % 24}`, Math.floor(n / 24) + 1, ids.get(`S${n % 24}`) ?? '')
        if (n % 10 === 0) await write(plane, `LARGE${n / 10}`, 1, ids.get(`LARGE${n / 10}`) ?? '')
        ids.set(`NEW${n}`, await write(plane, `NEW${n}`, 0, null))
      }
    }
    const operator = { env: BOTH, nowMs: Date.now(), requestId: 'rotation' }
    const api = { reseal: async ({ body }: { body: { cursor?: string | undefined } }) => reseal(operator, body.cursor) }
    const walking = async () => {
      const report = await rotateMaster(api as never)
      await changes
      const last = await rotateMaster(api as never)
      isWalking = false
      return [report, last]
    }
    const changes = changing()
    const [reports] = await Promise.all([walking(), booting(BOTH), booting(LATE)])
    expect(wrong).toEqual([])
    expect(boots).toBeGreaterThan(30)
    expect(reports[1]).toMatchObject({ done: true })
    expect(reports[1]?.parts.find(({ part }) => part === 'secrets')).toMatchObject({ resealed: 0, failed: [] })

    // Without the previous secret everything opens, each value is the last one, and a large one is complete.
    expect(vaultOf(env).isCurrent((await keyIdsOfParts())[0] ?? '')).toBe(true)
    expect(await keyIdsOfParts()).toHaveLength(1)
    for (const name of ids.keys()) {
      if (!name.startsWith('LARGE')) await boot(env, name)
    }
    expect(wrong).toEqual([])
    const large = await measureSecrets(openDatabase(env.DB), team.teamId, ['LARGE0', 'LARGE3'])
    const values = await readSecretValues(openRecords(env), large)
    expect([values.get('LARGE0'), values.get('LARGE3')].map((value) => [value?.slice(0, 9), value?.length])).toEqual([
      ['LARGE0=1;', LARGE],
      ['LARGE3=0;', LARGE],
    ])
    await expect(fillEnv(PREVIOUS, team.teamId, naming('S0'))).rejects.toThrow('TOKEN_SECRET_PREVIOUS')
    console.info(JSON.stringify({ rotateMaster: { boots, secrets: ids.size, walks: reports.map(({ walks }) => walks) } }))
  })
})
