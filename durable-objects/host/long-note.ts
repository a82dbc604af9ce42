import type { WorkloadStore } from './workload-store.ts'

/** Characters per row: a row has at most two megabytes. */
const PIECE_CHARS = 500_000

type Notes = Pick<WorkloadStore, 'readMeta' | 'writeMeta' | 'clearMeta'>

/** A text that a host's object stores in as many rows as it needs: networks of many accounts have more members than fit in one row. */
export class LongNote {
  private readonly notes: Notes
  private readonly key: string

  constructor(notes: Notes, key: string) {
    this.notes = notes
    this.key = key
  }

  /** The stored text; null when there is none. */
  read(): string | null {
    const pieces: string[] = []
    for (let piece = this.at(0); piece !== null; piece = this.at(pieces.length)) pieces.push(piece)
    return pieces.length === 0 ? null : pieces.join('')
  }

  /** Stores a text; an empty one deletes it. */
  write(text: string): void {
    const count = Math.ceil(text.length / PIECE_CHARS)
    for (let index = 0; index < count; index += 1) {
      this.notes.writeMeta(this.keyOf(index), text.slice(index * PIECE_CHARS, (index + 1) * PIECE_CHARS))
    }
    for (let index = count; this.at(index) !== null; index += 1) this.notes.clearMeta(this.keyOf(index))
  }

  private at(index: number): string | null {
    return this.notes.readMeta(this.keyOf(index))
  }

  private keyOf(index: number): string {
    return index === 0 ? this.key : `${this.key} ${index}`
  }
}
