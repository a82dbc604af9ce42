import { DurableObject } from 'cloudflare:workers'
import { Hono } from 'hono'

interface Env {
  ROWS: DurableObjectNamespace<Rows>
}

/** Inserts one row per request in the naive way: one statement, one flush to disk. */
export class Rows extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL)')
  }

  insert(body: string): number {
    return this.ctx.storage.sql.exec<{ id: number }>('INSERT INTO rows (body) VALUES (?) RETURNING id', body).one().id
  }

  nothing(): string {
    return 'ok'
  }
}

const hono = new Hono<{ Bindings: Env }>()
  .get('/hono', (c) => c.json({ ok: true }))
  .post('/insert', async (c) => c.json({ id: await rows(c.env).insert(await c.req.text()), status: 'IN_QUEUE' }))
  .get('/rpc', async (c) => c.json({ answer: await rows(c.env).nothing() }))

export default {
  fetch(request, env, ctx) {
    return new URL(request.url).pathname === '/bare' ? Response.json({ ok: true }) : hono.fetch(request, env, ctx)
  },
} satisfies ExportedHandler<Env>

function rows(env: Env): DurableObjectStub<Rows> {
  return env.ROWS.getByName('all')
}
