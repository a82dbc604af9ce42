import type { JobContext, JobResult } from './worker-client.ts'

const CHAT = /^\/v1\/chat\/completions(\?|$)/

/**
 * `builtin/echo`: the smallest useful worker; its output is its input. The answer to an OpenAI chat request is its last message (OAI-16).
 */
export async function echo(input: unknown, job: JobContext): Promise<JobResult> {
  const call = chatCall(input)
  if (call === null) return { output: input }
  if (!call.isStream)
    return { output: completion(call.model, 'chat.completion', { message: { role: 'assistant', content: call.text } }, 'stop') }
  const say = (chunk: unknown) => job.postChunk(`data: ${JSON.stringify(chunk)}\n\n`)
  for (const word of call.text.match(/\S+\s*/g) ?? []) {
    await say(completion(call.model, 'chat.completion.chunk', { delta: { content: word } }, null))
  }
  await say(completion(call.model, 'chat.completion.chunk', { delta: {} }, 'stop'))
  await job.postChunk('data: [DONE]\n\n')
  return { output: [], isStream: true }
}

interface ChatCall {
  model: string
  text: string
  isStream: boolean
}

/** Parses an OpenAI chat request; null for any other input. No input is refused, because echo returns any input. */
function chatCall(input: unknown): ChatCall | null {
  const { openai_route: route, openai_input: body } = membersOf(input)
  if (typeof route !== 'string' || !CHAT.test(route)) return null
  const { model, messages, stream } = membersOf(body)
  const { content } = membersOf(Array.isArray(messages) ? messages.at(-1) : null)
  if (typeof content !== 'string') return null
  return { model: typeof model === 'string' ? model : 'echo', text: content, isStream: stream === true }
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

function completion(model: string, object: string, content: object, finishReason: string | null) {
  const created = Math.floor(Date.now() / 1_000)
  return { id: `chatcmpl-${created}`, object, created, model, choices: [{ index: 0, finish_reason: finishReason, ...content }] }
}
