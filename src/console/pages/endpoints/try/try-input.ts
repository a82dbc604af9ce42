/** Result of parsing the input of a job. */
export type ReadInput = { ok: true; input: Record<string, unknown> } | { ok: false; problem: string }

/** Parses a JSON object; the input of every job is one. */
export function readInput(text: string): ReadInput {
  try {
    const input: unknown = JSON.parse(text)
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ok: true, input: input as Record<string, unknown> }
    return { ok: false, problem: 'Enter a JSON object, such as {"prompt": "hello"}.' }
  } catch (error) {
    return { ok: false, problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/**
 * Text in one event of a chat completion; undefined if it has none. Throws an `Error` with the worker's message if the event is an error.
 */
export function chatText(data: string): string | undefined {
  if (data === '[DONE]') return undefined
  const { choices, error } = JSON.parse(data) as {
    choices?: { delta?: { content?: string }; message?: { content?: string } }[]
    error?: string | { message?: string }
  }
  if (error !== undefined) throw new Error(typeof error === 'string' ? error : (error.message ?? 'the worker failed'))
  return choices?.[0]?.delta?.content ?? choices?.[0]?.message?.content ?? undefined
}
