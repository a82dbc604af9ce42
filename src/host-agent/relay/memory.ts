import type { IncomingMessage } from 'node:http'
import { RelayRoom } from './room.ts'

/** Memory overhead of a chunk; without it a body of one-byte chunks would use far more memory than is counted. */
const PIECE_OVERHEAD_BYTES = 256

/** A result in memory; its space is reserved until `release`. */
export interface HeldBody {
  body: Buffer
  /** The workload that sent it. */
  caller: string
  release(): void
}

/** Memory for results, shared by all requests of a relay and counted while they arrive. */
export class RelayMemory {
  private readonly room: RelayRoom

  constructor(maxBytes: number, countCallers: () => number) {
    this.room = new RelayRoom(maxBytes, countCallers)
  }

  /** Bytes of all results in memory, including incomplete ones. */
  get heldBytes(): number {
    return this.room.taken
  }

  /**
   * Reads a result completely before it is offered to the plane, because it may have to be offered again. Returns undefined when it exceeds
   * `bodyMaxBytes` or there is no space. Throws, and releases its space, when the upload breaks off.
   */
  async read(caller: string, request: IncomingMessage, bodyMaxBytes: number): Promise<HeldBody | undefined> {
    const pieces: Buffer[] = []
    let bytes = 0
    let taken = 0
    const release = () => {
      this.room.giveBack(caller, taken)
      taken = 0
    }
    try {
      // The request is not destroyed on refusal: the connection is still needed for the answer.
      for await (const piece of request.iterator({ destroyOnReturn: false })) {
        bytes += piece.length
        const cost = piece.length + PIECE_OVERHEAD_BYTES
        if (bytes > bodyMaxBytes || !this.room.fits(caller, cost)) {
          release()
          return undefined
        }
        this.room.take(caller, cost)
        taken += cost
        pieces.push(piece)
      }
    } catch (error) {
      release()
      throw error
    }
    return { body: Buffer.concat(pieces, bytes), caller, release }
  }
}
