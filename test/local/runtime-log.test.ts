import { describe, expect, it } from 'vitest'
import { runtimeOptions } from '../../src/local/plane/runtime.ts'

describe('a line of the log of the runtime', () => {
  const lineOf = (message: string) => {
    const lines: string[] = []
    runtimeOptions('/tmp/none', (line) => lines.push(line)).handleStructuredLogs({ message })
    return lines
  }

  it('[EDG-21] has no parameters of a failed statement whose error left the Worker', () => {
    const failed = 'Uncaught exception: remote.jsg.Error: Failed query: insert into "pods" values (?)'
    expect(lineOf(`${failed}\nparams: what a tenant\nsent`)).toEqual([failed])
  })

  it('is otherwise as the Worker wrote it', () => {
    const line = JSON.stringify({ level: 'error', error: 'Failed query: x\nparams: y' })
    expect(lineOf(line)).toEqual([line])
  })
})
