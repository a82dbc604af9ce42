import { resealAll } from '../../../src/cli/reseal.ts'
import type { Env } from '../../../src/env.ts'
import { vaultOf } from '../../../src/platform/seal.ts'
import type { VerbContext } from '../../../src/services/context.ts'
import { onceForKey } from '../../../src/services/idempotency.ts'
import { reseal } from '../../../src/services/operator/reseal.ts'
import { createAccount, describe, env, expect, it, teamOf } from '../../support/harness.ts'

const PREVIOUS: Env = { ...env, TOKEN_SECRET: 'former-secret-of-32-characters-or-so' }
const BOTH: Env = { ...env, TOKEN_SECRET_PREVIOUS: PREVIOUS.TOKEN_SECRET }
const BODY = { name: 'p' }
const ANSWERS = 45

async function account() {
  const teamId = await teamOf(await createAccount())
  const ctx = (plane: Env) => ({ env: plane, principal: { teamId }, nowMs: Date.now() }) as unknown as VerbContext
  /** A create under a key, or its repeat: `made` counts the objects made. */
  const create = async (plane: Env, key: string, body: object = BODY) => {
    let made = 0
    const answer = await onceForKey(ctx(plane), 'tests', key, body, async (store) => {
      made += 1
      const first = { key, made: 'first' }
      const touch = plane.DB.prepare('UPDATE teams SET id = id WHERE id = ?').bind(teamId)
      await plane.DB.batch([touch, ...store(first).map((statement) => prepared(plane, statement))])
      return first
    })
    return { answer, made }
  }
  const stored = async () => (await env.DB.prepare('SELECT * FROM idempotency_keys WHERE team_id = ?').bind(teamId).all()).results
  return { teamId, create, stored }
}

function prepared(plane: Env, statement: unknown): D1PreparedStatement {
  const { sql, params } = (statement as { toSQL(): { sql: string; params: unknown[] } }).toSQL()
  return plane.DB.prepare(sql).bind(...params)
}

const walk = () => {
  const operator = { env: BOTH, nowMs: Date.now(), requestId: 'rotation' }
  return resealAll({ reseal: async ({ body }: { body: { cursor?: string | undefined } }) => reseal(operator, body.cursor) })
}

describe('[SECRET-10] replies that are stored for repeats', () => {
  it('are resealed by a walk, and a repeat gets its own also without the previous secret', async () => {
    const { teamId, create, stored } = await account()
    for (let n = 0; n < ANSWERS; n += 1) expect(await create(PREVIOUS, `key-${n}`)).toMatchObject({ made: 1 })
    // A row of a release that did not seal replies.
    await env.DB.prepare("UPDATE idempotency_keys SET response = ? WHERE team_id = ? AND key = 'key-7'")
      .bind(JSON.stringify({ key: 'key-7', made: 'first' }), teamId)
      .run()
    expect((await stored()).some(({ response }) => vaultOf(env).isCurrent(String(response)))).toBe(false)
    const { parts, isComplete } = await walk()
    expect(isComplete).toBe(true)
    expect(parts.find(({ part }) => part === 'stored answers')?.resealed).toBeGreaterThanOrEqual(ANSWERS)
    expect((await stored()).every(({ response }) => vaultOf(env).isCurrent(String(response)))).toBe(true)
    for (let n = 0; n < ANSWERS; n += 1) {
      expect(await create(env, `key-${n}`)).toEqual({ answer: { key: `key-${n}`, made: 'first' }, made: 0 })
    }
    await expect(create(env, 'key-0', { name: 'other' })).rejects.toMatchObject({ key: 'validationFailed' })
    expect((await walk()).parts.find(({ part }) => part === 'stored answers')).toMatchObject({ resealed: 0, failed: [] })
  })

  it('of a release with another digest of the body are recognised by it', async () => {
    const { teamId, create } = await account()
    await create(PREVIOUS, 'old')
    const { keyedDigest } = await import('../../../src/platform/crypto.ts')
    await env.DB.prepare("UPDATE idempotency_keys SET fingerprint = ? WHERE team_id = ? AND key = 'old'")
      .bind(await keyedDigest(PREVIOUS.TOKEN_SECRET, JSON.stringify(BODY)), teamId)
      .run()
    expect(await create(BOTH, 'old')).toMatchObject({ made: 0 })
  })
})
