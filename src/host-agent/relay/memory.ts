import type { IncomingMessage } from 'node:http'
import { RelayRoom } from './room.ts'

/** What a piece costs besides its bytes; without it a body of one-byte pieces would hold far more than it counts. */
const PIECE_OVERHEAD_BYTES = 256

/** A result in memory; its room is taken until `release`. */
export interface HeldBody {
  body: Buffer
  /** The workload that sent it. */
  caller: string
  release(): void
}

/** The room for results in memory, shared by all requests of a relay and counted while they arrive. */
export class RelayMemory {
  private readonly room: RelayRoom

  constructor(maxBytes: number, countCallers: () => number) {
    this.room = new RelayRoom(maxBytes, countCallers)
  }

  /** What results take up now, unfinished ones included. */
  get heldBytes(): number {
    return this.room.taken
  }

  /**
   * Reads a result completely before it is offered to the plane, because it may have to be offered again; undefined when
   * it is bigger than `bodyMaxBytes` or there is no room. An upload that breaks off throws and holds nothing.
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
      // Not destroyed on refusal: the connection is still needed for the answer.
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
