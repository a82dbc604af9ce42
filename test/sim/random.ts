/** Numbers that depend on the seed alone (sfc32). A simulation draws every choice here, so a seed is a history. */
export class Random {
  private state: [number, number, number, number]

  constructor(seed: number) {
    this.state = [seed >>> 0, 0x9e3779b9, 0x243f6a88, 0xb7e15162]
    for (let i = 0; i < 20; i++) this.next()
  }

  /** At least 0, less than 1. */
  next(): number {
    const [a, b, c, d] = this.state
    const t = (((a + b) | 0) + d) | 0
    this.state = [b ^ (b >>> 9), (c + (c << 3)) | 0, (((c << 21) | (c >>> 11)) + t) | 0, (d + 1) | 0]
    return (t >>> 0) / 2 ** 32
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** An integer from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.next() * list.length)]
  }
}
