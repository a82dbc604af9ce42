import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Lab, within } from './lab.ts'
import { numberOf } from './load.ts'
import type { Row } from './report.ts'

/** Longest time after the last job until its webhook must have arrived. */
const DELIVERY_LIMIT_MS = 60_000

/** Receives webhooks on loopback and counts them by job and by delivery. */
export class Receiver {
  readonly url: string
  /** While true, the receiver answers 503 and counts nothing. */
  isClosed = false
  /** Deliveries of each job, each with its count. */
  private readonly jobs = new Map<string, Map<string, number>>()
  /** Jobs by their input. */
  private readonly inputs = new Map<unknown, Set<string>>()

  private constructor(server: Server) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  }

  static async open(lab: Lab): Promise<Receiver> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    lab.defer(() => {
      server.close()
      server.closeAllConnections()
    })
    const receiver = new Receiver(server)
    server.on('request', async (request, response) => {
      let text = ''
      for await (const piece of request) text += piece
      if (!receiver.isClosed) receiver.note(text, String(request.headers['webhook-id']))
      response.writeHead(receiver.isClosed ? 503 : 200).end()
    })
    return receiver
  }

  /**
   * Counts, among acknowledged jobs, those without a webhook and those with two different ones, and the deliveries repeated under the same
   * id.
   */
  judge(acknowledged: Iterable<string>): { missing: number; doubled: number; repeats: number } {
    const found = { missing: 0, doubled: 0, repeats: 0 }
    for (const id of acknowledged) {
      const deliveries = this.jobs.get(id)
      if (deliveries === undefined) found.missing += 1
      else if (deliveries.size > 1) found.doubled += 1
      for (const times of deliveries?.values() ?? []) found.repeats += times - 1
    }
    return found
  }

  /** Waits for the webhooks of acknowledged jobs, and returns the row of the table that counts them. */
  async waitAndCount(acknowledged: readonly string[]): Promise<Row> {
    await within(DELIVERY_LIMIT_MS, () => this.judge(acknowledged).missing === 0)
    const { missing, doubled, repeats } = this.judge(acknowledged)
    return {
      what: 'its webhooks',
      tried: `${acknowledged.length} jobs`,
      lost: missing,
      duplicated: doubled,
      wrong: { count: 0, note: `${repeats} repeats with the same id` },
      recovered: '–',
    }
  }

  /** Counts the inputs that were submitted once, or under one Idempotency-Key, and run by two jobs. */
  doubledInputs(): number {
    return [...this.inputs.values()].filter((jobs) => jobs.size > 1).length
  }

  private note(text: string, delivery: string): void {
    const job = JSON.parse(text) as { id: string; output?: unknown }
    const deliveries = this.jobs.get(job.id) ?? new Map<string, number>()
    deliveries.set(delivery, (deliveries.get(delivery) ?? 0) + 1)
    this.jobs.set(job.id, deliveries)
    const number = numberOf(job.output)
    if (number === undefined) return
    this.inputs.set(number, (this.inputs.get(number) ?? new Set()).add(job.id))
  }
}
