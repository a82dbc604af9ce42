import { describe, expect, it } from '../../support/harness.ts'
import { gpus } from '../../support/hosts/gpus.ts'
import { graphql } from '../../support/http/graphql.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

describe('refusals of a create', () => {
  it('[GQL-69] a refusal by both clouds for the same reason is reported once', async () => {
    const scene = await podScene(gpus(1))
    const input = 'name: "a", imageName: "builtin/idle", gpuTypeId: "NVIDIA L4", cloudType: ALL, volumeInGb: 10, volumeMountPath: "/a"'
    const { body } = await graphql(scene.account.key)(`mutation { podFindAndDeployOnDemand(input: {${input}}) { id } }`)
    expect(body.errors[0].message).toBe('image builtin/idle takes no mounts: built-in images run outside any container')
    scene.leave()
  })
})
