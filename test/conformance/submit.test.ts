import { describe } from 'vitest'
import type { ErrorView } from './support/endpoint.ts'
import { expect, scenario } from './support/scenario.ts'

describe('the input of a job', () => {
  scenario('[INV-6] RUN-2: input that is missing or not an object is 400 on run and runsync', {}, async (endpoint) => {
    const bodies = ['{}', '{"input":null}', '{"input":[]}', '{"input":"text"}', '{"input":7}', '{"input":true}', '[]', '"text"', 'null', '']
    for (const operation of ['run', 'runsync']) {
      for (const body of [...bodies, '{"input":', 'input={}']) {
        const reply = await endpoint.call<ErrorView>('POST', operation, { body })
        expect(reply.status, `${operation} ${body}`).toBe(400)
        expect(reply.body.status, `${operation} ${body}`).toBe(400)
      }
    }
    expect((await endpoint.health()).jobs.inQueue).toBe(0)
  })

  scenario('[INV-6] RUN-2, WRK-9: {} is accepted and reaches the worker as {}', { workers: 1 }, async (endpoint) => {
    const worker = await endpoint.nextWorker()
    const queued = await endpoint.call('POST', 'run', { body: '{"input":{}}' })
    expect(queued.status).toBe(200)
    const taken = await worker.takeJob()
    expect(taken).toMatchObject({ id: queued.body.id, input: {} })
    expect(taken.input).toEqual({})
  })

  scenario(
    '[INV-6] RUN-2, API-14: members of the input reach the worker unchanged, and unknown members beside it are ignored',
    { workers: 1 },
    async (endpoint) => {
      const worker = await endpoint.nextWorker()
      const input = { input: {}, nested: { list: [1, 'two', null, { three: 3 }] }, text: 'ß → 日本語 "quoted"', big: 12345678901234 }
      await endpoint.run(input, { webhookV2: 'x', unknown: [1] })
      expect((await worker.takeJob()).input).toEqual(input)
    },
  )
})
