/** Lines that the end of a history is shown with. */
const SHOWN = 60

/** The lines of a history, as a hash and as its last lines. The hash uses 32-bit arithmetic alone, so every runtime computes the same one. */
export class Trace {
  private high = 0xdeadbeef
  private low = 0x41c6ce57
  private readonly last: string[] = []

  say(line: string): void {
    for (let i = 0; i < line.length; i++) {
      const code = line.charCodeAt(i)
      this.high = Math.imul(this.high ^ code, 2654435761)
      this.low = Math.imul(this.low ^ code, 1597334677)
    }
    this.high = Math.imul(this.high ^ (this.low >>> 16), 2246822507)
    this.low = Math.imul(this.low ^ (this.high >>> 13), 3266489909)
    this.last.push(line)
    if (this.last.length > SHOWN) this.last.shift()
  }

  /** 16 hexadecimal digits. */
  hash(): string {
    return [this.high, this.low].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('')
  }

  /** The newest lines, oldest first. */
  tail(): string {
    return this.last.join('\n')
  }
}
