/** Makes one thing a name at a time: callers that come meanwhile get the same one, or the same error. Nothing is remembered beyond that. */
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
