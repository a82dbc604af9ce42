import { afterEach, describe, expect, it } from 'vitest'
import { changed, unchanged } from '../support/changed-defaults.ts'

afterEach(unchanged)

describe('[DOC-10] a changed default', () => {
  it('is in the forms of the console', async () => {
    const { EMPTY_POD, podBody } = await changed(() => import('../../src/console/pages/pods/create/pod-form.ts'))
    expect(EMPTY_POD).toMatchObject({ cloud: 'COMMUNITY', gpuCount: '3', vcpuCount: '6', mountPath: '/data', startSsh: false })
    expect(podBody({ ...EMPTY_POD, cloud: 'SECURE', globalNetworking: false }, 0)).toMatchObject({
      cloud: 'SECURE',
      globalNetworking: false,
    })
    const { EMPTY_ENDPOINT, ofType } = await changed(() => import('../../src/console/pages/endpoints/new/new-endpoint-form.ts'))
    expect(EMPTY_ENDPOINT).toMatchObject({ gpuCount: '2', min: '1', max: '9', idleTimeout: '77', scalerValue: '13' })
    expect([ofType('QUEUE').scalerValue, ofType('LOAD_BALANCER').scalerValue]).toEqual(['13', '14'])
    const { EMPTY_TEMPLATE } = await changed(() => import('../../src/console/pages/resources/template-form.ts'))
    expect(EMPTY_TEMPLATE.startJupyter).toBe(false)
  })
})
