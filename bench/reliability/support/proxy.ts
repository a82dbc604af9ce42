import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from './lab.ts'

const DELAY_MS = 500
const FRAGMENT_BYTES = 7
/** Longest piece that is fragmented, bytes; larger pieces would take minutes. */
const FRAGMENTS_MAX = 600
const CUT_EVERY_MS = 150
const DUPLICATE_MS = 5_000

/**
 * Kinds of network faults. `cut`: inside a frame; `half-close`: one direction ends, the other stays; `duplicate`: each POST arrives twice.
 */
export type Trouble = 'none' | 'delay' | 'fragments' | 'cut' | 'half-close' | 'duplicate' | 'black hole'

/** A proxy on loopback in front of a plane, which simulates network faults. */
export class HostileProxy {
  readonly url: string
  readonly counts: Record<'cuts' | 'halfCloses' | 'duplicates', number> = { cuts: 0, halfCloses: 0, duplicates: 0 }
  private trouble: Trouble = 'none'
  private readonly port: number
  private readonly pairs = new Set<{ client: Socket; plane: Socket }>()

  private constructor(lab: Lab, server: Server, planePort: number) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.port = planePort
    server.on('connection', (client) => this.join(client))
    const timer = setInterval(() => this.strike(), CUT_EVERY_MS)
    lab.defer(() => {
      clearInterval(timer)
      server.close()
      for (const pair of this.pairs) this.end(pair)
    })
  }

  static async open(lab: Lab, planePort: number): Promise<HostileProxy> {
    // The proxy also simulates half-open connections.
    const server = createServer({ allowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new HostileProxy(lab, server, planePort)
  }

  /** Sets the fault, for open connections too. Data that a black hole has dropped is lost together with its connections. */
  set(trouble: Trouble): void {
    if (this.trouble === 'black hole') for (const pair of this.pairs) this.end(pair)
    this.trouble = trouble
  }

  private join(client: Socket): void {
    const plane = connect({ port: this.port, host: '127.0.0.1', allowHalfOpen: true })
    const pair = { client, plane }
    this.pairs.add(pair)
    for (const socket of [client, plane]) {
      socket.setNoDelay(true)
      socket.on('error', () => this.end(pair))
      socket.on('close', () => this.end(pair))
    }
    this.pass(client, plane, (piece) => this.repeat(piece))
    this.pass(plane, client)
  }

  /** Passes one direction; pieces stay in order. */
  private pass(from: Socket, to: Socket, notice: (piece: Buffer) => void = () => undefined): void {
    let before = Promise.resolve()
    from.on('data', (piece: Buffer) => {
      if (this.trouble === 'black hole') return
      notice(piece)
      const delayMs = this.trouble === 'delay' ? DELAY_MS : 0
      const due = performance.now() + delayMs
      before = before.then(() => this.write(to, piece, due))
    })
    from.on('end', () => {
      if (this.trouble !== 'black hole') before = before.then(() => void to.end())
    })
  }

  private async write(to: Socket, piece: Buffer, due: number): Promise<void> {
    const waitMs = due - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    if (this.trouble !== 'fragments' || piece.length > FRAGMENT_BYTES * FRAGMENTS_MAX) {
      if (to.writable) to.write(piece)
      return
    }
    for (let at = 0; at < piece.length && to.writable; at += FRAGMENT_BYTES) {
      to.write(piece.subarray(at, at + FRAGMENT_BYTES))
      // Yields, so that each fragment is a separate packet.
      await new Promise(setImmediate)
    }
  }

  /** Sends a complete POST again on a separate connection, whose answer is ignored. */
  private repeat(piece: Buffer): void {
    if (this.trouble !== 'duplicate' || !piece.subarray(0, 5).equals(Buffer.from('POST ')) || !isWhole(piece)) return
    this.counts.duplicates += 1
    const again = connect({ port: this.port, host: '127.0.0.1' }, () => again.write(piece))
    again.on('error', () => undefined).resume()
    again.setTimeout(DUPLICATE_MS, () => again.destroy())
  }

  /** Cuts one random connection, or ends one of its directions. */
  private strike(): void {
    const pairs = [...this.pairs]
    const pair = pairs[Math.floor(Math.random() * pairs.length)]
    if (pair === undefined) return
    if (this.trouble === 'cut') {
      this.counts.cuts += 1
      // The start of a possible WebSocket frame, without the rest.
      pair.client.write(Buffer.from([0x81]))
      pair.client.resetAndDestroy()
      pair.plane.resetAndDestroy()
    } else if (this.trouble === 'half-close') {
      this.counts.halfCloses += 1
      if (Math.random() < 0.5) pair.client.end()
      else pair.plane.end()
    }
  }

  private end(pair: { client: Socket; plane: Socket }): void {
    this.pairs.delete(pair)
    pair.client.destroy()
    pair.plane.destroy()
  }
}

function isWhole(request: Buffer): boolean {
  const end = request.indexOf('\r\n\r\n')
  const length = /\r\ncontent-length: *(\d+)/i.exec(request.subarray(0, Math.max(0, end)).toString('latin1'))?.[1]
  return end >= 0 && length !== undefined && request.length === end + 4 + Number(length)
}
