/** Polls until `probe` gives something truthy; the error names what was waited for. */
export async function waitUntil<T>(what: string, probe: () => T | undefined | false | null, timeoutMs = 10_000): Promise<T> {
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    const value = probe()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`timed out waiting: ${what}`)
}
