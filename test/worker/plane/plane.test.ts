import { KNOWN_MIGRATIONS } from '../../../src/db/migrations.ts'
import { readFaults } from '../../../src/services/plane/readiness.ts'
import { admin, env, expect, it, send } from '../../support/harness.ts'

it('[PLANE-1] an operator reads the release, its migrations and the checks', async () => {
  const { status, body } = await admin().get('/admin/v1/plane')
  expect(status).toBe(200)
  expect(body).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    asOf: expect.any(String),
    migrations: { newest: KNOWN_MIGRATIONS.at(-1), applied: KNOWN_MIGRATIONS.length, pending: [] },
    checks: expect.arrayContaining([expect.objectContaining({ id: 'migrations', verdict: 'OK' })]),
  })
})

it('[PLANE-2] every caller reads whether it serves, and a missing table turns that to no', async () => {
  const reply = await send('/readyz')
  expect([reply.status, await reply.json()]).toEqual([200, { status: 'ready' }])
  const newest = KNOWN_MIGRATIONS.at(-1)
  await env.DB.prepare('DELETE FROM d1_migrations WHERE name = ?').bind(newest).run()
  // A new `env` object: as another isolate, which has no cached result.
  expect(await readFaults({ ...env }, Date.now())).toMatchObject([{ id: 'migrations', verdict: 'FAIL' }])
  await env.DB.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(newest).run()
})
