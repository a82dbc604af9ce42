import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectDocker } from '../../../src/host-agent/docker/engine/client.ts'
import { sandboxImage } from '../../../src/host-agent/docker/sandbox-image.ts'
import type { DockerEngine } from '../../../src/host-agent/engine/engine.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { MachineRow } from '../support/machines/machine-row.ts'
import { callPlane, eventually, startAgent, startPlane } from '../support/plane/plane.ts'

// The members of the first cluster on a host start at the same time, when the engine has no images of the agent yet.

const GPU = 'NVIDIA L4'
const MEMBERS = 4
const FIRST_IMAGES = 50
const FIRST_CLUSTERS = Number(process.env.FIRST_CLUSTERS ?? 2)
const CLUSTER_MS = 60_000
const NOTHING = JSON.stringify({ entrypoint: ['/bin/busybox', 'sh', '-c'], cmd: ['while :; do busybox sleep 1; done'] })

test('[HOST-171] fifty times from zero: four concurrent starts get the image that holds their networks, by one load', async () => {
  const real = await connectDocker()
  for (let round = 0; round < FIRST_IMAGES; round += 1) {
    const stateDir = mkdtempSync(join(tmpdir(), 'podplane-first-'))
    let loads = 0
    const engine: Pick<DockerEngine, 'imageFacts' | 'load'> = {
      imageFacts: (image) => real.imageFacts(image),
      load: (image, signal) => {
        loads += 1
        return real.load(image, signal)
      },
    }
    const tag = `podplane-sandbox:first-${process.pid}-${round}`
    const provide = sandboxImage({ engine, key: `first-${process.pid}-${round}`, stateDir })
    try {
      expect(await Promise.all(Array.from({ length: MEMBERS }, () => provide()))).toEqual(Array(MEMBERS).fill(tag))
      expect([loads, (await real.imageFacts(tag))?.layers.length]).toEqual([1, 1])
      // An image removed by hand is loaded again.
      await real.removeImage(tag)
      expect(await provide()).toBe(tag)
    } finally {
      await real.removeImage(tag)
      rmSync(stateDir, { recursive: true })
    }
  }
})

test(
  '[HOST-171] [CLU-14] every member of the first cluster on a fresh host runs',
  async () => {
    const row = new MachineRow()
    const [plane, image] = await Promise.all([startPlane({ args: ['--no-agent'] }), busyboxImage(), row.start(1)])
    try {
      const [machine] = row.machines
      if (machine === undefined) throw new Error('there is no machine')
      await machine.engine.load(image)
      await row.bring(plane.url, machine)
      const call = <T>(method: string, path: string, body?: unknown) => callPlane<T>(plane, plane.apiKey, method, path, body)
      for (let round = 0; round < FIRST_CLUSTERS; round += 1) {
        const env = { DOCKER_HOST: machine.engine.address }
        const dataCenter = {
          plane,
          name: `fresh-${round}`,
          runtime: 'docker',
          simulateGpus: `${GPU}:${MEMBERS}`,
          within: machine.inside,
          env,
        }
        const agent = await startAgent(dataCenter)
        const compute = { gpuTypeId: GPU, gpuCountPerPod: 1, podCount: MEMBERS }
        const { id } = await call<{ id: string }>('POST', '/v2/clusters', {
          name: `c${round}`,
          type: 'APPLICATION',
          image,
          args: NOTHING,
          compute,
        })
        const members = async () =>
          (await call<{ pods: { status: string; statusReason: string | null }[] }>('GET', `/v2/clusters/${id}/pods`)).pods
        const settled = async () => {
          const pods = await members()
          return pods.every(({ status }) => status === 'RUNNING' || status === 'ERROR') && pods
        }
        const pods = await eventually(`the members of cluster ${round} run`, CLUSTER_MS, settled).catch(async (error: Error) => {
          throw new Error(`${error.message}\n${JSON.stringify(await members())}\n${agent.output().slice(-4_000)}`)
        })
        expect(pods.map(({ status, statusReason }) => [status, statusReason])).toEqual(Array(MEMBERS).fill(['RUNNING', null]))
        expect(agent.output()).not.toContain('could not be opened')
        await call('DELETE', `/v2/clusters/${id}`)
        await agent.stop()
        const left = await machine.engine.docker('images', '--quiet', 'podplane-sandbox')
        await machine.engine.docker('rmi', '--force', ...left.split('\n'))
      }
    } finally {
      await plane.stop()
      await row.close()
    }
  },
  120_000 + FIRST_CLUSTERS * CLUSTER_MS,
)
