import { Problem } from '../../../src/contract/problems.ts'
import { problemResponse, storageFull } from '../../../src/http/answers/problem-response.ts'
import { repeatRead } from '../../../src/http/middleware/repeat-read.ts'
import { describe, expect, it } from '../../support/harness.ts'

const full = () => problemResponse(storageFull())
const unavailable = () => problemResponse(new Problem('unavailable'))
const ok = () => new Response('ok')

/** Serves a request whose tries have these answers; returns the last status and the number of tries. */
async function serve(method: string, ...answers: (() => Response)[]) {
  let tries = 0
  const request = new Request('http://plane/v2/pods', { method })
  const response = await repeatRead(request, async () => (answers[tries++] ?? ok)())
  return [response.status, tries]
}

describe('a request that meets a full disk', () => {
  it('[PLANE-12] is repeated when it is a read, twice at most', async () => {
    expect(await serve('GET', full, full)).toEqual([200, 3])
    expect(await serve('GET', full)).toEqual([200, 2])
    expect(await serve('GET', full, full, full)).toEqual([503, 3])
  })

  it('[PLANE-12] is not repeated when it changes something, succeeded or failed for another reason', async () => {
    expect(await serve('POST', full)).toEqual([503, 1])
    expect(await serve('DELETE', full)).toEqual([503, 1])
    expect(await serve('GET', ok)).toEqual([200, 1])
    expect(await serve('GET', unavailable)).toEqual([503, 1])
  })
})
