import { expect, it, send } from '../../support/harness.ts'
import { FakeTunnel, reply, type Serve } from '../../support/hosts/fake-tunnel.ts'
import { podScene } from '../../support/pods/pod-scene.ts'
import { setUp, startWorker } from '../../support/queue/balancer-scene.ts'

// A request that does not fit into one tunnel frame is refused to its sender, and the shared tunnel continues (NET-53).

const serve: Serve = async ({ stream }) => {
  stream.accept()
  await reply(stream, 200, 'x')
}
const many = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`x-h${i}`, 'v']))
const long = 'p'.repeat(17 * 1_024)

type Ask = (path: string, init?: RequestInit) => Promise<Response>

const PORTS: Record<string, () => Promise<{ ask: Ask; leave(): void }>> = {
  'a pod': async () => {
    const scene = await podScene()
    await FakeTunnel.open(scene.host, serve)
    const { id } = await scene.create({ ports: ['8888/http'] })
    await scene.run(id)
    return { ask: (path, init) => send(`/proxy/${id}/8888${path}`, init), leave: () => scene.leave() }
  },
  'an endpoint': async () => {
    const scene = await setUp({ workers: { min: 1, max: 1 } }, serve)
    await startWorker(scene)
    return { ask: (path, init) => scene.ask(path, init), leave: () => {} }
  },
}

it.each(Object.entries(PORTS))(
  '[NET-53] too many headers and too long a path to %s are 400, and its host continues to serve',
  async (_, open) => {
    const { ask, leave } = await open()
    const refused = [await ask('/', { headers: many }), await ask(`/${long}`)]
    for (const answer of refused) {
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ title: 'Bad Request', detail: expect.stringMatching(/headers|path/) })
    }
    expect((await ask('/')).status).toBe(200)
    leave()
  },
)
