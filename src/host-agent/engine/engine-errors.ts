/** The process that connects to the engine has ended; the engine itself may still run. */
export class EngineClientEnded extends Error {
  override readonly name = 'EngineClientEnded'

  constructor() {
    super('the engine client ended; it is started again')
  }
}

/** The HTTP status of the engine's answer; undefined without one. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** The engine's error text, without the client's prefix "(HTTP code 404) no such image - ". */
export function engineText(error: unknown): string {
  if (error instanceof Error && 'json' in error && typeof error.json === 'object' && error.json !== null && 'message' in error.json) {
    return String(error.json.message)
  }
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/^\(HTTP code \d+\) [^-]+ - /, '').trim()
}

/** The result of a call; undefined when the engine answers 404. */
export async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

/** Treats answers with these statuses as success. */
export async function ignoring(statuses: readonly number[], call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!statuses.includes(statusOf(error) ?? 0)) throw error
  }
}
