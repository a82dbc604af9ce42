import { expect, it, send } from '../../support/harness.ts'
import { FakeTunnel, reply, type Serve } from '../../support/hosts/fake-tunnel.ts'
import { OF_ONE_ANSWER, SPOKEN_FOR_OTHERS } from '../../support/http/answer-headers.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { setUp, startWorker } from '../../support/queue/balancer-scene.ts'

// Response headers of a workload that pass through the whole Worker, which adds and removes headers.

const SAID = 'said-by-the-workload'
const GIVEN = [...SPOKEN_FOR_OTHERS, ...OF_ONE_ANSWER].map((name): [string, string] => [name, SAID])
const serve: Serve = async ({ stream }) => {
  stream.accept()
  await reply(stream, 200, 'x', GIVEN)
}

const PORTS: Record<string, () => Promise<Response>> = {
  'the path of a pod': async () => {
    const scene = await podScene()
    await FakeTunnel.open(scene.host, serve)
    const { id } = await scene.create({ ports: ['8888/http'] })
    await scene.run(id)
    const answer = await send(`/proxy/${id}/8888/`)
    scene.leave()
    return answer
  },
  'the path of an endpoint': async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } }, serve)
    await startWorker(scene)
    return scene.ask('/')
  },
}

it.each(Object.entries(PORTS))(`[S7] [EDG-11] of ${GIVEN.length} headers %s passes those of one response alone`, async (_, visit) => {
  const { status, headers } = await visit()
  const passed = [...headers].flatMap(([name, value]) => (value.includes(SAID) ? [name] : []))
  expect([status, passed.sort()]).toEqual([200, OF_ONE_ANSWER.map((name) => name.toLowerCase()).sort()])
})
