import { LOOPBACK } from '../../src/local/port.ts'
import { loadPackage } from '../packages.ts'
import { openBullMq } from './bullmq.ts'
import { openPgBoss } from './pg-boss.ts'
import type { PeerQueue } from './queue.ts'
import { openSqlite } from './sqlite.ts'

// A separate process, as the plane's runtime is: `node bench/peers/serve.ts <peer> <address of its storage>` serves the peer's queue over
// HTTP, under the paths that the bench's workers use, and prints its URL. It ends when its standard input closes.

interface FastifyRequest {
  params: Record<string, string>
  query: Record<string, string>
  body: Record<string, unknown>
}
interface FastifyReply {
  code(status: number): FastifyReply
  send(): FastifyReply
}
interface Fastify {
  get(path: string, handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void
  post(path: string, handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void
  listen(at: { host: string; port: number }): Promise<string>
}

const PEERS: Record<string, (address: string) => PeerQueue | Promise<PeerQueue>> = {
  'pg-boss': openPgBoss,
  bullmq: openBullMq,
  sqlite: openSqlite,
}

const [peer = '', address = ''] = process.argv.slice(2)
const open = PEERS[peer]
if (open === undefined) throw new Error(`no such peer: ${peer}`)
const queue = await open(address)
const { fastify } = await loadPackage<{ fastify(): Fastify }>('fastify')
const server = fastify()

server.post('/run', async ({ body }) => ({ id: await queue.submit(body.input), status: 'IN_QUEUE' }))
server.get('/job-take/:worker', async (_request, reply) => (await queue.take(1))[0] ?? reply.code(204).send())
server.get('/job-take-batch/:worker', async ({ query }) => await queue.take(Number(query.batch_size)))
server.post('/job-done/:worker/:job', async ({ params, body }) => {
  await queue.finish(params.job ?? '', body.output)
  return {}
})

process.stdin.on('end', () => process.exit()).resume()
process.stdout.write(`${await server.listen({ host: LOOPBACK, port: 0 })}\n`)
