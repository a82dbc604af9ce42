import { DurableObject } from 'cloudflare:workers'
import { Hono } from 'hono'

interface Env {
  ROWS: DurableObjectNamespace<Rows>
  PIPE: DurableObjectNamespace<Pipe>
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

/** Holds the WebSocket of an upstream and passes requests on as its messages: the least that a proxy with one object does. */
export class Pipe extends DurableObject<Env> {
  private readonly waiting = new Map<string, (answer: Response) => void>()
  private upstream: WebSocket | null = null
  private count = 0

  override fetch(request: Request): Response | Promise<Response> {
    if (request.headers.get('upgrade') === 'websocket') return this.join()
    const id = String(this.count++)
    return new Promise((resolve) => {
      this.waiting.set(id, resolve)
      this.upstream?.send(id)
    })
  }

  private join(): Response {
    const { 0: far, 1: near } = new WebSocketPair()
    near.accept()
    near.addEventListener('message', ({ data }) => {
      const [id = '', body] = String(data).split(' ')
      this.waiting.get(id)?.(new Response(body))
      this.waiting.delete(id)
    })
    this.upstream = near
    return new Response(null, { status: 101, webSocket: far })
  }
}

const hono = new Hono<{ Bindings: Env }>()
  .get('/hono', (c) => c.json({ ok: true }))
  .post('/insert', async (c) => c.json({ id: await rows(c.env).insert(await c.req.text()), status: 'IN_QUEUE' }))
  .get('/rpc', async (c) => c.json({ answer: await rows(c.env).nothing() }))

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    if (pathname === '/pipe') return env.PIPE.getByName('all').fetch(request)
    return pathname === '/bare' ? Response.json({ ok: true }) : hono.fetch(request, env, ctx)
  },
} satisfies ExportedHandler<Env>

function rows(env: Env): DurableObjectStub<Rows> {
  return env.ROWS.getByName('all')
}
