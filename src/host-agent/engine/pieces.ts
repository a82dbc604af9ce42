/** Buffer of the received pieces of a stream that were not read yet. */
export class Pieces {
  private readonly pieces: Buffer[] = []
  private ended: { error: Error | null } | undefined
  private wake: () => void = () => {}

  add(piece: Buffer): void {
    this.pieces.push(piece)
    this.wake()
  }

  /** Ends the stream; its buffered pieces are read first. */
  end(error: Error | null): void {
    this.ended ??= { error }
    this.wake()
  }

  /** Reads the pieces. Calls `onTaken` after each piece, and `onLeft` when the reader leaves. Throws the error that ended the stream. */
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
