/** Runs one call per name at a time: concurrent callers get the same result or the same error. Nothing is cached after that. */
export class SingleFlight<T> {
  private readonly underWay = new Map<string, Promise<T>>()

  run(name: string, make: () => Promise<T>): Promise<T> {
    const before = this.underWay.get(name)
    if (before !== undefined) return before
    const made = make().finally(() => this.underWay.delete(name))
    this.underWay.set(name, made)
    return made
  }
}
