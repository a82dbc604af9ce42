/** The pieces of a stream that have come and were not read yet. */
export class Pieces {
  private readonly pieces: Buffer[] = []
  private ended: { error: Error | null } | undefined
  private wake: () => void = () => {}

  add(piece: Buffer): void {
    this.pieces.push(piece)
    this.wake()
  }

  /** No more will come; what has come is read first. */
  end(error: Error | null): void {
    this.ended ??= { error }
    this.wake()
  }

  /** `onTaken` hears of every piece that was read; `onLeft` when the reader has gone. */
  async *read(onTaken: (bytes: number) => void, onLeft: () => void): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const piece = this.pieces.shift()
        if (piece !== undefined) {
          yield piece
          onTaken(piece.length)
        } else if (this.ended !== undefined) {
          if (this.ended.error !== null) throw this.ended.error
          return
        } else {
          await new Promise<void>((resolve) => {
            this.wake = resolve
          })
        }
      }
    } finally {
      onLeft()
    }
  }
}
