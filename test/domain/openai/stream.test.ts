import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openaiError } from '../../../src/contract/problem-body.ts'
import { brokenText, chunkOutput, doneText, NOTHING_SENT, noteSent, outputToEvents, pingText } from '../../../src/domain/openai/stream.ts'

const sent = (...texts: string[]) => texts.reduce(noteSent, NOTHING_SENT)

describe('the text of a chunk', () => {
  it('[OAI-5] text stays as it is, however it is cut', () => {
    expect(outputToEvents(chunkOutput(JSON.stringify({ output: 'data: {"a"' })))).toBe('data: {"a"')
    expect(outputToEvents(chunkOutput(JSON.stringify({ output: ':1}\n\n', other: 1 })))).toBe(':1}\n\n')
  })

  it('[OAI-5] an object, and each element of an array, is an event', () => {
    expect(outputToEvents('{"a":1.0}')).toBe('data: {"a":1.0}\n\n')
    expect(outputToEvents('[{"a":1}, {"b":2}]')).toBe('data: {"a":1}\n\ndata: {"b":2}\n\n')
    expect(outputToEvents('["data: x\\n\\n","data: y\\n\\n"]')).toBe('data: x\n\ndata: y\n\n')
    expect(outputToEvents('null')).toBe('')
  })
})

describe('[DONE]', () => {
  const done = (...texts: string[]) => sent(...texts).done

  it('[OAI-5] is found wherever the text is cut', () => {
    const text = 'data: {"a":1}\n\ndata: [DONE]\n\n'
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(text.length), (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a]
        expect(done(text.slice(0, from), text.slice(from, to), text.slice(to))).toBe(true)
      }),
    )
    expect(done('data: x\r\n\r\ndata:[DONE]')).toBe(true)
    expect(done(...'data: [DONE]')).toBe(true)
  })

  it('[OAI-5] counts only as a line of its own', () => {
    expect(done('data: {"text":"data: [DONE]"}\n\n')).toBe(false)
    expect(done('data: {"text":"', 'data: [DONE]"}\n\n')).toBe(false)
    expect(done(`data: "${'x'.repeat(100)}`, 'data: [DONE]')).toBe(false)
    expect(done(': data: [DONE]\n\n')).toBe(false)
  })

  it('[OAI-5] is added once, after a finished event', () => {
    expect(doneText(sent('data: 1\n\n'))).toBe('data: [DONE]\n\n')
    expect(doneText(sent('data: 1\r\n\r\n'))).toBe('data: [DONE]\n\n')
    expect(doneText(sent('data: 1\r\n', '\r\n'))).toBe('data: [DONE]\n\n')
    for (const text of ['data: 1', 'data: 1\n', 'data: 1\r\n']) expect(doneText(sent(text)), text).toBe('\n\ndata: [DONE]\n\n')
    expect(doneText(sent('data: 1\n\ndata: [DONE]\n\n', '\n'))).toBe('')
    expect(doneText(NOTHING_SENT)).toBe('data: [DONE]\n\n')
  })
})

describe('inserted events', () => {
  it('[OAI-6] a ping never breaks an event in two', () => {
    expect(pingText(NOTHING_SENT)).toBe(': ping\n\n')
    expect(pingText(sent('data: 1\n\n'))).toBe(': ping\n\n')
    expect(pingText(sent('data: 1\n'))).toBeNull()
    expect(pingText(sent('data: {"a'))).toBeNull()
    expect(pingText(sent('data: 1\r\n'))).toBeNull()
  })

  it('[OAI-7] an error is an event of its own and ends the text', () => {
    const error = openaiError(500, 'lost')
    const frame = 'data: {"error":{"message":"lost","type":"server_error","code":null}}\n\n'
    expect(brokenText(sent('data: 1\n\n'), error)).toBe(frame)
    expect(brokenText(sent('data: {"a'), error)).toBe(`\n\n${frame}`)
  })
})
