import { Hono } from 'hono'
import { z } from 'zod'
import { Problem } from '../contract/problems.ts'
import { announcedBytes } from '../domain/text/body-length.ts'
import { MAX_SSH_OPEN_CHARS, SSH_OPEN_HEADER, SshAdmit, SshOpen } from '../host-protocol/ssh-proxy.ts'
import { admitSsh, openSsh, requireSshProxy } from '../services/pods/ingress/ssh.ts'
import { type AppContext, type AppEnv, operatorContext } from './app-env.ts'
import { INGRESS_CHECKS } from './ingress/ingress-checks.ts'
import { socketWhile } from './watched/socket-while.ts'

const MAX_BODY_BYTES = 16 * 1024
const SWITCHING = 101

/** The private API of the SSH proxy, `/ssh/v1`; it is in no public document. */
export function sshApi(): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.use('*', async (c, next) => {
    await requireSshProxy(c.env, c.req.header('authorization') ?? null)
    await next()
  })
  app.post('/admit', async (c) => {
    await admitSsh(operatorContext(c), parsed(SshAdmit, await readBody(c)))
    return c.body(null, 204)
  })
  app.get('/open', async (c) => {
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
      throw new Problem('badRequest', { detail: 'this path accepts WebSocket connections only: send Upgrade: websocket' })
    }
    const { socket, isRunning } = await openSsh(operatorContext(c), parsed(SshOpen, readHeader(c)), c.req.raw.signal)
    const why = 'the pod does not run, or its account does not accept this key'
    return new Response(null, {
      status: SWITCHING,
      webSocket: socketWhile(socket, { isGood: isRunning, everyMs: INGRESS_CHECKS.everyMs, why }),
    })
  })
  return app
}

async function readBody(c: AppContext): Promise<unknown> {
  if ((announcedBytes(c.req.raw.headers) ?? Number.POSITIVE_INFINITY) > MAX_BODY_BYTES) throw new Problem('payloadTooLarge')
  return await c.req.json().catch(() => null)
}

function readHeader(c: AppContext): unknown {
  const text = c.req.header(SSH_OPEN_HEADER) ?? ''
  if (text.length > MAX_SSH_OPEN_CHARS) throw new Problem('badRequest', { detail: 'the command is too long' })
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (!result.success) throw new Problem('validationFailed', { errors: [z.prettifyError(result.error)] })
  return result.data
}
