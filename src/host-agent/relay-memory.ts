import type { IncomingMessage } from 'node:http'

/** What a piece costs besides its bytes; without it a body of one-byte pieces would hold far more than it counts. */
const PIECE_OVERHEAD_BYTES = 256

/** A result in memory; its room is taken until `release`. */
export interface HeldBody {
  body: Buffer
  release(): void
}

/** The room for results in memory, shared by all requests of a relay and counted while they arrive. */
export class RelayMemory {
  private readonly maxBytes: number
  private held = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** What results take up now, unfinished ones included. */
  get heldBytes(): number {
    return this.held
  }

  /**
   * Reads a result completely before it is offered to the plane, because it may have to be offered again; undefined when
   * it is bigger than `bodyMaxBytes` or there is no room. An upload that breaks off throws and holds nothing.
   */
  async read(request: IncomingMessage, bodyMaxBytes: number): Promise<HeldBody | undefined> {
    const pieces: Buffer[] = []
    let bytes = 0
    let taken = 0
    const release = () => {
      this.held -= taken
      taken = 0
    }
    try {
      // Not destroyed on refusal: the connection is still needed for the answer.
      for await (const piece of request.iterator({ destroyOnReturn: false })) {
        bytes += piece.length
        const cost = piece.length + PIECE_OVERHEAD_BYTES
        if (bytes > bodyMaxBytes || this.held + cost > this.maxBytes) {
          release()
          return undefined
        }
        this.held += cost
        taken += cost
        pieces.push(piece)
      }
    } catch (error) {
      release()
      throw error
    }
    return { body: Buffer.concat(pieces, bytes), release }
  }
}
