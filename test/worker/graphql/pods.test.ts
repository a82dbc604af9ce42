import { createAccount, describe, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

const POD = `id name imageName env ports desiredStatus podType costPerHr containerDiskInGb volumeInGb volumeMountPath gpuCount vcpuCount memoryInGb
  uptimeSeconds machineId machine { podHostId gpuDisplayName location } runtime { uptimeInSeconds ports { ip isIpPublic privatePort publicPort PortType: type } }`

describe('reading pods', () => {
  it('[GQL-13] [GQL-14] [GQL-15] a pod by its id and in the list of the account', async () => {
    const scene = await podScene({ ...gpus(1), publicIp: '198.51.100.7' })
    const call = graphql(scene.account.key)
    const made = await scene.create({
      env: { A: '1', B: 'x=y' },
      ports: ['22/tcp', '8888/http'],
      mounts: { persistent: { size: 20, path: '/data' } },
    })
    const { data } = (await call(`{ pod(input: {podId: "${made.id}"}) { ${POD} } }`)).body
    expect(data.pod).toMatchObject({
      id: made.id,
      name: 'p',
      imageName: 'acme/idle:1',
      env: ['A=1', 'B=x=y'],
      ports: '22/tcp,8888/http',
      desiredStatus: 'RUNNING',
      podType: 'RESERVED',
      volumeInGb: 20,
      volumeMountPath: '/data',
      gpuCount: 1,
      runtime: null,
    })
    expect([data.pod.vcpuCount, data.pod.memoryInGb].every(Number.isInteger)).toBe(true)
    expect(data.pod.machine.podHostId).toMatch(new RegExp(`^${made.id}-[0-9a-f]{8}$`))
    expect(data.pod.machineId).toMatch(/^host_/)
    await scene.run(made.id, 1, [{ private: 22, public: 10_341, type: 'tcp' }])
    const listed = await call(`{ myself { pods { ${POD} } } }`)
    expect(listed.body.data.myself.pods).toHaveLength(1)
    expect(listed.body.data.myself.pods[0].runtime.ports).toEqual([
      { ip: '198.51.100.7', isIpPublic: true, privatePort: 22, publicPort: 10_341, PortType: 'tcp' },
    ])
    await scene.act(made.id, 'stop')
    expect((await call(`{ pod(input: {podId: "${made.id}"}) { desiredStatus runtime { uptimeInSeconds } } }`)).body.data.pod).toEqual({
      desiredStatus: 'EXITED',
      runtime: null,
    })
    scene.leave()
  })

  it('[GQL-8] an unknown pod is null in a query', async () => {
    const { key } = await createAccount()
    expect((await graphql(key)('{ pod(input: {podId: "none"}) { id } }')).body).toEqual({ data: { pod: null } })
  })
})
